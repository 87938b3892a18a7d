import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from '../../shared/logger.js'
import { shownPathOf } from '../http/query-string.js'
import { checkBodySize, checkRequestHead, checkRequestHeadSize, continueTrace } from '../http/request-head.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller's trace continued, where the caller sent one. */
    traceparent: string | undefined
  }
}

/** Puts the request id, and the trace where there is one, on every response. */
export const requestIdentity = fp(
  async (app) => {
    app.decorateRequest('traceparent', undefined)
    app.addHook('onRequest', (request, reply, done) => {
      reply.header('x-request-id', request.id)
      const { traceparent } = request.headers
      if (typeof traceparent === 'string') {
        request.traceparent = continueTrace(traceparent, newSpanId)
        if (request.traceparent !== undefined) reply.header('traceparent', request.traceparent)
      }
      done()
    })
  },
  { name: 'request-identity', fastify: '5.x' }
)

function newSpanId(): string {
  return randomBytes(8).toString('hex')
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route hands its body on piece by piece, however long it is. */
    streamsBody?: boolean
  }
}

/**
 * Refuses request heads that the parser lets through and the contract or RFC 9112 does not, and trusts no further
 * request of their connection. Sizes come after `onRequest`, where routes say 404 and 405 (contract.md section 2).
 */
export const requestLimits = fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      try {
        checkRequestHead(headOf(request.raw, request.originalUrl))
      } catch (error) {
        closeAfter(request, reply)
        throw error
      }
      done()
    })
    app.addHook('preParsing', (request, reply, ...[, done]) => {
      try {
        checkRequestHeadSize(headOf(request.raw, request.originalUrl))
      } catch (error) {
        closeAfter(request, reply)
        throw error
      }
      if (request.routeOptions.config.streamsBody !== true) checkBodySize(request.headers['content-length'])
      done()
    })
  },
  { name: 'request-limits', dependencies: ['request-identity'], fastify: '5.x' }
)

/** HTTP/2 has no such header, and nothing there can follow in the wake of a misread request. */
function closeAfter({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (raw.httpVersionMajor === 1) reply.header('connection', 'close')
}

function headOf(raw: IncomingMessage, target: string): Parameters<typeof checkRequestHead>[0] {
  return { method: raw.method ?? '', target, httpVersion: raw.httpVersion, rawHeaders: raw.rawHeaders }
}

/** One line a request, without its query: values of filters are data of the callers. */
export const requestLog = fp<{ log: Logger }>(
  async (app, { log }) => {
    app.addHook('onRequest', (request, reply, done) => {
      logWhenDone(log, request, reply)
      done()
    })
  },
  { name: 'request-log', dependencies: ['request-identity'], fastify: '5.x' }
)

/** For requests that are refused before any hook, too. */
export function logWhenDone(log: Logger, request: FastifyRequest, { raw }: FastifyReply): void {
  const started = performance.now()
  raw.once('close', () => {
    const line = {
      requestId: request.id,
      method: request.method,
      path: shownPathOf(request.originalUrl),
      status: raw.statusCode,
      durationMs: Math.round((performance.now() - started) * 1000) / 1000
    }
    if (raw.writableFinished) log.info(line, 'request')
    else log.info({ ...line, aborted: true }, 'request')
  })
}

/** A year without plain HTTP, for this host alone (RFC 6797 section 6.1): hosts below it are not the gateway's to bind. */
export const STRICT_TRANSPORT = 'max-age=31536000'

/**
 * Nothing here is to be taken for another type than it says, whatever a browser makes of its bytes. Where browsers come
 * over HTTPS, they are told to stay there.
 */
export const responseSafety = fp<{ strictTransport: boolean }>(
  async (app, { strictTransport }) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-content-type-options', 'nosniff')
      if (strictTransport) reply.header('strict-transport-security', STRICT_TRANSPORT)
      done()
    })
  },
  { name: 'response-safety', fastify: '5.x' }
)

/** Whatever sets a cookie is for one browser alone: no cache may keep it (contract.md section 8). */
export const privateCookies = fp(
  async (app) => {
    app.addHook('onSend', (_request, reply, ...[payload, done]) => {
      if (reply.hasHeader('set-cookie')) {
        reply.header('cache-control', 'private, no-store')
        reply.header('vary', withCookie(String(reply.getHeader('vary') ?? '')))
      }
      done(null, payload)
    })
  },
  { name: 'private-cookies', fastify: '5.x' }
)

function withCookie(vary: string): string {
  if (vary.trim() === '') return 'Cookie'
  return /(?:^|,)\s*(?:cookie|\*)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Cookie`
}
