import { DomainError } from '../../shared/domain-error.js'
import { percentDecoded } from '../headers/percent-decoded.js'
import { pathOf } from '../headers/query-parameters.js'

/**
 * The renderer's path for a request target in origin form. What a URL parser would take for another path than the one
 * that was judged is refused with `request.malformed`: it might become one of the gateway's own.
 */
export function rendererPath(target: string, base: URL): string {
  const path = pathOf(target)
  const segments = percentDecoded(path)?.split('/') ?? ['.']
  if (path.includes('\\') || segments.some((segment) => segment === '.' || /^\.\.|\\/.test(segment))) {
    throw new DomainError(
      'request.malformed',
      'The path must be percent-encoded UTF-8 without backslashes, without `.` segments and without segments that begin with two dots.'
    )
  }
  return base.pathname.replace(/\/$/, '') + path
}

/**
 * A path in two, its last segment relative to the URL of what stands before it: @fastify/reply-from refuses `../` in
 * what it is given, `/a../b` too. A last segment that holds it, `a..%2Fb`, is nobody's path.
 */
export function splitPath(path: string, base: URL): { readonly before: string; readonly last: string } {
  const at = path.lastIndexOf('/') + 1
  const last = `./${path.slice(at)}`
  if (percentDecoded(last)?.includes('../') !== false) {
    throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
  }
  return { before: base.origin + path.slice(0, at), last }
}
