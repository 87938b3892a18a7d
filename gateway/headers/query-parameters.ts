import { DomainError } from '../../shared/domain-error.js'
import { originForm } from '../origin-form.js'

/** One parameter of a query string, decoded. */
export interface QueryParameter {
  readonly name: string
  readonly value: string
}

/** Everything after the first `?` of a request target, undecoded; empty where there is none. */
export function queryOf(target: string): string {
  const at = target.indexOf('?')
  return at === -1 ? '' : target.slice(at + 1)
}

/** The path of a request target in any form, undecoded. */
export function pathOf(target: string): string {
  const path = originForm(target)
  const at = path.indexOf('?')
  return at === -1 ? path : path.slice(0, at)
}

/** Characters of a path that a line of the log repeats. */
const SHOWN = 2048

/** The path of a request target as the log shows it: of an overlong one the beginning alone. */
export function shownPathOf(target: string): string {
  return pathOf(target).slice(0, SHOWN)
}

/**
 * Decodes a query string as `application/x-www-form-urlencoded`: `+` is a space and a parameter without `=` is blank.
 * Bad percent-encoding, bytes that are no UTF-8 included, throws `request.malformed`.
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
