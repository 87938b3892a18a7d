import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { timeClaim, unverifiedClaims } from '../../shared/session-cookie/read-session-cookie.js'
import { acceptsHtml } from '../http/negotiation.js'
import { sentCookies, withSession } from './cookies.js'
import { authCall, type SessionTools } from './session-tools.js'

/** The maximum number of milliseconds before its expiry at which a token is refreshed. */
const MAX_SKEW = 30_000

/** Milliseconds that a page waits for a refresh. After them it is rendered anonymously, and the cookies are kept. */
const PAGE_REFRESH_TIMEOUT = 2000

/**
 * Refreshes an expired access token before a page is rendered, so that the page is rendered for its user (source.md,
 * Browser session cookies, rule 4). If the refresh fails, the page is rendered anonymously.
 */
export class HtmlRefresh {
  readonly #tools: SessionTools
  readonly #log: Logger
  /** The `Cookie` headers for the renderer, of requests for which they differ from those that the client sent. */
  readonly #changed = new WeakMap<FastifyRequest, string | undefined>()

  constructor(tools: SessionTools, log: Logger) {
    this.#tools = tools
    this.#log = log
  }

  /** Refreshes if necessary and sets the new cookies on the reply. Never rejects. Call it before the cookies are read. */
  async refresh(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const header = request.headers.cookie
    const sent = sentCookies(header)
    if (sent.ambiguous) this.#changed.set(request, withSession(header, undefined))
    if (sent.refresh === undefined || !isNavigation(request) || !this.#isDue(sent.access)) return
    try {
      const session = await this.#tools.refresh.refresh(authCall(request), sent.refresh, PAGE_REFRESH_TIMEOUT)
      this.#changed.set(request, withSession(header, session))
      if (session !== undefined) this.#tools.cookies.set(reply, session)
    } catch (error) {
      const code = error instanceof DomainError ? error.code : 'internal'
      this.#log.warn({ requestId: request.id, code, err: error }, 'a page is rendered without a refresh')
    }
  }

  /** The `Cookie` header for the renderer: with the new cookies, or without those of a session that has ended. */
  cookiesOf(request: FastifyRequest): string | undefined {
    return this.#changed.has(request) ? this.#changed.get(request) : request.headers.cookie
  }

  /**
   * Whether the token is absent, unreadable, expired or about to expire. The signature is not verified, because this
   * decides about no access.
   */
  #isDue(access: string | undefined): boolean {
    const claims = access === undefined ? undefined : unverifiedClaims(access)
    const expiry = claims && timeClaim(claims, 'exp')
    if (claims === undefined || expiry === undefined) return true
    const lifetime = (expiry - (timeClaim(claims, 'iat') ?? expiry)) * 1000
    const skew = Math.min(MAX_SKEW, Math.max(0, lifetime / 10))
    return expiry * 1000 - skew <= this.#tools.now().getTime()
  }
}

function isNavigation({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && acceptsHtml(headers.accept)
}
