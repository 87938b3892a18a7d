import fp from 'fastify-plugin'
import { DomainError } from '../../shared/domain-error.js'
import type { ProblemSender } from '../send-problem.js'

/** Everything thrown becomes a problem document, and so does a path that no route has, before its body is read. */
export const problemResponses = fp<{ problems: ProblemSender }>(
  async (app, { problems }) => {
    app.setErrorHandler((error, request, reply) => problems.send(error, request, reply))
    app.addHook('onRequest', (request, _reply, done) => {
      if (request.is404)
        throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
      done()
    })
  },
  { name: 'problem-responses', dependencies: ['request-identity', 'request-limits'], fastify: '5.x' }
)
