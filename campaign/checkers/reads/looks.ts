import type { Answer, Exchange } from '../../history.js'
import { NUMBERS, OWNED } from '../callers/ownership.js'
import { pathOf } from '../chains.js'
import { type JsonObject, objectOf, objectsOf } from '../json.js'
import { exportOf, isBeyond } from './exported.js'

/** What an answer shows of the rows of a resource. */
export interface Look {
  readonly resource: string
  readonly rows: readonly JsonObject[]
  /** Of a read by id: it covers no other. */
  readonly only?: string
  /** Whether it shows a row of that id and name, if it is there and the caller may see it. False where that cannot be told. */
  covers(id: string, name: string | undefined): boolean
}

/** Paths below a resource that are no ids. */
const NO_IDS: readonly string[] = ['paged', 'lookup', 'export', 'session-ids', 'batch']
/** The most rows of a lookup. */
const MOST_LOOKED_UP = 1000

/** undefined for what is no read, and for an answer that says nothing of which rows there are. */
export function lookOf(exchange: Exchange): Look | undefined {
  const { request, answer } = exchange
  const [resource = '', second, third] = pathOf(exchange)
  if (request.method !== 'GET' || answer === undefined || third !== undefined) return undefined
  const { status } = answer
  if (second !== undefined && !NO_IDS.includes(second)) {
    // 403 hides a row as 404 does.
    if (status !== 200 && status !== 403 && status !== 404) return undefined
    const rows = status === 200 ? [objectOf(exchange)] : []
    return { resource, rows, only: second, covers: (id) => id === second }
  }
  if (status !== 200 || second === 'session-ids') return undefined
  const query = new URL(request.target, 'http://gateway').searchParams
  if (!isOfOwn(exchange, resource, query)) return undefined
  const named = namedBy(answer, query)
  if (second === 'export') return lookOfExport(exchange, resource, named)
  const rows = objectsOf(exchange)
  const isWhole = second === 'lookup' && rows.length < MOST_LOOKED_UP && answer.headers['x-truncated'] === undefined
  const shows = second === 'lookup' ? () => isWhole : windowOf(exchange, query, rows)
  return { resource, rows, covers: (id, name) => named(name) && shows(id) }
}

/** The parameters that an answer says it has ignored. */
export function ignoredBy(answer: Answer | undefined): readonly string[] {
  const header = answer?.headers['x-ignored-parameters'] ?? ''
  try {
    return decodeURIComponent(header).split(',')
  } catch {
    return header.split(',')
  }
}

/** A cell that is empty is null, or is not asked for. */
function lookOfExport(
  exchange: Exchange,
  resource: string,
  named: (name: string | undefined) => boolean
): Look | undefined {
  const found = exportOf(exchange)
  if (found === undefined || found.exported.least !== undefined) return undefined
  const { exported, cells } = found
  const columns = ['id', 'name'].map((column) => [column, cells.header.indexOf(column)] as const)
  const rows = cells.lines.map((line) =>
    Object.fromEntries(columns.flatMap(([column, at]) => (at === -1 ? [] : [[column, line[at]]])))
  )
  const shows = cells.header.includes('id')
  return { resource, rows, covers: (id, name) => shows && named(name) && !isBeyond(exported, Number(id)) }
}

/** Whether the query asks for the rows of the caller, as far as it asks for those of anybody. */
function isOfOwn({ account = '', answer }: Exchange, resource: string, query: URLSearchParams): boolean {
  const ignored = ignoredBy(answer)
  const asked = ['customerId', 'userId'].flatMap((name) => (ignored.includes(name) ? [] : query.getAll(name)))
  return OWNED[resource] === undefined || asked.every((one) => one === NUMBERS[account])
}

/** Of filters and searches, that of names by what they begin with is known; a row passes no other. */
function namedBy(answer: Answer, query: URLSearchParams): (name: string | undefined) => boolean {
  const ignored = ignoredBy(answer)
  const filters = [...query.keys()].filter((name) => /^(?:filters\[|search$)/.test(name) && !ignored.includes(name))
  const prefix = query.get('filters[name].value') ?? query.get('search')
  const isKnown = filters.every((name) => /^(?:filters\[name\]\.(?:operator|value)|search)$/.test(name))
  if (filters.length === 0) return () => true
  return (name) => isKnown && prefix !== null && name?.startsWith(prefix) === true
}

/** Which ids a list or a page shows: all, or where it is by id those from its first row to its last. */
function windowOf({ answer }: Exchange, query: URLSearchParams, rows: readonly JsonObject[]): (id: string) => boolean {
  const headers = answer?.headers ?? {}
  const hasBefore = headers['x-previous-cursor'] !== undefined
  const hasAfter = headers['x-next-cursor'] !== undefined || headers['x-truncated'] !== undefined
  if (!hasBefore && !hasAfter) return () => rows.length > 0 || !query.has('pageNumber')
  const column = query.get('sortColumn') ?? 'id'
  if (column !== 'id' || rows.length === 0) return () => false
  const way = /^desc/i.test(query.get('sortDirection') ?? '') ? -1 : 1
  const [first, last] = [rows[0], rows.at(-1)].map((row) => Number(row?.['id']))
  return (id) => {
    const at = Number(id)
    return (
      (!hasBefore || (at - (first ?? Number.NaN)) * way >= 0) && (!hasAfter || (at - (last ?? Number.NaN)) * way <= 0)
    )
  }
}
