import { accessToken, forgetAccessToken } from './access-token.js'
import { API_BASE } from './api-base.js'
import { ApiFailure, NotSignedIn } from './api-failure.js'

interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT'
  readonly body?: object
  /** The version of the row that the change is based on. */
  readonly rowVersion?: string
  /** For a create request: with the same key a repetition creates nothing a second time. */
  readonly idempotencyKey?: string
}

/**
 * Calls the API as the signed-in user and returns the body. Throws NotSignedIn, or an ApiFailure for a response that is
 * not a success. If the API rejects the token, the call is repeated once with a new one.
 */
export async function callApi<Body>(path: string, call: ApiCall = {}): Promise<Body> {
  const response = await authorized(path, call)
  return (await response.json()) as Body
}

/** The rows of a page, and the cursor of the page after it; undefined for the last page. Throws as callApi does. */
export async function callPage<Row>(
  path: string
): Promise<{ readonly rows: readonly Row[]; readonly next: string | undefined }> {
  const response = await authorized(path, {})
  return {
    rows: (await response.json()) as Row[],
    next: response.headers.get('x-next-cursor') ?? undefined
  }
}

async function authorized(path: string, call: ApiCall): Promise<Response> {
  let response = await send(path, call)
  if (response.status === 401) {
    forgetAccessToken()
    response = await send(path, call)
  }
  if (response.status === 401) throw new NotSignedIn('The session is over.')
  if (!response.ok) throw await ApiFailure.of(response)
  return response
}

async function send(path: string, { method = 'GET', body, rowVersion, idempotencyKey }: ApiCall): Promise<Response> {
  const token = await accessToken()
  if (token === undefined) throw new NotSignedIn('Nobody is signed in.')
  return fetch(API_BASE + path, {
    method,
    // The API takes no cookies as credentials.
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

/** A random key. `crypto.randomUUID` is not used because it exists on secure origins only. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
