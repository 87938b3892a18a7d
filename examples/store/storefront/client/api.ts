import { accessToken, forgetAccessToken } from './access-token.js'
import { API_BASE } from './api-base.js'
import { ApiFailure, NotSignedIn } from './api-failure.js'

interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly body?: object
  /** Version of the row that a change was made from. */
  readonly rowVersion?: string
  /** For a create: sent again with it, it makes nothing twice. */
  readonly idempotencyKey?: string
}

/**
 * Calls the API as whoever is signed in and answers the body. Throws NotSignedIn, or an ApiFailure for what is no
 * success. A token that is refused is fetched anew, once.
 */
export async function callApi<Body>(path: string, call: ApiCall = {}): Promise<Body> {
  let response = await send(path, call)
  if (response.status === 401) {
    forgetAccessToken()
    response = await send(path, call)
  }
  if (response.status === 401) throw new NotSignedIn('The session is over.')
  if (!response.ok) throw await ApiFailure.of(response)
  return (await response.json()) as Body
}

async function send(path: string, { method = 'GET', body, rowVersion, idempotencyKey }: ApiCall): Promise<Response> {
  const token = await accessToken()
  if (token === undefined) throw new NotSignedIn('Nobody is signed in.')
  return fetch(API_BASE + path, {
    method,
    // Cookies are no credential of the API.
    credentials: 'omit',
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(rowVersion === undefined ? {} : { 'if-match': `W/"${rowVersion}"` }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey })
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
}

/** A key that nobody else uses; `crypto.randomUUID` is there on secure origins alone. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
