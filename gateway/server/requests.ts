import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { CancellationSource } from '../../shared/transport/cancellation.js'
import { DomainError, type ErrorCode } from '../../shared/errors.js'
import type { RunningSpan, SpanStart, Tracing } from '../../shared/observe/tracing.js'
import { OWN_ANSWERS } from '../../shared/own-answers.js'
import type { CallReport } from '../data/calls.js'
import type { GatewayMetrics } from '../observe/gateway-metrics.js'
import type { RequestLines } from '../observe/request-lines.js'
import type { TrustedProxies } from '../http/client-address.js'
import { addVary } from '../http/header-fields.js'
import { loggedPath, UNDECODABLE } from '../http/query-string.js'
import {
  checkBodySize,
  checkRequestHead,
  checkRequestHeadSize,
  continueTrace,
  type RequestHead
} from '../http/request-head.js'
import { countedMethod, sentMethod } from './methods.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** `traceparent` for the calls of this request; undefined if the client sent no valid one and no traces are exported. */
    traceparent: string | undefined
    /** The span of the request; undefined where no traces are exported. */
    span: RunningSpan | undefined
    /** The resource, or the operation of the application, that the request is for; empty until it is known, and for others. */
    resourceName: string
    /** What the calls for this request have told; undefined until there is one. */
    report: CallReport | undefined
    /** The code of the problem document that it was answered with; undefined for any other answer. */
    errorCode: ErrorCode | undefined
  }

  interface FastifyContextConfig {
    /** Whether the route forwards its body as a stream of any length. */
    streamsBody?: boolean
    /** Whether the route reads its body in parts, and bounds it by itself. */
    readsInParts?: boolean
    /** What the metrics call the route. Default: the template of its path. */
    routeLabel?: string
  }
}

/**
 * Sets `X-Request-Id` on every response, and `traceparent` (W3C Trace Context) if the client sent one. Only a trusted proxy
 * decides whether the trace is kept: any other client could fill the collector.
 */
export const requestIdentity = fp<{ tracing?: Tracing | undefined; trustedProxies?: TrustedProxies }>(
  async (app, { tracing, trustedProxies }) => {
    app.decorateRequest('traceparent', undefined)
    app.decorateRequest('span', undefined)
    app.decorateRequest('resourceName', '')
    app.decorateRequest('report', undefined)
    app.decorateRequest('errorCode', undefined)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      const { traceparent } = request.headers
      if (typeof traceparent === 'string') {
        request.traceparent = continueTrace(traceparent, newSpanId)
      }
      const isContinued = request.traceparent !== undefined
      if (tracing !== undefined) {
        // The client's own span is the parent, and not the one that continueTrace made.
        const parent = isContinued ? String(traceparent).trim() : undefined
        const parentDecides = trustedProxies?.trusts(request.socket.remoteAddress) === true
        request.span = startRequestSpan(tracing, request, { parent, parentDecides })
        request.traceparent = request.span.traceparent
      }
      if (isContinued) reply.header('traceparent', request.traceparent)
      done()
    })
  },
  { name: 'request-identity', fastify: '5.x' }
)

/** Neither the path nor the query is told: both hold values. */
function startRequestSpan(
  tracing: Tracing,
  request: FastifyRequest,
  of: Pick<SpanStart, 'parent' | 'parentDecides'>
): RunningSpan {
  const { id } = request
  const method = countedMethod(request)
  const route = routeLabelOf(request)
  const attributes = { 'http.request.method': method, 'http.route': route, 'uniform_rest.request_id': id }
  return tracing.start({ name: `${method} ${route}`, kind: 'server', ...of, attributes })
}

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

/** Where requests are recorded that have ended. */
export interface RequestRecords {
  /** undefined where the level of the log leaves them out. */
  readonly lines: RequestLines | undefined
  /** undefined where nobody asks for metrics. */
  readonly metrics: GatewayMetrics | undefined
}

/** Logs one line for each request, and counts it. */
export const requestLog = fp<RequestRecords>(
  async (app, records) => {
    app.addHook('onRequest', (request, reply, done) => {
      recordWhenClosed(records, request, reply)
      done()
    })
  },
  { name: 'request-log', dependencies: ['request-identity'], fastify: '5.x' }
)

/** Records a request when its response has ended. */
export function recordWhenClosed(
  { lines, metrics }: RequestRecords,
  request: FastifyRequest,
  { raw }: FastifyReply
): void {
  const { span } = request
  if (lines === undefined && metrics === undefined && span === undefined) return
  const started = performance.now()
  metrics?.requestStarted()
  raw.once('close', () => {
    const duration = performance.now() - started
    const status = raw.headersSent ? raw.statusCode : 0
    const { resourceName: resource } = request
    if (span !== undefined) endSpan(span, { status, resource })
    if (metrics !== undefined) {
      metrics.requestEnded({ route: routeLabelOf(request), resource, method: countedMethod(request), status }, duration)
    }
    lines?.write({
      requestId: request.id,
      traceparent: request.traceparent,
      acceptedAuthorization: request.report?.acceptedAuthorization,
      method: sentMethod(request),
      path: loggedPath(request.originalUrl, { withValue: request.routeOptions.url?.endsWith('/:value') !== true }),
      route: routeLabelOf(request),
      resource,
      status: raw.statusCode,
      code: request.errorCode,
      duration,
      isAborted: !raw.writableFinished
    })
  })
}

function endSpan(
  span: RunningSpan,
  { status, resource }: { readonly status: number; readonly resource: string }
): void {
  const attributes = {
    ...(status === 0 ? {} : { 'http.response.status_code': status }),
    ...(resource === '' ? {} : { 'uniform_rest.resource': resource })
  }
  span.end(attributes, status === 0 ? 'aborted' : status >= 500 ? String(status) : undefined)
}

/** A name from a bounded set: never the path that was sent. */
function routeLabelOf({ routeOptions: { url, config } }: FastifyRequest): string {
  return config.routeLabel ?? url ?? 'none'
}

/** One year (RFC 6797 section 6.1.1). Without includeSubDomains: the gateway cannot decide for other hosts. */
const STRICT_TRANSPORT = 'max-age=31536000'

/** The headers of safety of an answer that the gateway gives itself. `strictTransport`: whether clients use HTTPS. */
export function safetyHeaders(strictTransport: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    ...OWN_ANSWERS,
    ...(strictTransport ? { 'strict-transport-security': STRICT_TRANSPORT } : {})
  }
}

/** Sets the headers of safety on every response. An answer of the renderer loses OWN_ANSWERS again (forward.ts). */
export const securityHeaders = fp<{ strictTransport: boolean }>(
  async (app, { strictTransport }) => {
    const headers = safetyHeaders(strictTransport)
    app.addHook('onRequest', (_request, reply, done) => {
      reply.headers(headers)
      done()
    })
  },
  { name: 'security-headers', fastify: '5.x' }
)

/** Forbids caches to store any response that sets a cookie (contract.md section 8). */
export const privateCookies = fp(
  async (app) => {
    app.addHook('onSend', (_request, reply, ...[payload, done]) => {
      if (reply.hasHeader('set-cookie')) {
        reply.header('cache-control', 'private, no-store')
        reply.header('vary', addVary(String(reply.getHeader('vary') ?? ''), ['Cookie']))
      }
      done(null, payload)
    })
  },
  { name: 'private-cookies', fastify: '5.x' }
)

/**
 * Rejects request heads that Node's parser accepts and the contract or RFC 9112 does not, and then closes the connection.
 * Sizes are checked after `onRequest`, in which the routes answer 404 and 405 (contract.md section 2).
 */
export const requestLimits = fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      closingOnError(request, reply, checkRequestHead)
      // routedTarget has led it past all routes.
      if (request.url === UNDECODABLE) {
        throw new DomainError('request.malformed', 'The path is not percent-encoded UTF-8.')
      }
      done()
    })
    app.addHook('preParsing', (request, reply, ...[, done]) => {
      closingOnError(request, reply, checkRequestHeadSize)
      const { streamsBody, readsInParts } = request.routeOptions.config
      if (streamsBody !== true && readsInParts !== true) checkBodySize(request.headers['content-length'])
      done()
    })
  },
  { name: 'request-limits', dependencies: ['request-identity'], fastify: '5.x' }
)

/** On HTTP/1.1 bytes after a misread head could be misread as well. HTTP/2 has frames, and no `Connection` header. */
function closingOnError(
  { raw, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  check: (head: RequestHead) => void
): void {
  try {
    check(headOf(raw, originalUrl))
  } catch (error) {
    if (raw.httpVersionMajor === 1) reply.header('connection', 'close')
    throw error
  }
}

function headOf(raw: IncomingMessage, target: string): RequestHead {
  return { method: raw.method ?? '', target, httpVersion: raw.httpVersion, rawHeaders: raw.rawHeaders }
}

/** The ends of the connections of HTTP/1.1, each made by its first request that asks for one. */
const connectionEnds = new WeakMap<Socket, CancellationSource>()

/**
 * Aborted if the client disconnects before it has received the whole response. The requests of a connection of HTTP/1.1
 * share one, which is cheaper than one each: such a request is given up only with its connection.
 */
export function abortOnDisconnect({ raw, request }: FastifyReply): CancellationSource {
  const { socket } = raw
  // Requests of HTTP/2 are given up one by one.
  if (socket === null || request.raw.httpVersionMajor > 1) return abortOnClose(raw)
  const known = connectionEnds.get(socket)
  if (known !== undefined) return known
  const disconnected = new CancellationSource()
  connectionEnds.set(socket, disconnected)
  if (socket.destroyed) disconnected.abort(clientGone())
  else socket.once('close', () => disconnected.abort(clientGone()))
  return disconnected
}

/** The same for one request alone: it is not aborted any more once the response has been sent. */
export function abortOnClose(raw: ServerResponse): CancellationSource {
  return abortOnceClosed(raw, () => !raw.writableFinished)
}

/** Aborted once nothing more of the response is sent, whether the client has received it or not. */
export function abortOnEnd(raw: ServerResponse): CancellationSource {
  return abortOnceClosed(raw, () => true)
}

function abortOnceClosed(raw: ServerResponse, counts: () => boolean): CancellationSource {
  const closed = new CancellationSource()
  if (isOver(raw)) closed.abort(clientGone())
  raw.once('close', () => {
    if (counts()) closed.abort(clientGone())
  })
  return closed
}

/** Whether the event `close` of the response may have been. */
function isOver({ socket }: ServerResponse): boolean {
  return socket?.destroyed !== false
}

function clientGone(): DomainError {
  return new DomainError('upstream.unavailable', 'The client went away.')
}
