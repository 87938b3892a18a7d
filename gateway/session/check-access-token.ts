import { TokenRefused, verifyToken } from '../../shared/access-token/verify-token.js'
import type { AuthCall } from '../auth-client.js'
import type { PublishedKeys } from './published-keys.js'

/** The last moment that a Date can hold, in milliseconds. */
const LAST_MOMENT = 8.64e15

/**
 * Checks an access token in full, signature included, and answers when it ends; undefined for one that is not valid.
 * Throws where the keys cannot be had.
 */
export async function checkAccessToken(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<Date | undefined> {
  const issuers = await by.keys.issuers(call)
  try {
    const { exp } = await verifyToken(token, issuers, () => by.now().getTime())
    return new Date(Math.min(exp * 1000, LAST_MOMENT))
  } catch (error) {
    if (error instanceof TokenRefused) return undefined
    throw error
  }
}
