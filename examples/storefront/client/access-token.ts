/** What `POST /auth/session/token` answers. */
interface SessionToken {
  readonly accessToken: string
  /** RFC 3339. */
  readonly accessTokenExpiry: string
}

/** Milliseconds before its expiry from which a token is not used any more. */
const SKEW = 10_000

/** In this page's memory and nowhere else: what storage holds, every script of the site can read. */
let held: Promise<SessionToken | undefined> | undefined

/** The access token of whoever is signed in; undefined for nobody. Calls at the same moment share one request. */
export async function accessToken(): Promise<string | undefined> {
  held ??= fetchToken()
  const token = await held.catch((error: unknown) => {
    held = undefined
    throw error
  })
  if (token === undefined || Date.parse(token.accessTokenExpiry) - Date.now() > SKEW) return token?.accessToken
  held = fetchToken()
  return (await held)?.accessToken
}

/** The API refused it, or the session changed: the next call asks anew. */
export function forgetAccessToken(): void {
  held = undefined
}

async function fetchToken(): Promise<SessionToken | undefined> {
  const response = await fetch('/auth/session/token', { method: 'POST' })
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`The session cannot be had at the moment (${response.status}).`)
  return (await response.json()) as SessionToken
}
