import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AntiforgeryCheck } from '../antiforgery/antiforgery-check.js'
import type { HtmlRefresh } from '../session/html-refresh.js'

/** What the browser session does for a page. */
export interface PageSession {
  /** Refreshes what has expired before the page is rendered, and sets the fresh cookies on the reply; never rejects. */
  refresh(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** The `Cookie` header as it is after that. */
  cookiesOf(request: FastifyRequest): string | undefined
  /** Throws `antiforgery.invalid` for an unsafe request without its token. It may read a form, and leaves its bytes. */
  checkAntiforgery(request: FastifyRequest): Promise<void>
}

export function pageSession(refresh: HtmlRefresh, antiforgery: AntiforgeryCheck): PageSession {
  return {
    refresh: (request, reply) => refresh.refresh(request, reply),
    cookiesOf: (request) => refresh.cookiesOf(request),
    checkAntiforgery: (request) => antiforgery.check(request)
  }
}
