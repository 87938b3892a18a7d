import type { FastifyReply } from 'fastify'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../shared/session-cookie/cookie-names.js'
import { setCookie } from './set-cookie.js'

/** An open session with the end of its refresh token, RFC 3339. */
interface OpenSession {
  readonly accessToken: string
  readonly refreshToken: string
  readonly refreshTokenExpiry: string
}

/** Sets and expires the two cookies, always with the same attributes. Both live as long as the refresh token. */
export class SessionCookies {
  readonly #secure: boolean
  readonly #lifetime: number
  readonly #now: () => Date

  /** `lifetime` of refresh tokens in milliseconds, for those whose end is not known. */
  constructor(of: { readonly secure: boolean; readonly lifetime: number; readonly now: () => Date }) {
    this.#secure = of.secure
    this.#lifetime = of.lifetime
    this.#now = of.now
  }

  set(reply: FastifyReply, session: OpenSession): void {
    const left = Date.parse(session.refreshTokenExpiry) - this.#now().getTime()
    this.#write(reply, [session.accessToken, session.refreshToken], Number.isNaN(left) ? this.#lifetime : left)
  }

  /** Tokens that a client brings. Without a refresh token that cookie stays as it is. */
  mirror(reply: FastifyReply, accessToken: string, refreshToken: string | undefined): void {
    this.#write(reply, [accessToken, refreshToken], this.#lifetime)
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
