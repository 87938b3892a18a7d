import { PassThrough, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import { keepFromFailing } from '../connections.js'

/**
 * A request's body on its way to the renderer. In between, since whoever sends it on destroys what it was given when the
 * renderer fails, and the client could then neither finish sending nor read its answer.
 */
export function upstreamBody(raw: Readable): PassThrough {
  // Nobody reads the body of a request that is refused or still waits for its turn when the client goes away.
  const body = keepFromFailing(new PassThrough())
  raw.pipe(body)
  raw.once('close', () => {
    if (!raw.readableEnded) body.destroy(new DomainError('request.malformed', 'The body broke off.'))
  })
  return body
}

/** The rest of the body is read and dropped. */
export function leaveUpstreamBody({ raw }: FastifyRequest): void {
  raw.unpipe()
  raw.resume()
}
