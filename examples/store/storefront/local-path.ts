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
