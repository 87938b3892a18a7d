import { parseCondition, type Test } from './condition.js'
import type { OracleRow } from './load-rows.js'
import { comparable } from './operand.js'
import type { OracleProperty, OracleResource } from './resource.js'

export interface OracleFilter {
  readonly property: string
  readonly operator: string
  readonly value: string
}

/** A paged read as a client spells it. Default: sorted by the id ascending, page 1, 10 rows a page. */
export interface OracleQuery {
  readonly filters?: readonly OracleFilter[] | undefined
  /** Of each group that has any filters one at least must hold. */
  readonly groups?: readonly (readonly OracleFilter[])[] | undefined
  /** Words, all of which must be in some searchable property. */
  readonly search?: string | undefined
  readonly sortColumn?: string | undefined
  readonly sortDirection?: string | undefined
  readonly pageNumber?: number | undefined
  readonly pageSize?: number | undefined
}

/** What the contract makes of it: the codes of all violations, or the page with the number of rows on all pages. */
export type OracleAnswer =
  | { readonly rejected: readonly string[] }
  | { readonly rejected: null; readonly items: readonly OracleRow[]; readonly total: number }

const MAX_PAGE_SIZE = 500

/** Rows of an included collection that each row shows, the first by key (contract section 4). */
const MAX_INCLUDED_OF_EACH = 1000

/** What a row shows of the rows of an included collection, which are in the order of the collection. */
export function includedOf<Row>(rows: readonly Row[]): readonly Row[] {
  return rows.slice(0, MAX_INCLUDED_OF_EACH)
}

/** The contract's read surface, worked out in memory over rows loaded by hand-written SQL. */
export function answer(resource: OracleResource, rows: readonly OracleRow[], query: OracleQuery): OracleAnswer {
  const find = (name: string): OracleProperty | undefined =>
    resource.properties.find((one) => one.name.toLowerCase() === name.toLowerCase())
  const violations: string[] = []
  const testsOf = (filters: readonly OracleFilter[]): { property: OracleProperty; test: Test }[] =>
    filters.flatMap(({ property: name, operator, value }) => {
      const property = find(name)
      const test = property?.filterable === false ? undefined : property && parseCondition(property, operator, value)
      if (property === undefined || test === undefined) violations.push('filter.property.unknown')
      else if ('code' in test) violations.push(test.code)
      else return [{ property, test }]
      return []
    })
  const tests = testsOf(query.filters ?? [])
  const groups = (query.groups ?? []).filter((group) => group.length > 0).map(testsOf)
  const words = (query.search ?? '').split(/\s+/).filter((word) => word !== '')
  if (words.length > 8) violations.push('filter.too-many')
  const { by, wrong } = sortKeys(query, find, keyOf(resource))
  violations.push(...wrong)
  if (violations.length > 0) return { rejected: violations }

  const kept = rows.filter(
    (row) =>
      tests.every(({ property, test }) => test(row[property.name] ?? null)) &&
      groups.every((group) => group.some(({ property, test }) => test(row[property.name] ?? null))) &&
      words.every((word) => finds(resource, row, word))
  )
  const sorted = order(resource, kept, by)
  const size = Math.min(query.pageSize ?? 10, MAX_PAGE_SIZE)
  const start = ((query.pageNumber ?? 1) - 1) * size
  return { rejected: null, items: sorted.slice(start, start + size), total: kept.length }
}

/**
 * Whether a row has a word of a search. A full-text search finds a word of letters and digits at the beginning of a word; any
 * other, and one of a script without blanks between words, it finds as part of the text, as other searches do.
 */
export function finds(resource: OracleResource, row: OracleRow, word: string): boolean {
  const isBeginning = resource.fullText === true && /^[\p{L}\p{Nd}]+$/u.test(word) && !UNSEPARATED.test(word)
  return resource.searchable.some((name) => {
    const property = resource.properties.find((one) => one.name === name)
    const test = property && parseCondition(property, isBeginning ? 'starts with' : 'contains', word)
    if (test === undefined || 'code' in test) throw new Error(`${name} cannot be searched`)
    const value = row[name] ?? null
    return isBeginning
      ? String(value ?? '')
          .split(/[^\p{L}\p{N}_]+/u)
          .some(test)
      : test(value)
  })
}

const UNSEPARATED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u

interface OracleSortKey {
  readonly sort: OracleProperty
  readonly descending: boolean
}

/** Up to four columns; one direction, or one for each. */
function sortKeys(
  query: OracleQuery,
  find: (name: string) => OracleProperty | undefined,
  key: readonly OracleProperty[]
): { readonly by: readonly OracleSortKey[]; readonly wrong: readonly string[] } {
  const wrong: string[] = []
  const names = (query.sortColumn ?? key.map(({ name }) => name).join()).toLowerCase().split(',')
  const sorts = names.map(find)
  if (names.length > 4 || new Set(names).size < names.length) wrong.push('sort.property.unknown')
  if (sorts.some((one) => one === undefined || one.sortable === false)) wrong.push('sort.property.unknown')
  const directions = (query.sortDirection ?? 'asc').toLowerCase().split(',')
  // Where the columns are too many, nobody knows how many directions they would take.
  const countIsWrong = directions.length > 1 && names.length <= 4 && directions.length !== names.length
  if (countIsWrong || directions.some((one) => !/^(asc|desc)(ending)?$/.test(one))) wrong.push('sort.direction.invalid')
  const by = sorts.flatMap((sort, index) => {
    const direction = directions[directions.length === 1 ? 0 : index] ?? ''
    return sort === undefined ? [] : [{ sort, descending: direction.startsWith('desc') }]
  })
  return { by, wrong }
}

function keyOf({ name, key, properties }: OracleResource): readonly OracleProperty[] {
  const names = key ?? properties.slice(0, 1).map((one) => one.name)
  const found = properties.filter((one) => names.includes(one.name))
  if (found.length !== names.length || found.length === 0) throw new Error(`${name} has no key`)
  return found.toSorted((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
}

/** Rows in the order of these properties, each ascending. */
export function inOrder(rows: readonly OracleRow[], properties: readonly OracleProperty[]): OracleRow[] {
  const key = properties.map(({ name }) => name)
  return order({ name: '', from: '', properties, searchable: [], key }, rows, [])
}

/** Nulls first ascending and last descending; the id breaks every tie, in the direction of the last property. */
export function order(resource: OracleResource, rows: readonly OracleRow[], by: readonly OracleSortKey[]): OracleRow[] {
  const key = keyOf(resource)
  const compare = (property: OracleProperty, a: OracleRow, b: OracleRow): number => {
    const left = a[property.name] ?? null
    const right = b[property.name] ?? null
    if (left === null || right === null) return left === right ? 0 : left === null ? -1 : 1
    const [x, y] = [comparable(property, left), comparable(property, right)]
    return x === y ? 0 : x < y ? -1 : 1
  }
  return rows.toSorted((a, b) => {
    for (const { sort, descending } of by) {
      const compared = compare(sort, a, b) * (descending ? -1 : 1)
      if (compared !== 0) return compared
    }
    const tie = key.map((one) => compare(one, a, b)).find((compared) => compared !== 0) ?? 0
    return by.at(-1)?.descending === true ? -tie : tie
  })
}
