import fc from 'fast-check'
import { operatorWords } from '../oracle/condition.js'
import type { NewRow } from '../harness/insert-rows.js'
import type { OracleQuery } from '../oracle/read-oracle.js'
import type { OracleProperty, OracleResource } from '../oracle/resource.js'

const COUNT = 300
const PRINTABLE = ' !"#$%&\'()*+,-./0123456789:;<=>?@ABCDEFGHIJabcdefghij[\\]^_`{|}~'
/** Few letters, so that fragments meet and letter case matters. */
const LETTERS = 'aAbB %_\\'

const text = (characters: string, maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...characters), minLength: 1, maxLength })
const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { freq: 3 })
const dateTime = fc
  .integer({ min: Date.parse('2025-12-30T00:00:00Z'), max: Date.parse('2026-01-02T00:00:00Z') })
  .map((at) => new Date(at - (at % 3_600_000) + (at % 3)).toISOString())
const money = fc.integer({ min: 0, max: 400 }).map((cents) => (cents / 4).toFixed(2))
const long = fc.oneof(
  fc.bigInt({ min: -4n, max: 4n }),
  fc.bigInt({ min: 2n ** 53n - 2n, max: 2n ** 53n + 2n }),
  fc.constantFrom(2n ** 63n - 1n, -(2n ** 63n))
)
const guid = fc.uuid()

const product = fc.record({
  name: fc.oneof(text(LETTERS, 6), text(PRINTABLE, 12)),
  categoryId: fc.constantFrom(1, 2, 3, 4),
  price: money,
  weightGrams: optional(fc.integer({ min: 0, max: 9 })),
  barcode: optional(long.map(String)),
  isActive: fc.boolean(),
  releasedAt: optional(dateTime),
  externalId: optional(guid),
  description: optional(fc.oneof(fc.constant(''), text(LETTERS, 5), text(PRINTABLE, 20))),
  costPrice: optional(money),
  reorderLevel: optional(fc.integer({ min: 0, max: 9 }))
})

/** Rows with many equal values, nulls and awkward ASCII; letters beyond are the embedded database's own affair. */
export const randomProducts: fc.Arbitrary<NewRow[]> = fc
  .array(product, { minLength: COUNT, maxLength: COUNT })
  .map((rows) => rows.map((row, n) => ({ ...row, id: n + 1, sku: `sku-${n}` })))

/** Orders of customers 1 to 3. */
export const randomOrders: fc.Arbitrary<NewRow[]> = fc
  .array(
    fc.record({
      customerId: fc.constantFrom(1, 2, 3),
      status: fc.constantFrom('placed', 'paid', 'shipped'),
      total: money,
      placedAt: dateTime,
      paidAt: optional(dateTime),
      deliveredAt: optional(dateTime),
      trackingCode: optional(text(LETTERS, 4))
    }),
    { minLength: COUNT, maxLength: COUNT }
  )
  .map((rows) => rows.map((row, n) => ({ ...row, id: n + 1, number: `o-${n}` })))

/** Queries that mostly fit, with values out of the rows, and now and then do not. */
export function anyQuery(resource: OracleResource, rows: readonly NewRow[]): fc.Arbitrary<OracleQuery> {
  const property = fc.constantFrom(...resource.properties)
  const condition = property.chain((chosen) =>
    fc.record({
      property: fc.constantFrom(chosen.name, chosen.name.toLowerCase()),
      operator: often(fc.constantFrom(...operatorWords(chosen.type)), fc.constantFrom('contains', 'gt', 'is', 'like')),
      value: often(operand(chosen, rows), fc.constantFrom('', 'x', '1,2', '"a,b",c', '1.5', 'true'))
    })
  )
  const conditions = often(condition, fc.constant({ property: 'nope', operator: 'eq', value: '1' }), 30)
  return fc.record(
    {
      filters: fc.array(conditions, { maxLength: 4 }),
      groups: fc.array(fc.array(conditions, { maxLength: 4 }), { maxLength: 3 }),
      ...(resource.searchable.length === 0
        ? {}
        : { search: often(searched(rows, resource), fc.constantFrom('', ' ', 'a b c d e f g h i'), 8) }),
      sortColumn: often(
        fc.array(property, { minLength: 1, maxLength: 3 }).map((some) => some.map(({ name }) => name).join()),
        fc.constantFrom('nope', 'id,nope', 'id,price,price', 'id,price,name,sku,barcode'),
        20
      ),
      sortDirection: often(
        fc.constantFrom('asc', 'desc', 'ASCENDING', 'Descending'),
        fc.constantFrom('desc,asc', 'ASC,Desc,asc', 'up')
      ),
      pageNumber: fc.integer({ min: 1, max: 6 }),
      pageSize: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(500, 501, 100_000))
    },
    { requiredKeys: ['filters'] }
  )
}

/** Fragments of texts of one row or of several. */
function searched(rows: readonly NewRow[], resource: OracleResource): fc.Arbitrary<string> {
  const present = rows.flatMap((row) => resource.searchable.map((name) => row[name]))
  const fragment = fc
    .tuple(
      fc.constantFrom(...present.filter((value) => typeof value === 'string')),
      fc.nat(5),
      fc.integer({ min: 1, max: 3 })
    )
    .map(([whole, at, n]) => whole.slice(at, at + n))
  return fc.array(fragment, { minLength: 1, maxLength: 3 }).map((fragments) => fragments.join(' '))
}

function operand(property: OracleProperty, rows: readonly NewRow[]): fc.Arbitrary<string> {
  const present = rows.map((row) => row[property.name]).filter((value) => value !== null && value !== undefined)
  const one = fc.constantFrom(...present).map(String)
  if (property.type === 'string') {
    const fragment = fc
      .tuple(one, fc.nat(5), fc.integer({ min: 1, max: 4 }))
      .map(([whole, at, n]) => whole.slice(at, at + n))
    const quoted = one.map((value) => `"${value.replaceAll('"', '""')}"`)
    return fc
      .oneof(
        fragment,
        one,
        one.map((value) => value.toUpperCase()),
        listOf(quoted)
      )
      .filter(fitsAnyOperator)
  }
  if (property.type === 'decimal') {
    const between = fc.integer({ min: -10, max: 100_010 }).map((thousandths) => (thousandths / 1000).toFixed(3))
    return fc.oneof(one, listOf(one), between, listOf(between), fc.constantFrom('9'.repeat(70), `-${'9'.repeat(70)}.9`))
  }
  return fc.oneof(one, listOf(one))
}

/** Stray quotes within an unquoted item are not said to mean anything. */
function fitsAnyOperator(value: string): boolean {
  return !value.includes('"') || /^"(?:[^"]|"")*"(?:,"(?:[^"]|"")*")*$/.test(value)
}

function listOf(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.array(item, { minLength: 2, maxLength: 5 }).map((items) => items.join(','))
}

function often<T>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<T>, times = 12): fc.Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight: times }, { arbitrary: rare, weight: 1 })
}

const NAMES = [
  'fields',
  'includeFKs',
  'includeChildren',
  'include',
  'by',
  'measures',
  'sortColumn',
  'sortDirection',
  'pageSize',
  'pageNumber',
  'page',
  'includeTotal',
  'totalLimit',
  'search',
  'bom',
  'filters[name].operator',
  'filters[name].value',
  'filters[price].value',
  'filters[price].operator',
  'filters[',
  'anyOf[1].filters[name].operator',
  'ANYOF[10].filters[name].value',
  'anyOf[11].filters[name].value',
  'filters[].operator',
  'filters[__proto__].value',
  'filters[a][b].operator'
]

/** What includes and totals of products name. */
const OF_PRODUCTS = ['category.parent,variants', 'category.products', 'isActive', 'count,sum.price']

/** Anything at all behind the question mark that HTTP lets through. */
export const hostileQuery: fc.Arbitrary<string> = fc
  .array(
    fc.record({
      name: fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: 'grapheme', maxLength: 8 })),
      value: fc.oneof(
        fc.string({ unit: 'binary', maxLength: 12 }),
        fc.constantFrom(
          'true',
          'id,name',
          '1',
          'contains',
          "' OR 1=1 --",
          '\0',
          '%00',
          '9'.repeat(40),
          'asc',
          ...OF_PRODUCTS
        )
      ),
      raw: fc.boolean()
    }),
    { maxLength: 8 }
  )
  .map((pairs) =>
    pairs
      .map(({ name, value, raw }) =>
        raw ? `${printable(name)}=${printable(value)}` : `${encoded(name)}=${encoded(value)}`
      )
      .join('&')
  )

function encoded(value: string): string {
  return encodeURIComponent(value.replace(/\p{Surrogate}/gu, ''))
}

/** What node:http sends unescaped. */
function printable(value: string): string {
  return value.replace(/[^!-~]/g, '%E4')
}
