import { DomainError } from '../../shared/errors.js'
import { PAGE_ALIAS, type ReadParameter } from '../../shared/read-parameters.js'

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/

/** The percent-decoded text (RFC 3986 section 2.1); undefined unless it is percent-encoded UTF-8. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text
  // Catching an error costs microseconds, and a path or a query may hold thousands of bad escapes.
  if (BAD_ESCAPE.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i

/** A request target in origin form (RFC 9112 section 3.2), which is the only form that routes match. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target
  const rest = target.replace(ABSOLUTE_FORM, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** What routes match instead of a target whose path is not percent-encoded UTF-8. No route has it, and no client can send it. */
export const UNDECODABLE = '/\0/\0/\0/\0/\0'

/**
 * The target that routes match. Fastify would answer a path that it cannot decode before any hook has run, and so without
 * the headers, the limit and the checks that all other requests have.
 */
export function routedTarget(target: string): string {
  const routed = originForm(target)
  return percentDecode(pathOfTarget(routed)) === undefined ? UNDECODABLE : routed
}

/** One parameter of a query string, decoded. */
interface QueryParameter {
  readonly name: string
  readonly value: string
}

/** Everything after the first `?` of a request target, not decoded; empty if there is none. */
export function queryOf(target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : target.slice(at + 1)
}

/** The path of a request target in any form, not decoded. */
export function pathOfTarget(target: string): string {
  const path = originForm(target)
  const at = path.indexOf('?')
  return at === -1 ? path : path.slice(0, at)
}

/** Characters of a path that one line of the log may have. */
const MAX_LOGGED_PATH = 2048

/** The path of a request target for the log, cut if it is very long. Its last segment may be a value of a row, such as an e-mail address. */
export function loggedPath(target: string, { withValue }: { readonly withValue: boolean }): string {
  const path = pathOfTarget(target)
  return (withValue ? path : `${path.slice(0, path.lastIndexOf('/'))}/*`).slice(0, MAX_LOGGED_PATH)
}

/**
 * Decodes a query string as `application/x-www-form-urlencoded`: `+` is a space, and a parameter without `=` has an empty
 * value. Throws `request.malformed` if it is not percent-encoded UTF-8.
 */
export function parseQuery(query: string): QueryParameter[] {
  if (query === '') return []
  return query
    .split('&')
    .filter((piece) => piece !== '')
    .map((piece) => {
      const at = piece.indexOf('=')
      return at === -1
        ? { name: decode(piece), value: '' }
        : { name: decode(piece.slice(0, at)), value: decode(piece.slice(at + 1)) }
    })
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch (cause) {
    throw new DomainError(
      'request.malformed',
      'The query string is not percent-encoded UTF-8: write a literal % as %25.',
      { cause }
    )
  }
}

/** The part of a query string, as sent, with those parameters whose name is one of `names` in any letter case. */
export function pickParameters(query: string, names: readonly string[]): string {
  const picked = new Set(names.map((name) => name.toLowerCase()))
  return query
    .split('&')
    .filter((piece) => picked.has(nameOf(piece).toLowerCase()))
    .join('&')
}

/** The name in one `name=value` piece of a query string, decoded if that is possible. */
export function nameOf(piece: string): string {
  const name = piece.split('=', 1)[0] ?? ''
  return percentDecode(name) ?? name
}

/** A complete filter condition as sent. The data service checks property and operator. */
interface FilterPair {
  readonly property: string
  readonly operator: string
  readonly value: string
}

/** The parameters of one property, plain or of one group, in the order in which they were sent. */
interface FilterParts {
  readonly property: string
  /** From 1; 0 for the plain ones. */
  readonly group: number
  readonly operators: QueryParameter[]
  readonly values: QueryParameter[]
}

const FILTER_NAME = /^(?:anyOf\[([1-9]|10)\]\.)?filters\[([^[\]]*)\]\.(operator|value)$/i

/** Complete conditions: all of `filters` must hold, and of each group one at least. */
export interface SentFilters {
  readonly filters: readonly FilterPair[]
  /** The n-th is `anyOf[n]`. A group that was not sent, or only in halves, is empty. */
  readonly groups: readonly (readonly FilterPair[])[]
}

/**
 * Collects `filters[Property].operator` and `filters[Property].value`, and those of the groups `anyOf[1]` to `anyOf[10]`
 * (contract.md section 4).
 */
export class FilterPairs {
  readonly #properties = new Map<string, FilterParts>()

  /** false if the parameter is no part of a filter. */
  take(parameter: QueryParameter): boolean {
    const [, group = '0', property, part] = FILTER_NAME.exec(parameter.name) ?? []
    if (property === undefined || part === undefined) return false
    const { operators, values } = this.#partsOf(property, Number(group))
    const same = part.toLowerCase() === 'operator' ? operators : values
    same.push(parameter)
    return true
  }

  /** The n-th operator of a property belongs to its n-th value. `unpaired` holds the names of the parameters left over. */
  paired(): SentFilters & { readonly unpaired: readonly string[] } {
    const plain: FilterPair[] = []
    const groups: FilterPair[][] = []
    const unpaired: string[] = []
    for (const { property, group, operators, values } of this.#properties.values()) {
      const pairs = Math.min(operators.length, values.length)
      if (pairs > 0) while (groups.length < group) groups.push([])
      const filters = groups[group - 1] ?? plain
      for (const [index, { value: operator }] of operators.slice(0, pairs).entries()) {
        filters.push({ property, operator, value: values[index]?.value ?? '' })
      }
      for (const { name } of [...operators.slice(pairs), ...values.slice(pairs)]) unpaired.push(name)
    }
    return { filters: plain, groups, unpaired }
  }

  #partsOf(property: string, group: number): FilterParts {
    const key = `${group} ${property.toLowerCase()}`
    const known = this.#properties.get(key)
    if (known !== undefined) return known
    const parts: FilterParts = { property, group, operators: [], values: [] }
    this.#properties.set(key, parts)
    return parts
  }
}

/** What a route takes from its query. */
export interface RouteParameters<Name extends string> {
  readonly names: readonly Name[]
  readonly filters: boolean
  /** Parameters of other routes that this route rejects and does not only ignore. */
  readonly rejected: readonly string[]
}

/** A query sorted into what its route knows and what it does not. */
export interface RouteQuery<Name extends string = ReadParameter> extends SentFilters {
  /** By canonical name. A parameter that came several times is its values joined by commas. */
  readonly values: Partial<Readonly<Record<Name, string>>>
  /** The owner parameter, several joined by commas; undefined where none came or the route takes none. */
  readonly owner: string | undefined
  /** Names as the caller wrote them, each once: unknown ones and halves of filters. */
  readonly ignored: readonly string[]
  /** Names that fail the request. */
  readonly rejected: readonly string[]
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
  if (query === '') return { values: {}, filters: [], groups: [], owner: undefined, ignored: [], rejected: [] }
  const values: Partial<Record<Name, string>> = {}
  const filters = new FilterPairs()
  const ignored = new Set<string>()
  const rejected = new Set<string>()
  const ownerName = ownerParameter?.toLowerCase()
  let owner: string | undefined
  for (const parameter of parseQuery(query)) {
    const written = parameter.name.toLowerCase()
    if (written === ownerName) {
      owner = appended(owner, parameter.value)
      continue
    }
    if (route.filters && filters.take(parameter)) continue
    const name = nameIn(route.names, written)
    if (name !== undefined) values[name] = appended(values[name], parameter.value)
    else if (nameIn(route.rejected, written) !== undefined) rejected.add(parameter.name)
    else ignored.add(parameter.name)
  }
  const { unpaired, ...sent } = filters.paired()
  for (const name of unpaired) ignored.add(name)
  return { values, ...sent, owner, ignored: [...ignored], rejected: [...rejected] }
}

function appended(before: string | undefined, value: string): string {
  return before === undefined ? value : `${before},${value}`
}

/** `written` is lower-case. */
function nameIn<Name extends string>(names: readonly Name[], written: string): Name | undefined {
  return (
    names.find((name) => sameName(name, written)) ?? (written === PAGE_ALIAS ? nameIn(names, 'pagenumber') : undefined)
  )
}

function sameName(name: string, lowerCase: string): boolean {
  return name.length === lowerCase.length && name.toLowerCase() === lowerCase
}

/** Routes without a parameter of their own: writes. */
export const NO_PARAMETERS: RouteParameters<never> = { names: [], filters: false, rejected: [] }
