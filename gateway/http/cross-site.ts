import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import { trimOws } from './header-fields.js'
import type { PublicAddress } from './public-address.js'

/**
 * An `onRequest` hook for endpoints that read or set cookies. It throws `request.cross-site` if a page of another site
 * sent the request, preflights included (contract.md section 8).
 */
export function rejectCrossSite(
  address: PublicAddress
): (request: FastifyRequest, reply: FastifyReply, done: () => void) => void {
  return (request, _reply, done) => {
    const { 'sec-fetch-site': site, origin } = request.headers
    if (isCrossSite(site, origin, () => new URL(address.baseFor(request)).origin)) {
      throw new DomainError('request.cross-site', 'Sessions are for pages of this site: another site sent the request.')
    }
    done()
  }
}

/** Values of `Sec-Fetch-Site` (W3C Fetch Metadata section 2.3) for requests that no other site caused. */
const NOT_CROSS_SITE: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])

/**
 * Whether a page of another site sent the request. `Sec-Fetch-Site`, which may be a list, decides. If it is missing or
 * unknown, `Origin` decides. If both are missing, no page of a browser sent the request.
 */
export function isCrossSite(
  site: string | readonly string[] | undefined,
  origin: string | undefined,
  ownOrigin: () => string
): boolean {
  const sites = joined(site)
  if (sites.includes('cross-site')) return true
  const isKnown = sites.split(',').every((item) => NOT_CROSS_SITE.has(trimOws(item)))
  return !isKnown && origin !== undefined && origin !== ownOrigin()
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
