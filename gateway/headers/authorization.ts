import { headerLines } from './header-lines.js'

/**
 * The credentials of a request; undefined for none. Node would keep the first of several lines: which of them an
 * intermediary judged cannot be known, so they go on as one list, which is no valid token.
 */
export function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  const lines = headerLines(rawHeaders, 'authorization')
  return lines.length === 0 ? undefined : lines.join(', ')
}
