import fp from 'fastify-plugin'
import { DomainError } from '../../shared/domain-error.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/**
 * `/health/live` is 200 while the process runs; `/health/ready`, and `/health`, while requests can be served, which they
 * cannot without a data service that can, nor while this process ends. `isReady` answers from memory.
 */
export const health = fp<{ isReady: () => boolean }>(
  async (app, { isReady }) => {
    const pages = [
      ['/health', isReady],
      ['/health/ready', isReady],
      ['/health/live', () => true]
    ] as const
    for (const [url, isWell] of pages) {
      refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
      app.get(url, async (_request, reply) => {
        if (!isWell()) throw new DomainError('upstream.unavailable', 'Requests cannot be served at the moment.')
        reply.header('cache-control', 'no-store')
        return { status: 'ok' }
      })
    }
  },
  { name: 'health', dependencies: ['problem-responses'], fastify: '5.x' }
)
