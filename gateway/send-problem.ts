import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../shared/domain-error.js'
import type { Logger } from '../shared/logger.js'
import { domainErrorFromFastify } from './fastify-error.js'
import { pathOf } from './headers/query-parameters.js'
import { toProblem } from './problem-details.js'
import type { PublicAddress } from './public-address.js'

/** Answers a thrown thing, whatever it is, as a problem document. What nobody foresaw is logged in full and opaque outside. */
export class ProblemSender {
  readonly #address: PublicAddress
  readonly #log: Logger

  constructor(address: PublicAddress, log: Logger) {
    this.#address = address
    this.#log = log
  }

  send(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = this.#understood(thrown, reply.raw.destroyed ? undefined : request.id)
    const problem = toProblem(error, {
      base: this.#address.baseFor(request),
      path: pathOf(request.originalUrl),
      requestId: request.id
    })
    return reply
      .code(problem.status)
      .headers({ ...problem.headers, 'x-request-id': request.id })
      .send(problem.body)
  }

  /** A cancelled call is no failure worth a line: without a request id none is written for one. */
  #understood(thrown: unknown, requestId: string | undefined): DomainError {
    if (thrown instanceof DomainError) {
      if (requestId === undefined) return thrown
      if (thrown.code === 'internal' || thrown.code.startsWith('upstream.')) {
        this.#log.warn({ requestId, code: thrown.code, err: thrown }, 'data service failure')
      }
      return thrown
    }
    const known = domainErrorFromFastify(thrown)
    if (known !== undefined) return known
    // A page is given up when its client goes away.
    if (requestId === undefined && thrown instanceof Error && thrown.name === 'AbortError') {
      return new DomainError('upstream.bad-gateway', 'The client went away.', { cause: thrown })
    }
    this.#log.error({ requestId, err: thrown }, 'unforeseen failure')
    return new DomainError('internal', 'Unforeseen failure.', { cause: thrown })
  }
}
