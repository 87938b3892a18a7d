import { expect } from 'chai'
import type { Column } from '../../../data-service/entity/entity.js'
import { entities } from '../../../examples/store/entities/index.js'
import { sampleStore } from '../../../examples/store/sample/sample-store.js'
import type { SampleAggregate, SampleRow } from '../../../examples/store/sample/values.js'

const store = sampleStore()
const aggregates = (resource: string): readonly SampleAggregate[] => store.get(resource) ?? []
const childCounts = (resource: string, name: string): Set<number> =>
  new Set(aggregates(resource).map(({ children }) => children[name]?.length ?? 0))
const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, index) => index)
const centsOf = (amount: string): bigint => BigInt(amount.replace('.', ''))
const names = aggregates('products').map(({ root }) => String(root['name']))

function faults(columns: readonly Column[], rows: readonly SampleRow[], where: string): string[] {
  return columns.flatMap(({ name, field }) =>
    rows.flatMap((row) => {
      const value = row[name]
      const fault = (text: string): string[] => [`${where}.${name} of ${String(row['id'])} ${text}`]
      if (value === undefined) return fault('is missing')
      if (value === null) return field.nullable ? [] : fault('is null')
      if (field.type === 'string' && Array.from(String(value)).length > field.maxLength) return fault('is too long')
      if (field.type === 'string' && String(value).length < field.minLength) return fault('is too short')
      if (field.type === 'decimal' && !/^\d+\.\d\d$/.test(String(value))) return fault('is no amount')
      if (field.minimum !== undefined && Number(value) < Number(field.minimum)) return fault('is too small')
      if (field.maximum !== undefined && Number(value) > Number(field.maximum)) return fault('is too large')
      return []
    })
  )
}

describe('sample store', () => {
  it('has the same rows each time it is made', () => {
    expect(sampleStore()).to.deep.equal(store)
  })

  it('has rows in the numbers that domain.md names', () => {
    const counts = ['categories', 'products', 'customers', 'orders'].map((name) => aggregates(name).length)
    expect(counts).to.deep.equal([40, 2000, 200, 1500])
    expect(childCounts('products', 'variants')).to.have.all.keys(upTo(6))
    expect(childCounts('products', 'reviews')).to.have.all.keys(upTo(20))
    expect(childCounts('customers', 'addresses')).to.have.all.keys(upTo(3))
    expect(childCounts('orders', 'lines')).to.have.all.keys([1, 2, 3, 4, 5])
  })

  it('keeps the rules of the entities', () => {
    const found = entities.flatMap((entity) => [
      ...faults(
        entity.columns,
        aggregates(entity.name).map(({ root }) => root),
        entity.name
      ),
      ...entity.children.flatMap(({ name, columns }) => {
        const rows = aggregates(entity.name).flatMap(({ children }) => children[name] ?? [])
        return faults(columns, rows, `${entity.name}.${name}`)
      })
    ])
    expect(found).to.deep.equal([])
  })

  it('has a null in every nullable column and a value too', () => {
    // Audit entries come from writes alone, so the sample has none.
    for (const entity of entities.filter(({ name }) => name !== 'audit-entries')) {
      const roots = aggregates(entity.name).map(({ root }) => root)
      for (const { name } of entity.columns.filter(({ field }) => field.nullable)) {
        expect(
          roots.some((root) => root[name] === null),
          `null ${entity.name}.${name}`
        ).to.equal(true)
        expect(
          roots.some((root) => root[name] !== null),
          `value ${entity.name}.${name}`
        ).to.equal(true)
      }
    }
  })

  it('has unique strings whatever the letter case', () => {
    for (const entity of entities) {
      for (const { name } of entity.columns.filter(({ field }) => field.unique)) {
        const values = aggregates(entity.name).map(({ root }) => String(root[name]).toLowerCase())
        expect(new Set(values).size, `${entity.name}.${name}`).to.equal(values.length)
      }
    }
  })

  it('holds the hard names', () => {
    const required = [
      /"/,
      /'/,
      /,/,
      /\n/,
      /\r\n/,
      /^=/,
      /^-/,
      /^\+/,
      /^@/,
      /%/,
      /_/,
      /\\/,
      / $/,
      /^ /,
      /[\u0400-\u04ff]/,
      /[\u3040-\u9fff]/
    ]
    expect(required.filter((pattern) => !names.some((name) => pattern.test(name)))).to.deep.equal([])
    expect(names).to.include.members([
      'Tea Pot',
      'tea pot',
      'Café table',
      'Cafe table',
      'Trailing space',
      'Trailing space '
    ])
  })

  it('holds numbers and dates that careless code rounds', () => {
    const products = aggregates('products').map(({ root }) => root)
    expect(products.map(({ price }) => price)).to.include.members(['0.10', '19.90', '0.00', '99999999.99'])
    expect(products.map(({ barcode }) => barcode)).to.include.members(['9007199254740993', '9223372036854775807'])
    expect(products.some(({ releasedAt }) => /\.\d\d[1-9]Z$/.test(String(releasedAt)))).to.equal(true)
  })

  it('has orders that add up, of products and variants that belong together', () => {
    const products = new Map(aggregates('products').map((product) => [product.root['id'], product]))
    for (const [at, { root, children }] of aggregates('orders').entries()) {
      const lines = children['lines'] ?? []
      const total = lines.reduce(
        (sum, line) => sum + BigInt(Number(line['quantity'])) * centsOf(String(line['unitPrice'])),
        0n
      )
      expect(centsOf(String(root['total'])), `case ${at}`).to.equal(total)
      for (const [at, { productId, variantId, unitPrice }] of lines.entries()) {
        const product = products.get(productId ?? null)
        const sold =
          variantId === null ? product?.root : product?.children['variants']?.find(({ id }) => id === variantId)
        expect(sold?.['price'], `case ${at}`).to.equal(unitPrice)
      }
    }
  })

  it('has orders whose dates suit their status', () => {
    const expected: Readonly<Record<string, string[]>> = {
      placed: ['---'],
      paid: ['p--'],
      shipped: ['p-t'],
      delivered: ['pdt'],
      cancelled: ['---', 'p--']
    }
    const seen: Record<string, Set<string>> = {}
    for (const [at, { root }] of aggregates('orders').entries()) {
      const { status, placedAt, paidAt, deliveredAt, trackingCode } = root
      const shape = `${paidAt === null ? '-' : 'p'}${deliveredAt === null ? '-' : 'd'}${trackingCode === null ? '-' : 't'}`
      seen[String(status)] = (seen[String(status)] ?? new Set()).add(shape)
      const dates = [placedAt, paidAt, deliveredAt].filter((date) => date !== null).map(String)
      expect(dates.toSorted(), `case ${at}`).to.deep.equal(dates)
    }
    expect(
      Object.fromEntries(Object.entries(seen).map(([status, shapes]) => [status, [...shapes].toSorted()]))
    ).to.deep.equal(expected)
  })

  it('has the customers of the sample accounts, with several orders each', () => {
    const customers = aggregates('customers').slice(0, 2)
    expect(customers.map(({ root }) => root['email'])).to.deep.equal(['ada@example.com', 'ben@example.com'])
    for (const id of [1, 2]) {
      expect(aggregates('orders').filter(({ root }) => root['customerId'] === id).length, `id ${id}`).to.be.above(10)
    }
  })
})
