import fp from 'fastify-plugin'
import { DomainError } from '../../shared/domain-error.js'
import type { DataClient } from '../data-calls.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/** `GET /health`: whether this gateway can serve, which it cannot without a connection to the data service. */
export const health = fp<{ data: DataClient }>(
  async (app, { data }) => {
    const url = '/health'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (_request, reply) => {
      if (!data.isReachable()) {
        throw new DomainError('upstream.unavailable', 'The data service cannot be reached at the moment.')
      }
      reply.header('cache-control', 'no-store')
      return { status: 'ok' }
    })
  },
  { name: 'health', dependencies: ['problem-responses'], fastify: '5.x' }
)
