import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { checkRequestHead } from '../headers/request-head.js'

/**
 * Refuses request heads that the parser lets through and the contract or RFC 9112 does not, and trusts no further
 * request of their connection.
 */
export const requestLimits = fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      try {
        checkRequestHead(headOf(request.raw, request.originalUrl))
      } catch (error) {
        reply.header('connection', 'close')
        throw error
      }
      done()
    })
  },
  { name: 'request-limits', dependencies: ['request-identity'], fastify: '5.x' }
)

function headOf(raw: IncomingMessage, target: string): Parameters<typeof checkRequestHead>[0] {
  return { method: raw.method ?? '', target, httpVersion: raw.httpVersion, rawHeaders: raw.rawHeaders }
}
