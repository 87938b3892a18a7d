import type { FastifyReply } from 'fastify'
import {
  ACCESS_COOKIE,
  cookiePairs,
  cookieValues,
  REFRESH_COOKIE,
  unverifiedClaims
} from '../../shared/session-cookie/read-session-cookie.js'
import { setCookie } from '../http/cookies.js'

/** An open session. `refreshTokenExpiry` is RFC 3339. */
interface OpenSession {
  readonly accessToken: string
  readonly refreshToken: string
  readonly refreshTokenExpiry: string
}

/**
 * Sets and deletes the two session cookies, always with the same attributes. Both have the lifetime of the refresh token.
 */
export class SessionCookies {
  readonly #secure: boolean
  readonly #lifetime: number
  readonly #now: () => Date

  /** `lifetime`: milliseconds that a refresh token lives, used where its expiry is not known. */
  constructor(of: { readonly secure: boolean; readonly lifetime: number; readonly now: () => Date }) {
    this.#secure = of.secure
    this.#lifetime = of.lifetime
    this.#now = of.now
  }

  set(reply: FastifyReply, session: OpenSession): void {
    const left = Date.parse(session.refreshTokenExpiry) - this.#now().getTime()
    this.#write(reply, [session.accessToken, session.refreshToken], Number.isNaN(left) ? this.#lifetime : left)
  }

  /**
   * Sets the cookies to tokens that the client sent. Without a refresh token the refresh cookie stays as it is, unless the
   * cookies of the request may be of another account: it would later turn the session into one of that account.
   */
  mirror(
    reply: FastifyReply,
    { accessToken, refreshToken }: { readonly accessToken: string; readonly refreshToken: string | undefined },
    header: string | undefined
  ): void {
    this.#write(reply, [accessToken, refreshToken], this.#lifetime)
    if (refreshToken !== undefined || !mayBeOfAnother(accessToken, header)) return
    reply.header('set-cookie', setCookie(REFRESH_COOKIE, '', { secure: this.#secure, maxAge: 0 }))
  }

  expire(reply: FastifyReply): void {
    this.#write(reply, ['', ''], 0)
  }

  #write(reply: FastifyReply, values: readonly [access: string, refresh: string | undefined], left: number): void {
    const [access, refresh] = values
    const attributes = { secure: this.#secure, maxAge: left === 0 ? 0 : Math.max(1, Math.ceil(left / 1000)) }
    const lines = [setCookie(ACCESS_COOKIE, access, attributes)]
    if (refresh !== undefined) lines.push(setCookie(REFRESH_COOKIE, refresh, attributes))
    reply.header('set-cookie', lines)
  }
}

/**
 * Whether a request has a refresh cookie, and no access cookie that says that it is of the account of the token. Neither is
 * verified.
 */
function mayBeOfAnother(accessToken: string, header: string | undefined): boolean {
  const { access, refresh } = sentCookies(header)
  if (refresh === undefined) return false
  const [now, before] = [accessToken, access ?? ''].map(unverifiedClaims)
  return now?.['sub'] === undefined || now['iss'] !== before?.['iss'] || now['sub'] !== before?.['sub']
}

/** The session cookies of a request. */
interface SentCookies {
  readonly access: string | undefined
  readonly refresh: string | undefined
  /**
   * Whether a cookie has several values. Another site of the same domain can set a cookie of the same name, and the two
   * cannot be told apart. Such a request has no session. Its cookies are not deleted: if ours were, the other site's
   * cookie would remain and decide who the user is.
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

/** A normal request has one refresh cookie. A client that sends many must not cause a call to the data service for each. */
const MAX_ENDED = 4

/** The refresh tokens whose sessions a login or logout ends. There are several if the cookies are ambiguous. */
export function sentRefreshTokens(header: string | undefined): string[] {
  return cookieValues(header, REFRESH_COOKIE).slice(0, MAX_ENDED)
}

/** The `Cookie` header with its session cookies replaced by these; undefined if no cookie is left. */
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

/** The `Cookie` header without the refresh token; undefined if no cookie is left. One that has none is left as it is. */
export function withoutRefreshToken(header: string | undefined): string | undefined {
  const pairs = cookiePairs(header)
  const others = pairs.filter(({ name }) => name !== REFRESH_COOKIE)
  if (others.length === pairs.length) return header
  const parts = others.map(({ name, value }) => (name === '' ? value : `${name}=${value}`))
  return parts.length === 0 ? undefined : parts.join('; ')
}
