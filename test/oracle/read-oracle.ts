import { parseCondition, type Test } from './condition.js'
import type { OracleRow } from './load-rows.js'
import { comparable } from './operand.js'
import type { OracleProperty, OracleResource } from './resource.js'

/** A paged read as a client spells it. */
export interface OracleQuery {
  readonly filters: readonly { readonly property: string; readonly operator: string; readonly value: string }[]
  readonly sortColumn?: string | undefined
  readonly sortDirection?: string | undefined
  readonly pageNumber?: number | undefined
  readonly pageSize?: number | undefined
}

/** What the contract makes of it: the codes of all violations, or the page. */
type OracleAnswer =
  | { readonly rejected: readonly string[] }
  | { readonly rejected: null; readonly items: readonly OracleRow[]; readonly total: number }

const MAX_PAGE_SIZE = 500

/** The contract's read surface, worked out in memory over rows loaded by hand-written SQL. */
export function answer(resource: OracleResource, rows: readonly OracleRow[], query: OracleQuery): OracleAnswer {
  const find = (name: string): OracleProperty | undefined =>
    resource.properties.find((one) => one.name.toLowerCase() === name.toLowerCase())
  const violations: string[] = []
  const tests: { property: OracleProperty; test: Test }[] = []
  for (const { property: name, operator, value } of query.filters) {
    const property = find(name)
    const test = property && parseCondition(property, operator, value)
    if (property === undefined || test === undefined) violations.push('filter.property.unknown')
    else if ('code' in test) violations.push(test.code)
    else tests.push({ property, test })
  }
  const sort = query.sortColumn === undefined ? find('id') : find(query.sortColumn)
  if (sort === undefined || sort.name === 'description') violations.push('sort.property.unknown')
  const direction = (query.sortDirection ?? 'asc').toLowerCase()
  if (!/^(asc|desc)(ending)?$/.test(direction)) violations.push('sort.direction.invalid')
  if (violations.length > 0 || sort === undefined) return { rejected: violations }

  const kept = rows.filter((row) => tests.every(({ property, test }) => test(row[property.name] ?? null)))
  const sorted = order(resource, kept, { sort, descending: direction.startsWith('desc') })
  const size = Math.min(query.pageSize ?? 10, MAX_PAGE_SIZE)
  const start = ((query.pageNumber ?? 1) - 1) * size
  return { rejected: null, items: sorted.slice(start, start + size), total: kept.length }
}

/** Nulls first ascending and last descending; the id, ascending, breaks every tie. */
export function order(
  resource: OracleResource,
  rows: readonly OracleRow[],
  by: { sort: OracleProperty; descending: boolean }
): OracleRow[] {
  const id = resource.properties[0]
  if (id === undefined) throw new Error(`${resource.name} has no properties`)
  const compare = (property: OracleProperty, a: OracleRow, b: OracleRow): number => {
    const left = a[property.name] ?? null
    const right = b[property.name] ?? null
    if (left === null || right === null) return left === right ? 0 : left === null ? -1 : 1
    const [x, y] = [comparable(property, left), comparable(property, right)]
    return x === y ? 0 : x < y ? -1 : 1
  }
  return rows.toSorted((a, b) => compare(by.sort, a, b) * (by.descending ? -1 : 1) || compare(id, a, b))
}
