import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from '../shared/logger.js'
import { forwardedAddress } from './headers/forwarded-origin.js'
import type { TrustedProxies } from './settings/trusted-proxies.js'

/** Whom a request is from: what trusted proxies tell, unless that is no address, else who connected. */
export function clientAddress({ ip, socket }: ClientRequest): string {
  return (ip === undefined ? undefined : forwardedAddress(ip)) ?? socket.remoteAddress ?? ''
}

/** Fastify says that `ip` is always there. It is not once the client has gone, and neither is the socket's address. */
type ClientRequest = Pick<FastifyRequest, 'socket'> & { readonly ip: string | undefined }

/**
 * Warns, once in the life of the process, of an `X-Forwarded-For` that is not believed. Behind a proxy that
 * `TRUSTED_PROXIES` does not name, all clients have one address: its own.
 */
export const untrustedProxyWarning = fp<{ trustedProxies: TrustedProxies; log: Logger }>(
  async (app, { trustedProxies, log }) => {
    let warned = false
    app.addHook('onRequest', ({ headers, socket }, _reply, done) => {
      if (!warned && headers['x-forwarded-for'] !== undefined && !trustedProxies.trusts(socket.remoteAddress)) {
        warned = true
        log.warn(
          { peer: socket.remoteAddress },
          'X-Forwarded-For is ignored, since the peer is not in TRUSTED_PROXIES: all clients behind it count as one address. If it is a proxy of yours, add its address there'
        )
      }
      done()
    })
  },
  { name: 'untrusted-proxy-warning', fastify: '5.x' }
)
