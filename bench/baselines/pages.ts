import type { FastifyReply, FastifyRequest } from 'fastify'
import { RejectedRequest } from './app.js'

/** One filter of the query string, its names checked. */
export interface Filter {
  readonly property: string
  readonly operator: FilterOperator
  readonly value: string
}

/** The row behind which a page begins. */
export interface Cursor {
  readonly value: string | number | null
  readonly id: number
}

export interface PageRequest {
  readonly filters: readonly Filter[]
  readonly sortColumn: string
  readonly descending: boolean
  readonly pageSize: number
  readonly pageNumber: number
  /** In place of the page number. */
  readonly after: Cursor | undefined
}

export type FilterOperator = 'equals' | 'not equals' | 'greater than' | 'less than'
const OPERATORS: readonly FilterOperator[] = ['equals', 'not equals', 'greater than', 'less than']

/** The part of the paged contract that somebody who writes these endpoints by hand would write. */
export function readPageRequest(
  query: Readonly<Record<string, unknown>>,
  properties: ReadonlySet<string>
): PageRequest {
  const sortColumn = query['sortColumn'] ?? 'id'
  if (typeof sortColumn !== 'string' || !properties.has(sortColumn))
    throw new RejectedRequest(400, 'Unknown sort column.')
  const after = query['after']
  return {
    filters: readFilters(query, properties),
    sortColumn,
    descending: query['sortDirection'] === 'desc' || query['sortDirection'] === 'descending',
    pageSize: Math.min(positive(query['pageSize'] ?? '10'), 500),
    pageNumber: positive(query['pageNumber'] ?? '1'),
    after: typeof after === 'string' ? readCursor(after) : undefined
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

function readCursor(text: string): Cursor {
  try {
    const [value, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as [unknown, unknown] // as cursorOf writes
    if ((typeof value === 'string' || typeof value === 'number' || value === null) && typeof id === 'number') {
      return { value, id }
    }
  } catch {
    // Answered below.
  }
  throw new RejectedRequest(400, 'Not a cursor.')
}

function cursorOf({ value, id }: Cursor): string {
  return Buffer.from(JSON.stringify([value, id])).toString('base64url')
}

/** A page with what its headers tell. */
interface FoundPage extends PageRequest {
  readonly total: number
  /** Whether rows come behind a page that begins at a cursor. */
  readonly more: boolean
  /** The places of the first and the last row; undefined for an empty page. */
  readonly first: Cursor | undefined
  readonly last: Cursor | undefined
}

/** `X-Pagination`, `X-Total-Count`, `Link` and the cursors of the pages before and behind. */
export function setPagingHeaders(request: FastifyRequest, reply: FastifyReply, found: FoundPage): void {
  const { pageSize, pageNumber, total: totalCount, after } = found
  const totalPages = Math.ceil(totalCount / pageSize)
  const currentPage = after === undefined ? pageNumber : null
  const hasPrevious = currentPage === null || currentPage > 1
  const hasNext = currentPage === null ? found.more : currentPage < totalPages
  const members = { totalCount, pageSize, currentPage, totalPages, hasPrevious, hasNext }
  reply.header('x-pagination', JSON.stringify(members))
  reply.header('x-total-count', totalCount)
  const previous = hasPrevious && found.first !== undefined ? cursorOf(found.first) : undefined
  const next = hasNext && found.last !== undefined ? cursorOf(found.last) : undefined
  if (previous !== undefined) reply.header('x-previous-cursor', previous)
  if (next !== undefined) reply.header('x-next-cursor', next)
  const otherParameters = request.url.replace(/([?&])(?:pageNumber|after)=[^&]*&?/, '$1').replace(/[?&]$/, '')
  const base = `http://${request.host}${otherParameters}${otherParameters.includes('?') ? '&' : '?'}`
  const link = (place: string, rel: string): string => `<${base}${place}>; rel="${rel}"`
  const links = [link('pageNumber=1', 'first')]
  if (currentPage === null) {
    if (previous !== undefined) links.push(link(`before=${previous}`, 'prev'))
    if (next !== undefined) links.push(link(`after=${next}`, 'next'))
  } else {
    if (hasPrevious) links.push(link(`pageNumber=${Math.min(currentPage - 1, totalPages)}`, 'prev'))
    if (hasNext) links.push(link(`pageNumber=${currentPage + 1}`, 'next'))
  }
  if (totalPages > 0) links.push(link(`pageNumber=${totalPages}`, 'last'))
  reply.header('link', links.join(', '))
}
