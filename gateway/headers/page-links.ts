import { nameOf } from './known-query.js'

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
