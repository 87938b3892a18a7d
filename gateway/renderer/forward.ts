import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PublicAddress } from '../public-address.js'
import type { TrustedProxies } from '../settings/trusted-proxies.js'
import { downstreamHeaders } from './downstream-headers.js'
import type { PageSession } from './page-session.js'
import { rendererFailure } from './renderer-failure.js'
import { rendererPath, splitPath } from './renderer-path.js'
import { leaveUpstreamBody } from './upstream-body.js'
import { upstreamHeaders } from './upstream-headers.js'

export interface Forwarding {
  readonly base: URL
  readonly session: PageSession
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
}

const SESSION_COOKIE = /(?:^|;)\s*app_auth_(?:access|refresh)\s*=/

/** Sends a request on to the renderer, and its answer back, once. */
export function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { base, session, address, trustedProxies }: Forwarding
): FastifyReply {
  const cookie = session.cookiesOf(request)
  const publicBase = new URL(address.baseFor(request))
  const remote = request.socket.remoteAddress ?? ''
  const proxies = trustedProxies.trusts(remote) ? request.headers['x-forwarded-for'] : undefined
  const { before, last } = splitPath(rendererPath(request.url, base), base)
  return reply.from(last, {
    getUpstream: () => before,
    // One try: what to make of a failure is the browser's to say.
    retryDelay: () => null,
    rewriteRequestHeaders: (_request, headers) => ({
      ...upstreamHeaders(
        headers,
        {
          requestId: request.id,
          traceparent: request.traceparent,
          cookie,
          host: publicBase.host,
          proto: publicBase.protocol.slice(0, -1),
          forwardedFor: [proxies ?? [], remote].flat().join(', ')
        },
        request.body !== undefined && request.body !== null
      ),
      host: base.host
    }),
    rewriteHeaders: (headers) => {
      const ours = [reply.getHeader('vary') ?? []].flat().map(String)
      const varies = ours.some((names) => names.includes('Accept'))
      const setsCookies = reply.getHeader('set-cookie') !== undefined
      // As sent: a session that turned out to be over differs from none by the cookie alone.
      const personal = SESSION_COOKIE.test(request.headers.cookie ?? '')
      return downstreamHeaders(headers, { personal, setsCookies, varies })
    },
    onError: (failed, { error }) => {
      leaveUpstreamBody(request)
      void failed.send(rendererFailure(error))
    }
  })
}
