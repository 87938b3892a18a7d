import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto'
import type { Logger } from 'pino'
import type { IncomingCall } from './incoming-call.js'

/** Whether a call comes from a gateway, which speaks for clients of its own. */
export type IsGateway = (call: IncomingCall) => boolean

/** Milliseconds between two warnings of one kind. */
const WARN_EVERY = 60_000

/**
 * A peer is a gateway when it sends the secret, or when its certificate, which the authority vouches for, is for
 * `name`: a DNS name among its subject alternative names or, without any, its common name. Another certificate of the
 * same authority is an internal caller's.
 */
export function gatewayPeers(
  { secret, name }: { readonly secret: string | undefined; readonly name: string },
  { log, now }: { readonly log: Logger; readonly now: () => number }
): IsGateway {
  const expected = secret === undefined ? undefined : digest(secret)
  let warned = -Infinity
  return (call) => {
    const [sent, ...others] = call.gatewaySecrets
    if (sent !== undefined && others.length === 0 && expected !== undefined) {
      if (timingSafeEqual(digest(sent), expected)) return true
      if (now() - warned >= WARN_EVERY) {
        warned = now()
        log.warn({ peer: call.peerAddress }, 'a caller sends another GATEWAY_SECRET than this process has')
      }
    }
    const certificate = call.peerCertificate()
    return certificate !== undefined && isFor(certificate, name)
  }
}

function isFor(der: Buffer, name: string): boolean {
  return new X509Certificate(der).checkHost(name, { wildcards: false }) !== undefined
}

/** Of one length, whatever the secret's: the comparison tells nothing of it. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
