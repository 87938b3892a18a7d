import { percentDecoded } from './percent-decoded.js'

/** The pieces of a query string, as sent, whose parameter is one of the names in any letter case. */
export function knownQuery(query: string, names: readonly string[]): string {
  const known = new Set(names.map((name) => name.toLowerCase()))
  return query
    .split('&')
    .filter((piece) => known.has(nameOf(piece).toLowerCase()))
    .join('&')
}

/** The name in a piece of a query string, decoded where it can be. */
export function nameOf(piece: string): string {
  const name = piece.split('=', 1)[0] ?? ''
  return percentDecoded(name) ?? name
}
