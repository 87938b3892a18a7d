import type { RevokeRequest__Output } from '../../shared/gen/auth/v1/RevokeRequest.js'
import type { RevokeResponse } from '../../shared/gen/auth/v1/RevokeResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { Authenticating } from './authenticating.js'
import { parseRefreshToken, tokenKeys } from './refresh-token.js'
import { sessionId } from './sessions.js'
import { ownSubject, trail } from './trail.js'

/** Ends the family of any of its tokens, used ones too. What nobody knows is as good as revoked. */
export function revoke(by: Authenticating): UnaryHandler<RevokeRequest__Output, RevokeResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    const entry = { event: 'logout', clientAddress } as const
    const found =
      token &&
      (await by.store.transaction(signal, async (unit) => {
        const family = await unit.lockFamilyOf(tokenKeys(token))
        if (family === undefined) return undefined
        if (family.revokedAt === null) await unit.revokeFamily(family.id, by.now())
        return { family, account: await unit.getAccount(family.accountId) }
      }))
    if (found === undefined) {
      trail(log, { ...entry, outcome: 'unknown', account: undefined, reason: 'unknown refresh token' })
      return {}
    }
    const { family, account } = found
    trail(log, {
      ...entry,
      outcome: 'success',
      account: account && ownSubject(by, account),
      session: sessionId(family.id),
      ...(family.revokedAt === null ? {} : { reason: 'the session was over already' })
    })
    return {}
  }
}
