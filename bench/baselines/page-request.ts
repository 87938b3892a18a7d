import { RejectedRequest } from './rejected-request.js'

/** One filter of the query string, its names checked. */
export interface Filter {
  readonly property: string
  readonly operator: FilterOperator
  readonly value: string
}

export interface PageRequest {
  readonly filters: readonly Filter[]
  readonly sortColumn: string
  readonly descending: boolean
  readonly pageSize: number
  readonly pageNumber: number
}

export type FilterOperator = 'equals' | 'not equals' | 'greater than' | 'less than'
const OPERATORS: readonly FilterOperator[] = ['equals', 'not equals', 'greater than', 'less than']

/** The part of the paged contract that somebody who writes one endpoint by hand would write. */
export function readPageRequest(
  query: Readonly<Record<string, unknown>>,
  properties: ReadonlySet<string>
): PageRequest {
  const sortColumn = query['sortColumn'] ?? 'id'
  if (typeof sortColumn !== 'string' || !properties.has(sortColumn))
    throw new RejectedRequest(400, 'Unknown sort column.')
  return {
    filters: readFilters(query, properties),
    sortColumn,
    descending: query['sortDirection'] === 'desc' || query['sortDirection'] === 'descending',
    pageSize: Math.min(positive(query['pageSize'] ?? '10'), 500),
    pageNumber: positive(query['pageNumber'] ?? '1')
  }
}

function readFilters(query: Readonly<Record<string, unknown>>, properties: ReadonlySet<string>): Filter[] {
  const filters: Filter[] = []
  for (const key of Object.keys(query)) {
    const property = /^filters\[(\w+)\]\.operator$/.exec(key)?.[1]
    if (property === undefined) continue
    const value = query[`filters[${property}].value`]
    if (typeof value !== 'string') continue
    const operator = OPERATORS.find((each) => each === query[key])
    if (!properties.has(property) || operator === undefined) throw new RejectedRequest(400, 'Unknown filter.')
    filters.push({ property, operator, value })
  }
  return filters
}

function positive(text: unknown): number {
  if (typeof text !== 'string' || !/^[1-9]\d{0,8}$/.test(text)) throw new RejectedRequest(400, 'Not a page.')
  return Number(text)
}
