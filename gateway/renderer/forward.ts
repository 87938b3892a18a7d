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

export interface Forwarding {
  readonly base: URL
  readonly session: PageSession
  readonly address: PublicAddress
  readonly trustedProxies: TrustedProxies
}

const SESSION_COOKIE = /(?:^|;)\s*app_auth_(?:access|refresh)\s*=/

/** Sends a request on to the renderer, and its answer back, once. */
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
    // One try: what to make of a failure is the browser's to say.
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
      // As sent: a session that turned out to be over differs from none by the cookie alone.
      const personal = SESSION_COOKIE.test(request.headers.cookie ?? '')
      return downstreamHeaders(headers, { personal, setsCookies, varies })
    },
    onError: (failed, { error }) => {
      leaveUpstreamBody(request)
      void failed.send(rendererFailure(error))
    }
  })
}

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

/**
 * A request's body on its way to the renderer. In between, since whoever sends it on destroys what it was given when the
 * renderer fails, and the client could then neither finish sending nor read its answer.
 */
export function upstreamBody(raw: Readable): PassThrough {
  // Nobody reads the body of a request that is refused or still waits for its turn when the client goes away.
  const body = ignoreErrors(new PassThrough())
  raw.pipe(body)
  raw.once('close', () => {
    if (!raw.readableEnded) body.destroy(new DomainError('request.malformed', 'The body broke off.'))
  })
  return body
}

/** The rest of the body is read and dropped. */
export function leaveUpstreamBody({ raw }: FastifyRequest): void {
  raw.unpipe()
  raw.resume()
}

/** What the gateway itself vouches for towards the renderer. */
export interface Vouched {
  readonly requestId: string
  readonly traceparent: string | undefined
  /** The cookies as they are now, refreshed ones in place of expired ones; undefined for none. */
  readonly cookie: string | undefined
  /** Of the public base URL. */
  readonly host: string
  readonly proto: string
  /** Addresses from the client inwards, the last one being who connected to the gateway. */
  readonly forwardedFor: string
}

/** What proxies say of where a request comes from and what it was. A client's own are forged. */
const ASSERTED =
  /^(?:forwarded|via|(?:x-)?(?:true-|cluster-)?client-ip|x-cluster-client-ip|cf-connecting-ip|x-(?:forwarded|original|rewrite|real|envoy)(?:-.*)?|x-http-method(?:-override)?|x-method-override)$/

/**
 * Words by which proxies and identity providers tell who the user is, `X-Remote-User`, `X-Auth-Request-Email`,
 * `X-MS-CLIENT-PRINCIPAL-ID` and the like: no list of names is ever whole, and a browser sends none with these words.
 */
const IDENTITY =
  /^(?:account|anonymous|assertions?|auth|authelia|authentik|authenticated|cert|claims?|consumer|credentials?|customer|emails?|groups?|identity|impersonate|jwt|login|member|oauth2?|oidc|owner|permissions?|pomerium|principals?|roles?|saml|scopes?|sso|sub|subject|tailscale|tenant|token|uid|users?|userid|userinfo|username|webauth)$/

/** They hold the words and are no identities. */
const HARMLESS: ReadonlySet<string> = new Set(['user-agent', 'sec-fetch-user', 'x-csrf-token', 'x-xsrf-token'])

function isAsserted(name: string): boolean {
  const plain = name.replaceAll('_', '-')
  if (HARMLESS.has(plain)) return false
  return ASSERTED.test(plain) || plain.split('-').some((word) => IDENTITY.test(word))
}

/** What `Connection` names besides is gone already. undici does not send `Expect`, and Node has answered it. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...REQUEST_HOP_BY_HOP, 'expect'])

/** A client's headers as the renderer gets them: nothing of the connection, nothing that only the gateway may say. */
export function upstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  vouched: Vouched,
  hasBody: boolean
): IncomingHttpHeaders {
  const kept = Object.entries(headers).filter(
    ([name]) => !NOT_FORWARDED.has(name) && !isAsserted(name) && (hasBody || name !== 'content-length')
  )
  const { requestId, traceparent, cookie, host, proto, forwardedFor } = vouched
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

/** What the gateway adds to, or holds against, what the renderer answers. */
export interface PageContext {
  /** Whether the request carried session cookies: the page may name its user. */
  readonly personal: boolean
  /** Whether the gateway sets cookies with this answer. */
  readonly setsCookies: boolean
  /** Whether another `Accept` would have got another representation. */
  readonly varies: boolean
}

/** The session is the gateway's: a renderer cannot set its cookies. */
const OURS = /^[\s=]*app_(?:auth_access|auth_refresh|antiforgery)\s*=/

/** The renderer's headers as the browser gets them. */
export function downstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  { personal, setsCookies, varies }: PageContext
): IncomingHttpHeaders {
  const listed = listMembers(headers.connection ?? '').map((name) => name.toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...listed, 'x-request-id', 'traceparent', 'set-cookie', 'vary'])
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
  const cookies = [headers['set-cookie'] ?? []].flat().filter((cookie) => !OURS.test(cookie))
  const unsaid = headers['cache-control'] === undefined
  const names = [...(varies ? ['Accept'] : []), ...(setsCookies || (personal && unsaid) ? ['Cookie'] : [])]
  const vary = addVary(headers.vary, names)
  return {
    ...sent,
    ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    ...(vary === undefined ? {} : { vary }),
    // A page that greets its user must not greet the next one with that name out of a cache.
    ...(setsCookies || (personal && unsaid) ? { 'cache-control': 'private, no-store' } : {})
  }
}
