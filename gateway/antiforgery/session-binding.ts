import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { unverifiedClaims } from '../../shared/session-cookie/unverified-claims.js'
import { isGenuine } from '../session/check-access-token.js'
import { sentCookies } from '../session/sent-cookies.js'
import { authCall, type SessionTools } from '../session/session-tools.js'

/**
 * The session that an antiforgery token is made for, as bytes that are signed with it: a hash of issuer, subject and the
 * claim `sid`; nothing for no session. Neither expiry nor anything else of the access token counts, so a token outlives
 * refreshes and ends with the session. A token of an outside issuer may have no `sid`, as may one that was minted before
 * the claim was: the empty text stands for it, and all such sessions of one subject are one.
 */
export type SessionBinding = Buffer

const NO_SESSION: SessionBinding = Buffer.alloc(0)

/**
 * The session that the cookies of a request belong to, by the word of its access cookie: whoever could have forged that
 * would have put the visitor in a session of the forger's, and nothing is done in it by the visitor's. undefined where a
 * refresh cookie stands beside an access cookie that is missing or no JWT: there is a session, and which cannot be told.
 */
export function claimedSession(cookieHeader: string | undefined): SessionBinding | undefined {
  const { access, refresh } = sentCookies(cookieHeader)
  const { iss, sub, sid } = (access === undefined ? undefined : unverifiedClaims(access)) ?? {}
  if (typeof iss !== 'string' || typeof sub !== 'string') return refresh === undefined ? NO_SESSION : undefined
  return createHash('sha256')
    .update(JSON.stringify([iss, sub, typeof sid === 'string' ? sid : '']))
    .digest()
}

/**
 * The session of a request whose access cookie is signed by an accepted issuer, expired or not; no session for any other
 * request. Throws `upstream.unavailable` where the keys cannot be had: by an unverified cookie anybody could get tokens of
 * anybody's session.
 */
export async function provenSession(request: FastifyRequest, tools: SessionTools): Promise<SessionBinding> {
  const { cookie } = request.headers
  const { access } = sentCookies(cookie)
  if (access === undefined || !(await isGenuine(access, authCall(request), tools))) return NO_SESSION
  return claimedSession(cookie) ?? NO_SESSION
}
