import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../shared/session-cookie/cookie-names.js'
import { cookiePairs, cookieValues } from '../../shared/session-cookie/cookie-values.js'

/** The session cookies of a request. */
export interface SentCookies {
  readonly access: string | undefined
  readonly refresh: string | undefined
  /**
   * Whether a cookie came with several values. A neighbour on the domain can add its own beside ours, and which is whose
   * cannot be told: such a request has no session, and its cookies are left alone, for expiring ours would leave the
   * other one to speak for the user.
   */
  readonly ambiguous: boolean
}

export function sentCookies(header: string | undefined): SentCookies {
  const access = cookieValues(header, ACCESS_COOKIE)
  const refresh = cookieValues(header, REFRESH_COOKIE)
  return access.length > 1 || refresh.length > 1
    ? { access: undefined, refresh: undefined, ambiguous: true }
    : { access: access[0], refresh: refresh[0], ambiguous: false }
}

/** A request has one refresh cookie; who sends more does not make as many calls of the data service. */
const MOST_ENDED = 4

/** Of the sessions that end with a request, several where it cannot be told whose is whose. */
export function sentRefreshTokens(header: string | undefined): string[] {
  return cookieValues(header, REFRESH_COOKIE).slice(0, MOST_ENDED)
}

/** The `Cookie` header with these session cookies in place of those it had; undefined where nothing is left. */
export function withSession(
  header: string | undefined,
  session: { readonly accessToken: string; readonly refreshToken: string } | undefined
): string | undefined {
  const others = cookiePairs(header).filter(({ name }) => name !== ACCESS_COOKIE && name !== REFRESH_COOKIE)
  const parts = others.map(({ name, value }) => (name === '' ? value : `${name}=${value}`))
  if (session !== undefined) {
    parts.push(`${ACCESS_COOKIE}=${session.accessToken}`, `${REFRESH_COOKIE}=${session.refreshToken}`)
  }
  return parts.length === 0 ? undefined : parts.join('; ')
}
