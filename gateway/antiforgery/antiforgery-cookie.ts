import { cookieValues } from '../../shared/session-cookie/cookie-values.js'
import { setCookie } from '../session/set-cookie.js'

const NAME = 'app_antiforgery'

/** The cookie in a `Cookie` header; undefined where there is none, or several of which one may be a neighbour's. */
export function antiforgeryCookieIn(header: string | undefined): string | undefined {
  const values = cookieValues(header, NAME)
  return values.length === 1 ? values[0] : undefined
}

/** The `Set-Cookie` line. The cookie ends with the browser's session: a page without one asks for another. */
export function antiforgerySetCookie(value: string, secure: boolean): string {
  return setCookie(NAME, value, { secure })
}
