import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { checkBodySize } from '../headers/body-size.js'
import { checkRequestHead, checkRequestHeadSize } from '../headers/request-head.js'

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
