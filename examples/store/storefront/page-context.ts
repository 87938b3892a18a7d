import { readSessionCookie } from 'uniform-rest/session-cookie'

/** What every page knows of the request that it answers. */
export interface PageContext {
  /** undefined for somebody who is not signed in. */
  readonly visitor: Visitor | undefined
  /** Path and query of the page, to mark its link and to come back to after signing in. */
  readonly path: string
  /** What prefixes the API's paths for the browser: empty, or `/api`. */
  readonly apiPath: string
}

/** Whom a page greets. Never more than a name on a page: the cookie's signature is not verified. */
interface Visitor {
  readonly name: string
}

/** undefined for somebody who is not signed in. */
export function visitorOf(cookieHeader: string | undefined, clock: () => number): Visitor | undefined {
  const result = readSessionCookie(cookieHeader, clock)
  if (result.kind !== 'success') return undefined
  const name = result.principal.name ?? result.principal.nameIdentifier
  return name === undefined ? undefined : { name }
}

const SITE = 'http://site.invalid'

/**
 * A path of this site to go on to; `/` in place of anything that leads elsewhere, or would once a browser has made sense
 * of it: `//host`, `/\\host`, `/.//host`.
 */
export function localPath(next: unknown): string {
  if (typeof next !== 'string' || next.length > 2000 || !next.startsWith('/') || !URL.canParse(next, SITE)) return '/'
  // Browsers drop tabs and line breaks.
  if (Array.from(next).some((character) => character < ' ')) return '/'
  const { origin, pathname, search } = new URL(next, SITE)
  return origin === SITE && !pathname.startsWith('//') ? pathname + search : '/'
}
