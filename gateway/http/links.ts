import { nameOf } from './query-string.js'

/** A link of the `Link` header (RFC 8288). */
export interface PageLink {
  readonly rel: 'first' | 'prev' | 'next' | 'last'
  /** Decimal digits. */
  readonly pageNumber: string
  /** undefined keeps the one of the request. */
  readonly pageSize?: string
}

/** What next to the query is worth most: links that can be worked out from the others are left out first. */
const BY_WORTH: readonly PageLink['rel'][] = ['next', 'prev', 'first', 'last']
const PAGE_NUMBER = /^page(?:number)?$/i
const PAGE_SIZE = /^pagesize$/i

/**
 * The value of `Link`: absolute links to pages of a route that keep every other parameter of the query as it was sent.
 * Each repeats the query, so those that do not fit into `room`, in bytes, are left out. undefined where there is none.
 */
export function pageLinks(
  { url, query }: { readonly url: string; readonly query: string },
  links: readonly PageLink[],
  room: number
): string | undefined {
  const written = new Map(links.map((link) => [link.rel, `<${linkTo(url, query, link)}>; rel="${link.rel}"`]))
  for (const rel of BY_WORTH) {
    const size = (written.get(rel)?.length ?? 0) + 2
    if (size > room) written.delete(rel)
    else room -= size
  }
  return written.size === 0 ? undefined : [...written.values()].join(', ')
}

function linkTo(url: string, query: string, link: PageLink): string {
  const kept = query.split('&').filter((piece) => {
    const name = nameOf(piece)
    return piece !== '' && !PAGE_NUMBER.test(name) && !(link.pageSize !== undefined && PAGE_SIZE.test(name))
  })
  if (link.pageSize !== undefined) kept.push(`pageSize=${link.pageSize}`)
  kept.push(`pageNumber=${link.pageNumber}`)
  return `${url}?${kept.map(escaped).join('&')}`
}

/** Escapes what request targets are sent with although no query may hold it raw (RFC 3986 section 3.4), `[` above all. */
function escaped(piece: string): string {
  return piece.replace(/[^!$&'()*+,\-./0-9:;=?@A-Z_a-z~%]/g, (character) =>
    [...Buffer.from(character, 'latin1')].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  )
}

/** Of an answer's own headers, `Set-Cookie` aside: clients and proxies take no more (contract.md section 2, Sizes). */
const MAX_BYTES = 8 * 1024

/** For what is set later: the type and length of the body, `Date`, `Connection`, what security and CORS add. */
const RESERVED = 1024

/** Bytes that one more header may have, beside those that an answer has already. */
export function headerRoom(headers: Readonly<Record<string, number | string | string[] | undefined>>): number {
  let room = MAX_BYTES - RESERVED
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'set-cookie' || value === undefined) continue
    for (const line of [value].flat()) room -= name.length + String(line).length + ': \r\n'.length
  }
  return room
}

/** What the data service says of a page. */
export interface PageFacts {
  /** As clamped, at least 1. */
  readonly pageSize: number
  /** Decimal digits of any length. */
  readonly currentPage: string
  /** Decimal digits; undefined where the count was skipped. */
  readonly totalCount: string | undefined
  readonly hasNext: boolean
}

/** A page and its neighbours, page numbers as decimal digits. */
export interface Pagination {
  /** The value of `X-Pagination`. */
  readonly json: string
  readonly totalCount: string | undefined
  readonly previous: string | undefined
  readonly next: string | undefined
  /** undefined where the total is unknown or the result is empty. */
  readonly last: string | undefined
}

/** Digits of a page number that `X-Pagination` repeats; of a longer one the caller has to remember what was asked. */
const MAX_DIGITS = 1000

/**
 * Page numbers are exact however large. Past the end the previous page is the last one. The JSON is put together by
 * hand since a page number may hold more digits than a double.
 */
export function paginationOf(page: PageFacts): Pagination {
  const current = BigInt(page.currentPage)
  const total = page.totalCount === undefined ? undefined : BigInt(page.totalCount)
  const size = BigInt(page.pageSize)
  const pages = total === undefined ? undefined : (total + size - 1n) / size
  const previous = previousOf(current, pages)
  const members = [
    ...(total === undefined ? [] : [`"totalCount":${total}`]),
    `"pageSize":${size}`,
    ...(page.currentPage.length > MAX_DIGITS ? [] : [`"currentPage":${current}`]),
    ...(pages === undefined ? [] : [`"totalPages":${pages}`]),
    `"hasPrevious":${previous !== undefined}`,
    `"hasNext":${page.hasNext}`
  ]
  return {
    json: `{${members.join(',')}}`,
    totalCount: total?.toString(),
    previous: previous?.toString(),
    next: page.hasNext ? (current + 1n).toString() : undefined,
    last: pages === undefined || pages === 0n ? undefined : pages.toString()
  }
}

function previousOf(current: bigint, pages: bigint | undefined): bigint | undefined {
  const before = current - 1n
  const previous = pages !== undefined && before > pages ? pages : before
  return previous < 1n ? undefined : previous
}
