/** Holds the access token, a JWT. */
export const ACCESS_COOKIE = 'app_auth_access'
/** Holds the refresh token. */
export const REFRESH_COOKIE = 'app_auth_refresh'

/**
 * The distinct values of a cookie in a `Cookie` header, as sent; blank ones are left out. More than one means that
 * somebody else set a cookie of this name too (a neighbour on the domain can): nobody can tell which is whose.
 */
export function cookieValues(header: string | null | undefined, name: string): string[] {
  const values = new Set<string>()
  for (const pair of cookiePairs(header)) if (pair.name === name && pair.value !== '') values.add(pair.value)
  return [...values]
}

/** Name and value of each cookie, in order. Names are case-sensitive; what has no `=` is a value without a name. */
export function cookiePairs(header: string | null | undefined): { readonly name: string; readonly value: string }[] {
  if (header === undefined || header === null) return []
  return header.split(';').flatMap((part) => {
    const text = part.trim()
    const at = text.indexOf('=')
    if (text === '') return []
    return [{ name: text.slice(0, Math.max(at, 0)).trimEnd(), value: text.slice(at + 1).trimStart() }]
  })
}

const BASE64URL = /^[A-Za-z0-9_-]+$/

/**
 * What a JWT in compact form says of itself; undefined where it is none. NOTHING here is verified: anybody can write
 * such a text. The signature may be anything, and absent.
 */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [header, payload, signature, ...more] = token.split('.')
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined
  if (signature !== '' && !BASE64URL.test(signature)) return undefined
  return jsonObject(header) === undefined ? undefined : jsonObject(payload)
}

function jsonObject(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!BASE64URL.test(part)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'))
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Seconds since 1970 under a claim; undefined unless it is a number. */
export function timeClaim(claims: Readonly<Record<string, unknown>>, name: 'exp' | 'iat'): number | undefined {
  const value = claims[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Who the access cookie says is signed in. For display only. */
export interface SessionPrincipal {
  /** `sub`. */
  readonly nameIdentifier: string | undefined
  /** `name`, for greeting. */
  readonly name: string | undefined
  /** `role`, a text or a list of texts. */
  readonly roles: readonly string[]
}

export type SessionCookieResult =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'failure'
      readonly message: 'Session cookie is not a valid JWT.' | 'Session cookie JWT is expired.'
    }
  | { readonly kind: 'success'; readonly principal: SessionPrincipal }

/**
 * The `SessionCookie` scheme: who a server-rendered page should greet.
 *
 * IT VERIFIES NO SIGNATURE. It reads the JWT in `app_auth_access`, checks its expiry and nothing else, so anybody who
 * can send a cookie can be anybody here. Decide nothing by the result but what a page shows of what the visitor could
 * know anyway; whatever matters is asked of the API, which validates tokens in full.
 *
 * No cookie, a blank one, and several with different values are `none`; a JWT without `exp` is expired.
 *
 * @param cookieHeader the request's `Cookie` header; undefined (Node) or null (Fetch's `headers.get`) for none
 * @param clock milliseconds since 1970
 */
export function readSessionCookie(
  cookieHeader: string | null | undefined,
  clock: () => number = Date.now
): SessionCookieResult {
  const [token, ...others] = cookieValues(cookieHeader, ACCESS_COOKIE)
  if (token === undefined || others.length > 0) return { kind: 'none' }
  const claims = unverifiedClaims(token)
  if (claims === undefined) return { kind: 'failure', message: 'Session cookie is not a valid JWT.' }
  const expiry = timeClaim(claims, 'exp')
  if (expiry === undefined || expiry * 1000 <= clock()) {
    return { kind: 'failure', message: 'Session cookie JWT is expired.' }
  }
  const { sub, name, role } = claims
  return {
    kind: 'success',
    principal: { nameIdentifier: textClaim(sub), name: textClaim(name), roles: textClaims(role) }
  }
}

function textClaim(claim: unknown): string | undefined {
  return typeof claim === 'string' ? claim : undefined
}

function textClaims(claim: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}
