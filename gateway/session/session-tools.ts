import type { FastifyRequest } from 'fastify'
import type { AuthCall, AuthClient } from '../auth-client.js'
import { clientAddress } from '../client-address.js'
import type { GatewayConfig } from '../config.js'
import { PublishedKeys } from './published-keys.js'
import { SessionCookies } from './session-cookies.js'
import { SessionRefresh } from './session-refresh.js'

/** What the session endpoints and the pages share. */
export interface SessionTools {
  readonly auth: AuthClient
  readonly cookies: SessionCookies
  readonly refresh: SessionRefresh
  readonly keys: PublishedKeys
  readonly now: () => Date
}

export function sessionTools(
  auth: AuthClient,
  { cookieSecure: secure, refreshTokenTtl: lifetime }: Pick<GatewayConfig, 'cookieSecure' | 'refreshTokenTtl'>,
  now: () => Date
): SessionTools {
  return {
    auth,
    cookies: new SessionCookies({ secure, lifetime, now }),
    refresh: new SessionRefresh(auth),
    keys: new PublishedKeys(auth, now),
    now
  }
}

export function authCall(request: FastifyRequest): AuthCall {
  return { requestId: request.id, traceparent: request.traceparent, clientAddress: clientAddress(request) }
}
