import type { FastifyReply } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import { escapeHtml, HTML_HEADERS, htmlPage } from '../html-page.js'

/** Codes of undici and of @fastify/reply-from for a renderer that takes too long. */
const TIME_OUTS: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'FST_REPLY_FROM_TIMEOUT',
  'FST_REPLY_FROM_GATEWAY_TIMEOUT'
])

/** What went wrong between gateway and renderer: 504 for one that takes too long, else 502. */
export function rendererFailure(error: unknown): DomainError {
  const late = codesOf(error).some((code) => TIME_OUTS.has(code))
  return late
    ? new DomainError('upstream.timeout', 'The page took too long.', { title: 'The page took too long', cause: error })
    : new DomainError('upstream.bad-gateway', 'The page cannot be had at the moment.', {
        title: 'The page cannot be had at the moment',
        cause: error
      })
}

/** Of the error and of all that caused it. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  return [...own, ...codesOf(error.cause)]
}

/** The failure as a page, for people. */
export function sendFailurePage(reply: FastifyReply, failure: DomainError, requestId: string): FastifyReply {
  const title = failure.title ?? failure.message
  return reply
    .code(failure.code === 'upstream.timeout' ? 504 : 502)
    .headers({ ...HTML_HEADERS, 'cache-control': 'no-store' })
    .send(
      htmlPage(
        title,
        `<h1>${escapeHtml(title)}</h1>
<p>Nothing is lost. Try again in a moment; you stay signed in.</p>
<p><small>Request <code>${escapeHtml(requestId)}</code></small></p>`
      )
    )
}
