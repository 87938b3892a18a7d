import { ACCESS_COOKIE } from './cookie-names.js'
import { cookieValues } from './cookie-values.js'
import { timeClaim, unverifiedClaims } from './unverified-claims.js'

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
 * @param cookieHeader the request's `Cookie` header
 * @param clock milliseconds since 1970
 */
export function readSessionCookie(
  cookieHeader: string | undefined,
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
    principal: { nameIdentifier: text(sub), name: text(name), roles: texts(role) }
  }
}

function text(claim: unknown): string | undefined {
  return typeof claim === 'string' ? claim : undefined
}

function texts(claim: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}
