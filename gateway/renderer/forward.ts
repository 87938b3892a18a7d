import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, httpStatusOf } from '../../shared/errors.js'
import type { TrustedProxies } from '../http/client-address.js'
import { addVary, HOP_BY_HOP, listMembers } from '../http/header-fields.js'
import { escapeHtml, HTML_HEADERS, htmlPage } from '../http/html-page.js'
import { isReset } from '../http/json-body.js'
import { refusesHtml } from '../http/negotiation.js'
import type { PublicAddress } from '../http/public-address.js'
import { ignoreErrors } from '../server/connections.js'
import { OWN_ANSWERS } from '../../shared/own-answers.js'
import { type PageSession, rendererPath, splitPath } from './destination.js'

interface Forwarding {
  readonly base: URL
  readonly session: PageSession
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
}

/** How gateways name themselves in `CDN-Loop` (RFC 8586). */
export const LOOP_NAME = 'uniform-rest'

const SESSION_COOKIE = /(?:^|;)\s*app_auth_(?:access|refresh)\s*=/

/** Forwards a request to the renderer and its response to the client. */
export function forward(
  request: FastifyRequest,
  reply: FastifyReply,
  { base, session, address, trustedProxies }: Forwarding
): FastifyReply {
  const cookie = session.cookiesOf(request)
  const publicBase = new URL(address.baseFor(request))
  const remote = request.socket.remoteAddress ?? ''
  const proxies = trustedProxies.trusts(remote) ? request.headers['x-forwarded-for'] : undefined
  /** Names of the headers that the reply has from the renderer alone. */
  let theirs: readonly string[] = []
  const { before, last } = splitPath(rendererPath(request.url, base), base)
  return reply.from(last, {
    getUpstream: () => before,
    // No retry: the request may not be idempotent, and the user can try again.
    retryDelay: () => null,
    rewriteRequestHeaders: (_request, headers) => ({
      ...upstreamHeaders(
        headers,
        {
          requestId: request.id,
          traceparent: request.traceparent,
          cookie,
          host: publicBase.host,
          proto: publicBase.protocol.slice(0, -1),
          forwardedFor: [proxies ?? [], remote].flat().join(', '),
          loop: [request.headers['cdn-loop'] ?? [], LOOP_NAME].flat().join(', ')
        },
        request.body !== undefined && request.body !== null
      ),
      host: base.host
    }),
    rewriteHeaders: (headers) => {
      // From here on the answer is the renderer's.
      for (const name of Object.keys(OWN_ANSWERS)) reply.removeHeader(name)
      const own = reply.getHeaders()
      const ours = [reply.getHeader('vary') ?? []].flat().map(String)
      const varies = ours.some((names) => names.includes('Accept'))
      const setsCookies = reply.getHeader('set-cookie') !== undefined
      // The cookies as the client sent them: the answer to an expired session must be kept out of shared caches too.
      const personal = SESSION_COOKIE.test(request.headers.cookie ?? '')
      const page = downstreamHeaders(headers, { personal, setsCookies, varies })
      const sent = Object.fromEntries(Object.entries(page).filter(([name]) => !(name in own) || MERGED.has(name)))
      theirs = Object.keys(sent).filter((name) => !(name in own))
      return sent
    },
    onResponse: (_request, _reply, { stream }) => {
      const isPage = HTML_TYPE.test(String(reply.getHeader('content-type')))
      if (reply.statusCode !== 404 || !isPage) return void reply.send(stream)
      varyByAccept(reply)
      if (!refusesHtml(request.headers.accept)) return void reply.send(stream)
      // The connection to the renderer can be used again once its page has been read.
      ignoreErrors(stream).resume()
      for (const name of theirs) reply.removeHeader(name)
      reply.headers(OWN_ANSWERS)
      void reply.send(nothingHere())
    },
    onError: (failed, { error }) => {
      drainBody(request)
      void failed.send(rendererFailure(error))
    }
  })
}

/** The headers in which the renderer's value holds the gateway's. All others that the gateway has set are its own alone. */
const MERGED: ReadonlySet<string> = new Set(['vary', 'cache-control', 'set-cookie'])

const HTML_TYPE = /^text\/html(?:[\t ;]|$)/i

/** Neither the gateway nor the renderer has anything at the path. */
export function nothingHere(): DomainError {
  return new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
}

/** States that `Accept` decides what the response is. */
export function varyByAccept(reply: FastifyReply): void {
  reply.header('vary', addVary(String(reply.getHeader('vary') ?? ''), ['Accept']))
}

/** The codes of timeouts in undici and in @fastify/reply-from. */
const TIMEOUT_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'FST_REPLY_FROM_TIMEOUT',
  'FST_REPLY_FROM_GATEWAY_TIMEOUT'
])

/** The error for a failure between gateway and renderer: 504 for a timeout, else 502. */
function rendererFailure(error: unknown): DomainError {
  const isTimeout = errorCodesOf(error).some((code) => TIMEOUT_CODES.has(code))
  return isTimeout
    ? new DomainError('upstream.timeout', 'The page took too long.', { title: 'The page took too long', cause: error })
    : new DomainError('upstream.bad-gateway', 'The page is not available at the moment.', {
        title: 'The page is not available at the moment',
        cause: error
      })
}

/** The codes of an error and of its causes. */
function errorCodesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  return [...own, ...errorCodesOf(error.cause)]
}

/** Answers the failure as an HTML page. */
export function sendFailurePage(reply: FastifyReply, failure: DomainError, requestId: string): FastifyReply {
  const title = failure.title ?? failure.message
  const { retryAfter } = failure
  return reply
    .code(httpStatusOf(failure))
    .headers({ ...HTML_HEADERS, 'cache-control': 'no-store', ...(retryAfter && { 'retry-after': retryAfter }) })
    .send(
      htmlPage(
        title,
        `<h1>${escapeHtml(title)}</h1>
<p>Nothing is lost. Try again in a moment; you stay signed in.</p>
<p><small>Request <code>${escapeHtml(requestId)}</code></small></p>`
      )
    )
}

/**
 * A request's body for the renderer. The HTTP client destroys its body stream when the renderer fails. If that were the
 * request itself, the client could neither finish sending nor read its answer, so this stream stands in between.
 */
export function upstreamBody(raw: Readable): PassThrough {
  // Nobody may be reading when the client disconnects: the request may be rejected, or may not have been forwarded yet.
  const body = ignoreErrors(new PassThrough())
  const breakOff = (): void => void body.destroy(new DomainError('request.malformed', 'The body broke off.'))
  raw.pipe(body, { end: false })
  raw.once('end', () => (isReset(raw) ? breakOff() : body.end()))
  raw.once('close', () => {
    if (!raw.readableEnded) breakOff()
  })
  return body
}

/** Reads the rest of the request's body and discards it. */
export function drainBody({ raw }: FastifyRequest): void {
  raw.unpipe()
  raw.resume()
}

/** Header values that the gateway itself states to the renderer, instead of those of the client. */
interface TrustedValues {
  readonly requestId: string
  readonly traceparent: string | undefined
  /** The cookies, with refreshed ones instead of expired ones; undefined for none. */
  readonly cookie: string | undefined
  /** The host of the public base URL, and its scheme. */
  readonly host: string
  readonly proto: string
  /** The addresses from the client to the last proxy: the last one is the peer of the gateway's connection. */
  readonly forwardedFor: string
  /** `CDN-Loop` (RFC 8586), with this gateway as its last member. */
  readonly loop: string
}

/**
 * The headers of clients that the renderer gets. All others are left out: proxies and identity providers tell in headers
 * of their own who the user is, and no list of those would ever be complete (docs/decisions/015-the-renderer.md). `From`
 * is absent because it names a person, `Expect` because Node has answered it already.
 */
const FORWARDED_HEADERS: ReadonlySet<string> = new Set([
  // What is asked for, and what the client has of it (RFC 9110, RFC 9111, RFC 7240, RFC 9218).
  'accept',
  'cache-control',
  'date',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'pragma',
  'prefer',
  'priority',
  'range',
  'user-agent',
  // The body (RFC 9110, RFC 9530, RFC 6266). The HTTP client sets `Transfer-Encoding` itself.
  'content-digest',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'content-type',
  'digest',
  'idempotency-key',
  'repr-digest',
  'want-content-digest',
  'want-repr-digest',
  // Who asks, in a form that the renderer can verify.
  'authorization',
  'cookie',
  // The page from which a browser asks, and how it wants to be answered (Fetch, HTML, client hints).
  'access-control-request-headers',
  'access-control-request-method',
  'device-memory',
  'dnt',
  'downlink',
  'dpr',
  'ect',
  'origin',
  'ping-from',
  'ping-to',
  'purpose',
  'referer',
  'rtt',
  'save-data',
  'service-worker',
  'service-worker-navigation-preload',
  'upgrade-insecure-requests',
  'viewport-width',
  // Tracing (W3C Trace Context); the gateway sets `traceparent`.
  'tracestate',
  // Scripts of pages.
  'rsc',
  'x-csrf-token',
  'x-requested-with',
  'x-xsrf-token'
])

/**
 * The beginnings of further names that the renderer gets: of browsers (`Accept-`, `Sec-`), of the scripts of htmx, Turbo,
 * Inertia, Next.js and SvelteKit, and `Script-` for the scripts of any renderer.
 */
const FORWARDED_PREFIX =
  /^(?:accept|sec|hx|turbo|x-turbo|x-inertia|next|x-nextjs|x-sveltekit|script)-[a-z0-9-]+$|^x-inertia$/

function isForwarded(name: string): boolean {
  return FORWARDED_HEADERS.has(name) || FORWARDED_PREFIX.test(name)
}

/** The client's headers for the renderer, and those that the gateway sets. Headers that `Connection` names are removed before. */
export function upstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  trusted: TrustedValues,
  hasBody: boolean
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => isForwarded(name) && (hasBody || name !== 'content-length'))
  const { requestId, traceparent, cookie, host, proto, forwardedFor, loop } = trusted
  const sent: IncomingHttpHeaders = {
    ...Object.fromEntries(kept),
    'x-request-id': requestId,
    'x-forwarded-for': forwardedFor,
    'x-forwarded-host': host,
    'x-forwarded-proto': proto,
    'cdn-loop': loop,
    ...(traceparent === undefined ? {} : { traceparent })
  }
  delete sent.cookie
  if (cookie !== undefined) sent.cookie = cookie
  return sent
}

/** What decides the `Vary` and `Cache-Control` headers of a page. */
interface PageContext {
  /** Whether the request had session cookies, so that the page may contain data of its user. */
  readonly personal: boolean
  /** Whether the gateway sets cookies with this response. */
  readonly setsCookies: boolean
  /** Whether `Accept` decides between the page and the gateway's own representation. */
  readonly varies: boolean
}

/** The cookies of the session and of signing in, which only the gateway may set. */
const SESSION_SET_COOKIE = /^[\s=]*app_(?:auth_\w+|antiforgery)\s*=/

/** The renderer's headers for the browser. */
export function downstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  { personal, setsCookies, varies }: PageContext
): IncomingHttpHeaders {
  const listed = listMembers(headers.connection ?? '').map((name) => name.toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...listed, 'x-request-id', 'traceparent', 'set-cookie', 'vary'])
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
  const cookies = [headers['set-cookie'] ?? []].flat().filter((cookie) => !SESSION_SET_COOKIE.test(cookie))
  const hasNoCacheControl = headers['cache-control'] === undefined
  const names = [...(varies ? ['Accept'] : []), ...(setsCookies || (personal && hasNoCacheControl) ? ['Cookie'] : [])]
  const vary = addVary(headers.vary, names)
  return {
    ...sent,
    ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    ...(vary === undefined ? {} : { vary }),
    // A cache must not give a page with data of one user to another user.
    ...(setsCookies || (personal && hasNoCacheControl) ? { 'cache-control': 'private, no-store' } : {})
  }
}
