import { randomBytes } from 'node:crypto'
import fp from 'fastify-plugin'
import { continueTrace } from '../headers/trace-parent.js'

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
