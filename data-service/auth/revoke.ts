import type { RevokeRequest__Output } from '../../shared/gen/auth/v1/RevokeRequest.js'
import type { RevokeResponse } from '../../shared/gen/auth/v1/RevokeResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { Authenticating } from './authenticating.js'
import { hashOfToken, parseRefreshToken } from './refresh-token.js'

/** Ends the family of any of its tokens, used ones too. What nobody knows is as good as revoked. */
export function revoke({ store, now }: Authenticating): UnaryHandler<RevokeRequest__Output, RevokeResponse> {
  return async ({ signal }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    if (token === undefined) return {}
    await store.transaction(signal, async (unit) => {
      const family = await unit.lockFamilyOf(hashOfToken(token))
      if (family !== undefined && family.revokedAt === null) await unit.revokeFamily(family.id, now())
    })
    return {}
  }
}
