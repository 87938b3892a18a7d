import type { FastifyReply, FastifyRequest } from 'fastify'
import { rejectionAt } from '../../shared/errors.js'
import { trimOws } from './header-fields.js'
import type { PublicAddress } from './public-address.js'

/**
 * An `onRequest` hook for endpoints that read or set cookies. It throws `request.cross-site` if a page of another site
 * sent the request, preflights included, or a page of another origin of this site an unsafe one (contract.md section 8).
 */
export function rejectCrossSite(
  address: PublicAddress
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return (request, _reply, done) => {
    const { 'sec-fetch-site': site, origin } = request.headers
    const asked = { site, origin, isSafe: SAFE_METHODS.has(request.method) }
    const name = crossSiteHeader(asked, () => new URL(address.baseFor(request)).origin)
    if (name !== undefined) {
      const detail = 'Sessions are for pages of this site: another site sent the request.'
      throw rejectionAt('request.cross-site', detail, { place: { in: 'header', name } })
    }
    done()
  }
}

/** Values of `Sec-Fetch-Site` (W3C Fetch Metadata section 2.3) for requests that no other site caused. */
const NOT_CROSS_SITE: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])

/** Safe methods (RFC 9110 section 9.2.1). TRACE is served nowhere. */
export const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** What a browser says of where a request comes from. */
interface RequestOrigin {
  readonly site: string | readonly string[] | undefined
  readonly origin: string | undefined
  /** Whether the method changes nothing. */
  readonly isSafe: boolean
}

/**
 * The header that says that a page of another site sent the request. `Sec-Fetch-Site`, which may be a list, decides. If it is missing or
 * unknown, `Origin` decides. If both are missing, no page of a browser sent the request. A neighbour on the same site, such
 * as another host of the domain, may not change or end a session either: there `Origin` decides too.
 */
export function crossSiteHeader(
  { site, origin, isSafe }: RequestOrigin,
  ownOrigin: () => string
): 'Sec-Fetch-Site' | 'Origin' | undefined {
  const sites = joined(site)
  if (sites.includes('cross-site')) return 'Sec-Fetch-Site'
  const isOfNeighbour = sites.includes('same-site') && !isSafe
  if (!isOfNeighbour && sites.split(',').every((item) => NOT_CROSS_SITE.has(trimOws(item)))) return undefined
  return origin === undefined || origin === ownOrigin() ? undefined : 'Origin'
}

/** Whether `Sec-Fetch-Site` says that a page of another origin sent the request, of the same site or of another one. */
export function isFromAnotherOrigin(site: string | readonly string[] | undefined): boolean {
  const sites = joined(site)
  return sites.includes('cross-site') || sites.includes('same-site')
}

function joined(site: string | readonly string[] | undefined): string {
  return [site ?? []].flat().join(',').toLowerCase()
}

/** Whether the request is a CORS preflight (Fetch Standard, "CORS-preflight request"), whatever its origin. */
export function isPreflight(method: string, headers: FastifyRequest['headers']): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && headers['access-control-request-method'] !== undefined
}
