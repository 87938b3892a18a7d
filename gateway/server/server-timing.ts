import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { CallReport } from '../data/calls.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request began, by `performance.now()`. */
    begun: number
  }
}

/**
 * Sets `Server-Timing` (W3C Server Timing) on every response: `total` from the head of the request to that of the answer,
 * `data` of it in data services, and `sql` of that in statements, in milliseconds. `data` and `sql` are left out where no
 * data service was called, or none has told. Pages of origins that may read answers may read the times too.
 */
export const serverTiming = fp(
  async (app) => {
    app.decorateRequest('begun', 0)
    app.addHook('onRequest', (request, _reply, done) => {
      request.begun = performance.now()
      request.report = new CallReport(true)
      done()
    })
    app.addHook('onSend', (request, reply, ...[payload, done]) => {
      tellTimes(request, reply)
      done(null, payload)
    })
  },
  { name: 'server-timing', dependencies: ['request-identity'], fastify: '5.x' }
)

/** Sets the headers as they are at this moment, if they are wanted: for an answer that is sent past Fastify. */
export function tellTimes(request: FastifyRequest, reply: FastifyReply): void {
  if (request.report?.asksForTimes !== true) return
  reply.header('server-timing', timingOf(request, reply))
  const origin = reply.getHeader('access-control-allow-origin')
  // On an answer of the renderer it is the renderer's, which says itself who may read the times.
  if (origin !== undefined && request.routeOptions.config.streamsBody !== true) {
    reply.header('timing-allow-origin', origin)
  }
}

/** After the times of the renderer, if it sent some. */
function timingOf({ begun, report }: FastifyRequest, reply: FastifyReply): string {
  const sent = reply.getHeader('server-timing')
  const earlier = sent === undefined ? [] : [sent].flat().map(String)
  const times = report?.times
  return [
    ...earlier,
    metric('total', performance.now() - begun),
    ...(times === undefined ? [] : [metric('data', times.data / 1000), metric('sql', times.sql / 1000)])
  ].join(', ')
}

function metric(name: string, milliseconds: number): string {
  return `${name};dur=${milliseconds.toFixed(3)}`
}
