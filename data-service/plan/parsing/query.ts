import type { ErrorCode } from '../../../shared/errors.js'
import { MAX_SORT_COLUMNS, MAX_TOTAL_LIMIT } from '../../../shared/request-limits.js'
import { orderOfAll, type Resource } from '../model/catalogue.js'
import { type CursorCodec, isCursor } from './cursors.js'
import { type Includes, parseIncludes, type ResourceOf } from './includes.js'
import type { PageStart, ShapedProperty, SortKey } from '../model/plans.js'
import { type IncludeFlags, propertyName } from '../model/projection.js'
import { type Violations, quoted } from './violations.js'

// The parameters of reads: paging, sorting, the parts of a row and flags. Each function puts what is wrong on the
// list of violations and answers a value to go on with.

export interface PagingParams {
  readonly pageNumber?: string
  readonly pageSize?: string
  readonly includeTotal?: string
  readonly totalLimit?: string
  readonly after?: string
  readonly before?: string
}

export interface Paging {
  /**
   * As the request says; a number of more than 5000 digits becomes the largest number of 5000 digits. undefined for a
   * page that begins at a cursor.
   */
  readonly pageNumber: bigint | undefined
  /** At most the maximum of the service. */
  readonly pageSize: number
  readonly start: PageStart
  readonly withTotal: boolean
  /** Rows at which the count stops; undefined where all are counted. */
  readonly totalLimit: number | undefined
}

const DEFAULT_PAGE_SIZE = 10n
/** Arithmetic on more digits takes more than linear time, and the headers of the response could not hold them. */
const MAX_NUMBER_DIGITS = 5000
const FURTHEST = BigInt(Number.MAX_SAFE_INTEGER)

interface PagingLimits {
  readonly maxPageSize: number
  /** The cursors of the query. undefined if the query itself is invalid, which no cursor belongs to. */
  readonly cursors: CursorCodec | undefined
  /** Without a key rows may be alike, and no cursor can name one of them. */
  readonly isKeyed?: boolean
}

export function parsePaging(
  params: PagingParams,
  { maxPageSize, cursors, isKeyed = true }: PagingLimits,
  violations: Violations
): Paging {
  const pageNumber = parsePositive(params.pageNumber, { parameter: 'pageNumber', fallback: 1n }, violations)
  const asked = parsePositive(params.pageSize, { parameter: 'pageSize', fallback: DEFAULT_PAGE_SIZE }, violations)
  const pageSize = smaller(asked, BigInt(maxPageSize))
  const start = isKeyed ? parseCursor(params, cursors, violations) : rejectCursors(params, violations)
  return {
    pageNumber: start === undefined ? pageNumber : undefined,
    pageSize: Number(pageSize),
    start: start ?? { kind: 'offset', offset: Number(smaller((pageNumber - 1n) * pageSize, FURTHEST)) },
    withTotal: parseFlag(
      params.includeTotal,
      { parameter: 'includeTotal', code: 'paging.invalid', fallback: true },
      violations
    ),
    totalLimit: parseTotalLimit(params.totalLimit, violations)
  }
}

function parseTotalLimit(text: string | undefined, violations: Violations): number | undefined {
  if (text === undefined) return undefined
  const limit = /^\d{1,7}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= MAX_TOTAL_LIMIT) return limit
  const detail = `totalLimit takes one whole number from 1 to ${MAX_TOTAL_LIMIT}, in digits, not ${quoted(text)}.`
  violations.add('paging.invalid', 'totalLimit', detail)
  return undefined
}

function rejectCursors(params: PagingParams, violations: Violations): undefined {
  for (const name of ['after', 'before'] as const) {
    if (params[name] === undefined) continue
    const detail = `The rows of this resource have no key, so that no cursor can name one: use pageNumber instead of ${name}.`
    violations.add('paging.invalid', name, detail)
  }
}

/** undefined if the request has no cursor, or a wrong one. */
function parseCursor(
  params: PagingParams,
  cursors: CursorCodec | undefined,
  violations: Violations
): PageStart | undefined {
  const names = (['after', 'before'] as const).filter((name) => params[name] !== undefined)
  const [kind] = names
  if (kind === undefined) return undefined
  if (names.length > 1 || params.pageNumber !== undefined) {
    violations.add('paging.invalid', kind, 'A request takes one of after, before and pageNumber.')
  }
  const [position] = names.map((name) => {
    const text = params[name] ?? ''
    const found = cursors?.decode(text)
    // The cursor of an invalid query can only be checked for its form.
    if (cursors === undefined ? !isCursor(text) : found === undefined) {
      const detail = `${name} takes a cursor of an earlier answer to the same filters, search and order.`
      violations.add('paging.cursor.invalid', name, detail)
    }
    return found
  })
  return position === undefined ? undefined : { kind, position }
}

function parsePositive(
  text: string | undefined,
  { parameter, fallback }: { readonly parameter: string; readonly fallback: bigint },
  violations: Violations
): bigint {
  if (text === undefined) return fallback
  const digits = /^\d+$/.test(text) ? text.replace(/^0+/, '') : ''
  const value = BigInt(digits.length > MAX_NUMBER_DIGITS ? '9'.repeat(MAX_NUMBER_DIGITS) : digits)
  if (value > 0n) return value
  violations.add(
    'paging.invalid',
    parameter,
    `${parameter} takes one whole number from 1, in digits, not ${quoted(text)}.`
  )
  return fallback
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

export interface SortParams {
  readonly sortColumn?: string
  readonly sortDirection?: string
}

const DESCENDING: ReadonlyMap<string, boolean> = new Map([
  ['asc', false],
  ['ascending', false],
  ['desc', true],
  ['descending', true]
])

/** A total order: the id is the last key, in the direction of the one before it, unless the request names it (orderOfAll). */
export function parseSort(params: SortParams | null, resource: Resource, violations: Violations): readonly SortKey[] {
  const keys = parseOrder(
    params,
    {
      columns: resource.sortable,
      names: () => sortableNames(resource),
      otherwise: orderOfAll([], resource).map(({ path }) => path)
    },
    violations
  )
  return orderOfAll(
    keys.map(({ by: path, descending }) => ({ path, descending })),
    resource
  )
}

/** What an order can be by. */
interface SortColumns<Column> {
  /** By names in lower case. */
  readonly columns: ReadonlyMap<string, Column>
  readonly names: () => readonly string[]
  /** What it is by where the request does not say it. */
  readonly otherwise: readonly Column[]
}

export function parseOrder<Column>(
  params: SortParams | null,
  of: SortColumns<Column>,
  violations: Violations
): readonly { readonly by: Column; readonly descending: boolean }[] {
  const columns = parseSortColumns(params?.sortColumn, of, violations)
  const directions = parseSortDirections(params?.sortDirection, columns.length, violations)
  return columns.flatMap((by, index) => {
    const descending = (directions.length === 1 ? directions[0] : directions[index]) ?? false
    return by === undefined ? [] : [{ by, descending }]
  })
}

/** The sort columns, undefined for a name that is none. */
function parseSortColumns<Column>(
  text: string | undefined,
  { columns, names: known, otherwise }: SortColumns<Column>,
  violations: Violations
): readonly (Column | undefined)[] {
  if (text === undefined) return otherwise
  const names = text.split(',', MAX_SORT_COLUMNS + 1)
  if (names.length > MAX_SORT_COLUMNS) {
    violations.add('sort.property.unknown', 'sortColumn', `sortColumn takes at most ${MAX_SORT_COLUMNS} properties.`)
    return []
  }
  const seen = new Set<string>()
  return names.map((written) => {
    const name = written.trim()
    const column = columns.get(name.toLowerCase())
    if (column === undefined) {
      const near = violations.suggestion(name, known)
      const detail = `${quoted(name)} is not a property that can be sorted by.${near}`
      violations.add('sort.property.unknown', 'sortColumn', detail)
    } else if (seen.has(name.toLowerCase())) {
      violations.add('sort.property.unknown', 'sortColumn', `sortColumn names ${quoted(name)} twice.`)
    }
    seen.add(name.toLowerCase())
    return column
  })
}

/** One direction for all columns, or one for each. `columns` is 0 if the sort columns are invalid. */
function parseSortDirections(text: string | undefined, columns: number, violations: Violations): readonly boolean[] {
  const words = (text ?? 'asc').split(',', MAX_SORT_COLUMNS + 1)
  if (words.length > 1 && columns > 0 && words.length !== columns) {
    const detail = 'sortDirection takes one direction, or as many as sortColumn has properties.'
    violations.add('sort.direction.invalid', 'sortDirection', detail)
    return []
  }
  return words.map((written) => {
    const word = written.trim()
    const descending = DESCENDING.get(word.toLowerCase())
    if (descending === undefined) {
      const detail = `sortDirection takes asc, desc, ascending or descending, not ${quoted(word)}.`
      violations.add('sort.direction.invalid', 'sortDirection', detail)
    }
    return descending ?? false
  })
}

function sortableNames(resource: Resource): string[] {
  return [...resource.properties.values()].map(propertyName).filter((name) => resource.sortable.has(name.toLowerCase()))
}

/** The parts of a row that a request asks for. */
export interface ShapeParams {
  readonly fields?: string
  readonly includeFks?: string
  readonly includeChildren?: string
  readonly include?: string
}

/** The parts of a row, parsed. `named` is undefined for every property. */
export interface ParsedShape {
  readonly flags: IncludeFlags
  readonly includes: Includes
  readonly named: readonly ShapedProperty[] | undefined
}

const MAX_FIELDS = 200

const INCLUDE_FKS = { parameter: 'includeFKs', code: 'include.invalid', fallback: false } as const
const INCLUDE_CHILDREN = { parameter: 'includeChildren', code: 'include.invalid', fallback: false } as const

export function parseShape(
  params: ShapeParams | null,
  resource: Resource,
  how: { readonly resourceOf: ResourceOf; readonly violations: Violations }
): ParsedShape {
  const { violations } = how
  const flags = {
    references: parseFlag(params?.includeFks, INCLUDE_FKS, violations),
    children: parseFlag(params?.includeChildren, INCLUDE_CHILDREN, violations)
  }
  const includes = parseIncludes(params?.include, resource, how)
  const reject = (property: ShapedProperty): string | undefined =>
    includes.has(propertyName(property)) ? undefined : notSelectable(property, flags)
  return { flags, includes, named: parseFields(params?.fields, resource, { violations, reject }) }
}

/** undefined for all fields. `reject` says what is wrong with a property that exists; undefined where nothing is. */
export function parseFields(
  text: string | undefined,
  resource: Resource,
  how: { readonly violations: Violations; readonly reject: (property: ShapedProperty) => string | undefined }
): readonly ShapedProperty[] | undefined {
  if (text === undefined) return undefined
  const named = new Map<string, string>()
  for (const part of text.split(',')) {
    const name = part.trim()
    if (name !== '' && !named.has(name.toLowerCase())) named.set(name.toLowerCase(), name)
  }
  if (named.size === 0) return undefined
  if (named.size > MAX_FIELDS) {
    how.violations.add('fields.invalid', 'fields', `fields takes at most ${MAX_FIELDS} names, not ${named.size}.`)
    return undefined
  }
  const asked: ShapedProperty[] = []
  for (const [key, name] of named) {
    const property = resource.properties.get(key)
    const violation =
      property === undefined
        ? `${quoted(name)} is not a field.${how.violations.suggestion(name, () => selectableNames(resource))}`
        : how.reject(property)
    if (violation !== undefined) how.violations.add('fields.invalid', 'fields', violation)
    else if (property !== undefined) asked.push(property)
  }
  return asked
}

function notSelectable(property: ShapedProperty, flags: IncludeFlags): string | undefined {
  const name = propertyName(property)
  switch (property.kind) {
    case 'id':
    case 'column':
    case 'rowVersion':
      return undefined
    case 'computed':
    case 'joined':
      return `"${name}" is read-only and has no column of its own: leave fields out to get it.`
    case 'reference':
      return flags.references ? undefined : `"${name}" needs includeFKs=true or include=${name}.`
    case 'manyToMany':
    case 'children':
      return flags.children ? undefined : `"${name}" needs includeChildren=true or include=${name}.`
  }
}

function selectableNames(resource: Resource): string[] {
  return [...resource.properties.values()]
    .filter(({ kind }) => kind === 'id' || kind === 'column' || kind === 'rowVersion')
    .map(propertyName)
}

/** `true` or `false` and no other spelling; `fallback` where the parameter is absent. */
export function parseFlag(
  text: string | undefined,
  what: { readonly parameter: string; readonly code: ErrorCode; readonly fallback: boolean },
  violations: Violations
): boolean {
  if (text === undefined) return what.fallback
  if (text === 'true') return true
  if (text !== 'false')
    violations.add(what.code, what.parameter, `${what.parameter} takes true or false, not ${quoted(text)}.`)
  return text === 'false' ? false : what.fallback
}
