import { API_BASE } from './api-base.js'
import { ApiFailure } from './api-failure.js'

/** The body of the response to `POST /auth/session/token`. */
interface SessionToken {
  readonly accessToken: string
  /** RFC 3339. */
  readonly accessTokenExpiry: string
}

/** A token is not used any more within this number of milliseconds before its expiry. */
const SKEW = 5000

/** The token is only in the memory of this page, because every script of the site can read the browser's storage. */
let held: Promise<SessionToken | undefined> | undefined

/** The access token of the signed-in user; undefined if nobody is signed in. Concurrent calls share one request. */
export async function accessToken(): Promise<string | undefined> {
  const used = (held ??= fetchToken())
  try {
    const token = await used
    if (token === undefined || Date.parse(token.accessTokenExpiry) - Date.now() <= SKEW) forget(used)
    return token?.accessToken
  } catch (error) {
    forget(used)
    throw error
  }
}

/** Call this if the API rejected the token. The next call of `accessToken` then requests a new one. */
export function forgetAccessToken(): void {
  held = undefined
}

/** Forgets the token unless a new one has been requested meanwhile. */
function forget(used: Promise<SessionToken | undefined>): void {
  if (held === used) held = undefined
}

async function fetchToken(): Promise<SessionToken | undefined> {
  const response = await fetch(`${API_BASE}/auth/session/token`, { method: 'POST' })
  if (response.status === 401) return undefined
  if (!response.ok) throw await ApiFailure.of(response)
  return (await response.json()) as SessionToken
}
