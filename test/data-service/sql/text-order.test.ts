import { expect } from 'chai'
import fc from 'fast-check'
import type { Operand } from '../../../data-service/entity/fields/field.js'
import type { Comparison } from '../../../data-service/entity/fields/operators.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { condition, pagePlan, path, sortedBy } from './plan-by-hand.js'

const customers = entity('customers')
const products = entity('products')

/** Every ASCII character that the embedded database can hold, which is all but U+0000. */
const ASCII = Array.from({ length: 127 }, (_, index) => String.fromCharCode(index + 1))

function texts(): string[] {
  const pairs = ASCII.flatMap((one) => [one, `a${one}`, `${one}A`, `a${one}B`])
  const random = fc.sample(fc.string({ unit: fc.constantFrom(...ASCII), maxLength: 8 }), { numRuns: 400, seed: 1 })
  return [...pairs, ...random, 'a', 'a ', 'A  ', ' a', '%', '_', '\\', 'a%b', 'a_b', 'a\\b', '!', 'a!b']
}

describe('text on both databases', () => {
  let sqlite: FreshReadStore
  let mysql: FreshReadStore

  before(async () => {
    sqlite = await freshReadStore('sqlite')
    mysql = await freshReadStore('mysql')
    const rows = texts().map((text, index) => ({
      id: index + 1,
      name: text,
      email: `${index}@example.com`,
      phone: index % 7 === 0 ? null : text,
      isSuspended: false,
      createdAt: '2026-01-01T00:00:00.000Z'
    }))
    await insertRows(sqlite.primary, TABLES.customers, rows)
    await insertRows(mysql.primary, TABLES.customers, rows)
  })

  after(async () => {
    await sqlite.dispose()
    await mysql.dispose()
  })

  async function ids(fresh: FreshReadStore, plan: ReturnType<typeof pagePlan>): Promise<unknown[]> {
    const { rows } = await fresh.store.page(plan, never)
    return rows.map(({ values }) => values[0])
  }

  for (const [property, descending] of [
    ['name', false],
    ['name', true],
    ['phone', false],
    ['phone', true]
  ] as const) {
    it(`sorts by ${property} ${descending ? 'descending' : 'ascending'} alike`, async () => {
      const plan = pagePlan(customers, {
        sort: sortedBy(customers, path(customers, property), descending),
        limit: 5000
      })
      const order = await ids(sqlite, plan)
      expect(order).to.have.length(texts().length)
      expect(order).to.deep.equal(await ids(mysql, plan))
    })
  }

  const COMPARISONS: readonly Comparison[] = [
    'equals',
    'notEquals',
    'contains',
    'notContains',
    'startsWith',
    'endsWith',
    'greaterThan',
    'lessThanOrEqual',
    'in',
    'isEmpty',
    'isNotEmpty'
  ]

  for (const comparison of COMPARISONS) {
    it(`finds the same rows by ${comparison}`, async () => {
      const operand = fc.oneof(
        fc.constantFrom(...texts()),
        fc.string({ unit: fc.constantFrom(...ASCII, '%', '_', '\\', ' '), maxLength: 3 })
      )
      await fc.assert(
        fc.asyncProperty(fc.array(operand, { minLength: 1, maxLength: 5 }), async (several) => {
          const plan = pagePlan(customers, {
            conditions: [condition(path(customers, 'phone'), comparison, ...operands(comparison, several))],
            limit: 5000
          })
          expect(await ids(sqlite, plan)).to.deep.equal(await ids(mysql, plan))
        }),
        { numRuns: 60 }
      )
    })
  }

  it('tells letter case from nothing, trailing spaces and accents from everything', async () => {
    for (const fresh of [sqlite, mysql]) {
      const named = async (text: string): Promise<number> =>
        (await ids(fresh, pagePlan(customers, { conditions: [condition(path(customers, 'name'), 'equals', text)] })))
          .length
      expect(await named('A '), fresh.kind).to.be.greaterThan(0)
      expect(await named('A '), fresh.kind).to.equal(await named('a '))
      expect(await named('a '), fresh.kind).to.not.equal(await named('a'))
      expect(await named('á'), fresh.kind).to.equal(0)
    }
  })

  describe('of code points without weight (docs/http.md)', () => {
    // Soft hyphen, zero width space and joiner, word joiner, byte order mark, variation selector.
    const WEIGHTLESS = ['\u00ad', '\u200b', '\u200d', '\u2060', '\ufeff', '\ufe0f']
    const found = (fresh: FreshReadStore, comparison: Comparison, text: string): Promise<unknown[]> =>
      ids(fresh, pagePlan(products, { conditions: [condition(path(products, 'name'), comparison, text)], limit: 100 }))

    before(async () => {
      const rows = WEIGHTLESS.map((hidden, index) => ({
        id: index + 1,
        name: `zq${hidden}a`,
        sku: `s${index}`,
        categoryId: 1,
        price: '1.00',
        isActive: true,
        weightGrams: null,
        barcode: null,
        releasedAt: null,
        externalId: null,
        description: null
      }))
      for (const fresh of [sqlite, mysql]) {
        await insertRows(fresh.primary, TABLES.categories, [{ id: 1, name: 'a', parentId: null, slug: 'a' }])
        await insertRows(fresh.primary, TABLES.products, rows)
      }
    })

    for (const comparison of ['equals', 'in'] as const) {
      it(`${comparison} passes over them on MariaDB, and on SQLite it does not`, async () => {
        expect(await found(mysql, comparison, 'zqa')).to.deep.equal(WEIGHTLESS.map((_, index) => index + 1))
        expect(await found(sqlite, comparison, 'zqa')).to.deep.equal([])
        expect(await found(sqlite, comparison, 'zq\u00ada')).to.deep.equal([1])
      })
    }

    for (const [comparison, text, hidden] of [
      ['contains', 'zqa', 'q\u00ada'],
      ['startsWith', 'zqa', 'zq\u00ad'],
      ['endsWith', 'qa', 'q\u00ada']
    ] as const) {
      it(`${comparison} compares character by character on both, and on MariaDB one of them equals another`, async () => {
        for (const fresh of [sqlite, mysql]) expect(await found(fresh, comparison, text), fresh.kind).to.deep.equal([])
        expect(await found(mysql, comparison, hidden)).to.deep.equal(WEIGHTLESS.map((_, index) => index + 1))
        expect(await found(sqlite, comparison, hidden)).to.deep.equal([1])
      })
    }
  })
})

function operands(comparison: Comparison, several: readonly string[]): Operand[] {
  if (comparison === 'isEmpty' || comparison === 'isNotEmpty') return []
  return comparison === 'in' ? [...several] : several.slice(0, 1)
}
