import { API_BASE } from './api-base.js'
import { ApiFailure } from './api-failure.js'

/** What `POST /auth/session/token` answers. */
interface SessionToken {
  readonly accessToken: string
  /** RFC 3339. */
  readonly accessTokenExpiry: string
}

/** Milliseconds before its expiry from which a token is not used any more. */
const SKEW = 5000

/** In this page's memory and nowhere else: what storage holds, every script of the site can read. */
let held: Promise<SessionToken | undefined> | undefined

/** The access token of whoever is signed in; undefined for nobody. Calls at the same moment share one request. */
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

/** The API refused it: the next call asks anew. */
export function forgetAccessToken(): void {
  held = undefined
}

/** Unless somebody asked anew meanwhile. */
function forget(used: Promise<SessionToken | undefined>): void {
  if (held === used) held = undefined
}

async function fetchToken(): Promise<SessionToken | undefined> {
  const response = await fetch(`${API_BASE}/auth/session/token`, { method: 'POST' })
  if (response.status === 401) return undefined
  if (!response.ok) throw await ApiFailure.of(response)
  return (await response.json()) as SessionToken
}
