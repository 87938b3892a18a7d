import { FilterPairs, type FilterPair } from './filter-pairs.js'
import { parseQuery } from './query-parameters.js'

/** The single-valued parameters that the read routes know. */
export type ParameterName =
  | 'fields'
  | 'includeFKs'
  | 'includeChildren'
  | 'sortColumn'
  | 'sortDirection'
  | 'pageSize'
  | 'pageNumber'
  | 'includeTotal'
  | 'search'
  | 'bom'
  | 'escapeFormulas'

/** What a route takes from its query. */
export interface RouteParameters {
  readonly names: readonly ParameterName[]
  readonly filters: boolean
  /** Known elsewhere and refused here, not only ignored. */
  readonly refused: readonly ParameterName[]
}

/** A query sorted into what its route knows and what it does not. */
export interface RouteQuery {
  /** By canonical name. A parameter that came several times is its values joined by commas. */
  readonly values: Partial<Readonly<Record<ParameterName, string>>>
  readonly filters: readonly FilterPair[]
  /** Names as the caller wrote them, each once: unknown ones and halves of filters. */
  readonly ignored: readonly string[]
  /** Names that fail the request. */
  readonly refused: readonly string[]
}

/**
 * Sorts a query by the parameters of its route. Names match in any letter case. `page` is `pageNumber`, so both
 * together are a repeated parameter. Throws `request.malformed` on bad percent-encoding.
 */
export function routeQuery(query: string, route: RouteParameters): RouteQuery {
  const values: Partial<Record<ParameterName, string>> = {}
  const filters = new FilterPairs()
  const ignored = new Set<string>()
  const refused = new Set<string>()
  for (const parameter of parseQuery(query)) {
    if (route.filters && filters.take(parameter)) continue
    const name = canonicalName(parameter.name)
    if (name !== undefined && route.names.includes(name)) {
      const before = values[name]
      values[name] = before === undefined ? parameter.value : `${before},${parameter.value}`
    } else if (name !== undefined && route.refused.includes(name)) refused.add(parameter.name)
    else ignored.add(parameter.name)
  }
  const { filters: pairs, halves } = filters.paired()
  for (const half of halves) ignored.add(half)
  return { values, filters: pairs, ignored: [...ignored], refused: [...refused] }
}

const CANONICAL: ReadonlyMap<string, ParameterName> = new Map<string, ParameterName>([
  ['fields', 'fields'],
  ['includefks', 'includeFKs'],
  ['includechildren', 'includeChildren'],
  ['sortcolumn', 'sortColumn'],
  ['sortdirection', 'sortDirection'],
  ['pagesize', 'pageSize'],
  ['pagenumber', 'pageNumber'],
  ['page', 'pageNumber'],
  ['includetotal', 'includeTotal'],
  ['search', 'search'],
  ['bom', 'bom'],
  ['escapeformulas', 'escapeFormulas']
])

function canonicalName(name: string): ParameterName | undefined {
  return CANONICAL.get(name.toLowerCase())
}
