/** A path of this site to go on to; `/` in place of anything that could lead elsewhere. */
export function localPath(next: unknown): string {
  if (typeof next !== 'string' || next.length > 2000 || !/^\/(?![/\\])/.test(next)) return '/'
  // A browser drops tabs and line breaks from a URL, which would make `/<tab>/host` another host.
  if (next.includes('\\') || Array.from(next).some((character) => character < ' ')) return '/'
  return next
}
