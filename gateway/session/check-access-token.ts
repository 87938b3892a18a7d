import { type Claims, TokenRefused, verifyToken } from '../../shared/access-token/verify-token.js'
import type { AuthCall } from '../auth-client.js'
import type { PublishedKeys } from './published-keys.js'

/**
 * Checks an access token in full, signature included, and answers when it ends; undefined for one that is not valid.
 * Throws where the keys cannot be had.
 */
export async function checkAccessToken(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<Date | undefined> {
  const claims = await verified(token, call, { ...by, acceptExpired: false })
  return claims && new Date(claims.exp * 1000)
}

/**
 * Whether an accepted issuer has signed an access token, which may have expired since. Throws where the keys cannot be had.
 */
export async function isGenuine(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<boolean> {
  return (await verified(token, call, { ...by, acceptExpired: true })) !== undefined
}

async function verified(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date; readonly acceptExpired: boolean }
): Promise<Claims | undefined> {
  const issuers = await by.keys.issuers(call)
  try {
    return await verifyToken(token, issuers, { now: () => by.now().getTime(), acceptExpired: by.acceptExpired })
  } catch (error) {
    if (error instanceof TokenRefused) return undefined
    throw error
  }
}
