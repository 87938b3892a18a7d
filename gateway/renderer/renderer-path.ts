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
