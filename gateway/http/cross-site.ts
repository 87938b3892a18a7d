import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { PublicAddress } from './public-address.js'

/** What browsers say of a request that no other site caused. */
const NOT_CROSS_SITE: ReadonlySet<string> = new Set(['same-origin', 'same-site', 'none'])

/**
 * An `onRequest` hook for every endpoint that takes or gives cookies: 403 `request.cross-site` for what another site's
 * page sends, preflights included (contract.md section 8).
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

/** Whether a browser tells that a page of another origin sent the request, be it of this site or of another. */
export function isFromAnotherOrigin(site: string | readonly string[] | undefined): boolean {
  const told = [site ?? []].flat().join(',').toLowerCase()
  return told.includes('cross-site') || told.includes('same-site')
}

/**
 * `Sec-Fetch-Site` tells where there is one, in a list too. Where it tells nothing, `Origin` does: without either, no
 * browser's page sent it.
 */
export function isCrossSite(
  site: string | readonly string[] | undefined,
  origin: string | undefined,
  ownOrigin: () => string
): boolean {
  const told = [site ?? []].flat().join(',').toLowerCase()
  if (told.includes('cross-site')) return true
  const known = told.split(',').every((item) => NOT_CROSS_SITE.has(item.trim()))
  return !known && origin !== undefined && origin !== ownOrigin()
}
