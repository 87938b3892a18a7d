import { nameOf } from './query-string.js'

/** What the data service reports about a page. */
interface PageFacts {
  /** The effective page size, at least 1. */
  readonly pageSize: number
  /** Decimal digits of any length. Empty for a page that begins at a cursor and has no number. */
  readonly currentPage: string
  /** Decimal digits; undefined if the rows were not counted. */
  readonly totalCount: string | undefined
  /** Whether there are more rows than that. */
  readonly totalIsLowerBound: boolean
  readonly hasNext: boolean
  /** Whether rows precede the page. Of a page with a number its number tells. */
  readonly hasPrevious: boolean
}

/**
 * The value of `X-Pagination` and the numbers of the neighbouring pages as decimal digits. Neighbours of a page without a
 * number have none either.
 */
export interface Pagination {
  /** The value of `X-Pagination`. */
  readonly json: string
  readonly totalCount: string | undefined
  readonly previous: string | undefined
  readonly next: string | undefined
  /** undefined if the total is unknown, or a lower bound, or the result is empty. */
  readonly last: string | undefined
}

/** Digits of a page number that `X-Pagination` repeats. A longer number is left out to keep the header small. */
const MAX_PAGE_DIGITS = 1000

/**
 * Page numbers are exact, however large they are. The previous page of one past the end is the last page. The JSON is
 * written by hand, since JSON.stringify cannot write a number that a double cannot hold.
 */
export function paginationOf(page: PageFacts): Pagination {
  const current = page.currentPage === '' ? undefined : BigInt(page.currentPage)
  const total = page.totalCount === undefined ? undefined : BigInt(page.totalCount)
  const size = BigInt(page.pageSize)
  const pages = total === undefined || page.totalIsLowerBound ? undefined : (total + size - 1n) / size
  const previous = current === undefined ? undefined : previousOf(current, pages)
  const hasPrevious = current === undefined ? page.hasPrevious : previous !== undefined
  const members = [
    ...(total === undefined ? [] : [`"totalCount":${total}`]),
    ...(page.totalIsLowerBound ? ['"totalIsLowerBound":true'] : []),
    `"pageSize":${size}`,
    ...(page.currentPage.length > MAX_PAGE_DIGITS ? [] : [`"currentPage":${current ?? null}`]),
    ...(pages === undefined ? [] : [`"totalPages":${pages}`]),
    `"hasPrevious":${hasPrevious}`,
    `"hasNext":${page.hasNext}`
  ]
  return {
    json: `{${members.join(',')}}`,
    totalCount: total?.toString(),
    previous: previous?.toString(),
    next: page.hasNext && current !== undefined ? (current + 1n).toString() : undefined,
    last: pages === undefined || pages === 0n ? undefined : pages.toString()
  }
}

function previousOf(current: bigint, pages: bigint | undefined): bigint | undefined {
  const before = current - 1n
  const previous = pages !== undefined && before > pages ? pages : before
  return previous < 1n ? undefined : previous
}

/** A link of the `Link` header (RFC 8288) to another page. */
export type PageLink = {
  readonly rel: 'first' | 'prev' | 'next' | 'last'
  /** undefined: the page size of the request. */
  readonly pageSize?: string
} & PagePlace

/** The parameter that says where a page begins or ends: a number in decimal digits, or a cursor. */
type PagePlace = { readonly pageNumber: string } | { readonly after: string } | { readonly before: string }

/** The links in the order in which they get room. A client can derive the later ones from the earlier ones. */
const LINK_PRIORITY: readonly PageLink['rel'][] = ['next', 'prev', 'first', 'last']

/**
 * The value of `Link` (RFC 8288 section 3): absolute links to pages of a route, with every other parameter of `query` as
 * it was sent. Each link repeats the query, so links that do not fit into `room` bytes are left out. undefined if no
 * link is left.
 */
export function pageLinks(
  { url, query }: { readonly url: string; readonly query: string },
  links: readonly PageLink[],
  room: number
): string | undefined {
  const parameters = otherParameters(query)
  const written = new Map(links.map((link) => [link.rel, `<${url}?${queryTo(link, parameters)}>; rel="${link.rel}"`]))
  for (const rel of LINK_PRIORITY) {
    const size = (written.get(rel)?.length ?? 0) + ', '.length
    if (size > room) written.delete(rel)
    else room -= size
  }
  return written.size === 0 ? undefined : [...written.values()].join(', ')
}

/** The names of parameters that say where a page begins or ends. */
const PAGE_PLACE = /^(?:page|pagenumber|after|before)$/i
const PAGE_SIZE = /^pagesize$/i

/** A parameter that a link repeats, as it is written there. */
interface RepeatedParameter {
  readonly text: string
  readonly isPageSize: boolean
}

/** Read once for all links of an answer. */
function otherParameters(query: string): RepeatedParameter[] {
  return query.split('&').flatMap((piece) => {
    const name = nameOf(piece)
    return piece === '' || PAGE_PLACE.test(name) ? [] : [{ text: escapeQuery(piece), isPageSize: PAGE_SIZE.test(name) }]
  })
}

function queryTo(link: PageLink, parameters: readonly RepeatedParameter[]): string {
  const { pageSize } = link
  const kept = pageSize === undefined ? parameters : parameters.filter(({ isPageSize }) => !isPageSize)
  const own = pageSize === undefined ? [] : [`pageSize=${pageSize}`]
  return [...kept.map(({ text }) => text), ...own, placeParameter(link)].join('&')
}

function placeParameter(link: PagePlace): string {
  if ('pageNumber' in link) return `pageNumber=${link.pageNumber}`
  return 'after' in link ? `after=${link.after}` : `before=${link.before}`
}

const IN_QUERY = /^[!$&'()*+,\-./0-9:;=?@A-Z_a-z~%]$/

/** Each byte as a query has it (RFC 3986 section 3.4), percent-encoded where it must be. */
const ESCAPED = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte)
  return IN_QUERY.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
})

/**
 * Percent-encodes what clients send unencoded although RFC 3986 section 3.4 forbids it in a query, mostly brackets. A
 * character of a request target is one byte.
 */
function escapeQuery(piece: string): string {
  // A replacement of each match by a function takes seven times as long for tens of thousands of them.
  let escaped = ''
  for (let at = 0; at < piece.length; at++) escaped += ESCAPED[piece.charCodeAt(at) % ESCAPED.length] ?? ''
  return escaped
}

/** Bytes of all headers of a response except `Set-Cookie`. Clients and proxies accept no more (contract.md section 2). */
const MAX_RESPONSE_HEADER_BYTES = 8 * 1024

/** For headers that are set later: type and length of the body, `Date`, `Connection`, and what proxies add. */
const RESERVED_BYTES = 1024

/** How many bytes one more header may have beside the headers that a response has already. */
export function headerRoom(headers: Readonly<Record<string, number | string | string[] | undefined>>): number {
  let room = MAX_RESPONSE_HEADER_BYTES - RESERVED_BYTES
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'set-cookie' || value === undefined) continue
    for (const line of [value].flat()) room -= name.length + String(line).length + ': \r\n'.length
  }
  return room
}
