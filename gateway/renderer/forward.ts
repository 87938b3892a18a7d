import type { IncomingHttpHeaders } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { TrustedProxies } from '../http/client-address.js'
import { addVary, HOP_BY_HOP, listMembers, REQUEST_HOP_BY_HOP } from '../http/header-fields.js'
import { escapeHtml, HTML_HEADERS, htmlPage } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import { ignoreErrors } from '../server/connections.js'
import { type PageSession, rendererPath, splitPath } from './destination.js'

interface Forwarding {
  readonly base: URL
  readonly session: PageSession
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
}

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
          forwardedFor: [proxies ?? [], remote].flat().join(', ')
        },
        request.body !== undefined && request.body !== null
      ),
      host: base.host
    }),
    rewriteHeaders: (headers) => {
      const ours = [reply.getHeader('vary') ?? []].flat().map(String)
      const varies = ours.some((names) => names.includes('Accept'))
      const setsCookies = reply.getHeader('set-cookie') !== undefined
      // The cookies as the client sent them: the answer to an expired session must be kept out of shared caches too.
      const personal = SESSION_COOKIE.test(request.headers.cookie ?? '')
      return downstreamHeaders(headers, { personal, setsCookies, varies })
    },
    onError: (failed, { error }) => {
      drainBody(request)
      void failed.send(rendererFailure(error))
    }
  })
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
  const isTimeout = codesOf(error).some((code) => TIMEOUT_CODES.has(code))
  return isTimeout
    ? new DomainError('upstream.timeout', 'The page took too long.', { title: 'The page took too long', cause: error })
    : new DomainError('upstream.bad-gateway', 'The page cannot be had at the moment.', {
        title: 'The page cannot be had at the moment',
        cause: error
      })
}

/** The codes of an error and of its causes. */
function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const own = 'code' in error && typeof error.code === 'string' ? [error.code] : []
  return [...own, ...codesOf(error.cause)]
}

/** Answers the failure as an HTML page. */
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

/**
 * A request's body for the renderer. The HTTP client destroys its body stream when the renderer fails. If that were the
 * request itself, the client could neither finish sending nor read its answer, so this stream stands in between.
 */
export function upstreamBody(raw: Readable): PassThrough {
  // Nobody may be reading when the client disconnects: the request may be rejected, or may not have been forwarded yet.
  const body = ignoreErrors(new PassThrough())
  raw.pipe(body)
  raw.once('close', () => {
    if (!raw.readableEnded) body.destroy(new DomainError('request.malformed', 'The body broke off.'))
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
}

/** Headers by which proxies tell the origin of a request and its original form. A client could forge them. */
const PROXY_HEADER =
  /^(?:forwarded|via|(?:x-)?(?:true-|cluster-)?client-ip|x-cluster-client-ip|cf-connecting-ip|x-(?:forwarded|original|rewrite|real|envoy)(?:-.*)?|x-http-method(?:-override)?|x-method-override)$/

/**
 * Words in the names of headers by which proxies and identity providers tell who the user is, such as `X-Remote-User`,
 * `X-Auth-Request-Email` and `X-MS-CLIENT-PRINCIPAL-ID`. A list of whole names would never be complete, and browsers send no
 * headers with these words except those of ALLOWED_HEADERS.
 */
const IDENTITY_WORD =
  /^(?:account|anonymous|assertions?|auth|authelia|authentik|authenticated|cert|claims?|consumer|credentials?|customer|emails?|groups?|identity|impersonate|jwt|login|member|oauth2?|oidc|owner|permissions?|pomerium|principals?|roles?|saml|scopes?|sso|sub|subject|tailscale|tenant|token|uid|users?|userid|userinfo|username|webauth)$/

/** These headers contain such a word but do not tell who the user is. */
const ALLOWED_HEADERS: ReadonlySet<string> = new Set(['user-agent', 'sec-fetch-user', 'x-csrf-token', 'x-xsrf-token'])

function isProxyOrIdentityHeader(name: string): boolean {
  const plain = name.replaceAll('_', '-')
  if (ALLOWED_HEADERS.has(plain)) return false
  return PROXY_HEADER.test(plain) || plain.split('-').some((word) => IDENTITY_WORD.test(word))
}

/**
 * The headers that `Connection` names are removed before. undici does not send `Expect`, and Node has answered it already.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...REQUEST_HOP_BY_HOP, 'expect'])

/** The client's headers for the renderer, without hop-by-hop headers and those that only the gateway may set. */
export function upstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  trusted: TrustedValues,
  hasBody: boolean
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => !NOT_FORWARDED.has(name) && !isProxyOrIdentityHeader(name) && (hasBody || name !== 'content-length')
  )
  const { requestId, traceparent, cookie, host, proto, forwardedFor } = trusted
  const sent: IncomingHttpHeaders = {
    ...Object.fromEntries(kept),
    'x-request-id': requestId,
    'x-forwarded-for': forwardedFor,
    'x-forwarded-host': host,
    'x-forwarded-proto': proto,
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

/** The cookies of the session, which only the gateway may set. */
const SESSION_SET_COOKIE = /^[\s=]*app_(?:auth_access|auth_refresh|antiforgery)\s*=/

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
