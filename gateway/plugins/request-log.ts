import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from '../../shared/logger.js'
import { shownPathOf } from '../headers/query-parameters.js'

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
