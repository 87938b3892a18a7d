import fp from 'fastify-plugin'
import type { Logger } from '../../shared/logger.js'
import { pathOf } from '../headers/query-parameters.js'

/** One line a request, without its query: values of filters are data of the callers. */
export const requestLog = fp<{ log: Logger }>(
  async (app, { log }) => {
    app.addHook('onRequest', (request, reply, done) => {
      const started = performance.now()
      reply.raw.once('close', () => {
        const line = {
          requestId: request.id,
          method: request.method,
          path: pathOf(request.originalUrl),
          status: reply.raw.statusCode,
          durationMs: Math.round((performance.now() - started) * 1000) / 1000
        }
        if (reply.raw.writableFinished) log.info(line, 'request')
        else log.info({ ...line, aborted: true }, 'request')
      })
      done()
    })
  },
  { name: 'request-log', dependencies: ['request-identity'], fastify: '5.x' }
)
