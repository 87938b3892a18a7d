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
export interface RouteParameters<Name extends string> {
  readonly names: readonly Name[]
  readonly filters: boolean
  /** Known elsewhere and refused here, not only ignored. */
  readonly refused: readonly string[]
}

/** A query sorted into what its route knows and what it does not. */
export interface RouteQuery<Name extends string = ParameterName> {
  /** By canonical name. A parameter that came several times is its values joined by commas. */
  readonly values: Partial<Readonly<Record<Name, string>>>
  readonly filters: readonly FilterPair[]
  /** The owner parameter, several joined by commas; undefined where none came or the route takes none. */
  readonly owner: string | undefined
  /** Names as the caller wrote them, each once: unknown ones and halves of filters. */
  readonly ignored: readonly string[]
  /** Names that fail the request. */
  readonly refused: readonly string[]
}

/**
 * Sorts a query by the parameters of its route and the owner parameter where the route takes one, which comes before
 * any other of its name. Names match in any letter case. `page` is `pageNumber`, so both together are a repeated
 * parameter. Throws `request.malformed` on bad percent-encoding.
 */
export function routeQuery<Name extends string>(
  query: string,
  route: RouteParameters<Name>,
  ownerParameter?: string
): RouteQuery<Name> {
  const values: Partial<Record<Name, string>> = {}
  const filters = new FilterPairs()
  const ignored = new Set<string>()
  const refused = new Set<string>()
  const ownerName = ownerParameter?.toLowerCase()
  let owner: string | undefined
  for (const parameter of parseQuery(query)) {
    const written = parameter.name.toLowerCase()
    if (written === ownerName) {
      owner = joined(owner, parameter.value)
      continue
    }
    if (route.filters && filters.take(parameter)) continue
    const name = nameIn(route.names, written)
    if (name !== undefined) values[name] = joined(values[name], parameter.value)
    else if (nameIn(route.refused, written) !== undefined) refused.add(parameter.name)
    else ignored.add(parameter.name)
  }
  const { filters: pairs, halves } = filters.paired()
  for (const half of halves) ignored.add(half)
  return { values, filters: pairs, owner, ignored: [...ignored], refused: [...refused] }
}

function joined(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`
}

/** `written` is lower-case. */
function nameIn<Name extends string>(names: readonly Name[], written: string): Name | undefined {
  return names.find((name) => sameName(name, written)) ?? (written === 'page' ? nameIn(names, 'pagenumber') : undefined)
}

function sameName(name: string, lowerCase: string): boolean {
  return name.length === lowerCase.length && name.toLowerCase() === lowerCase
}
