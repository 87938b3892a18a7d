import { PassThrough, type Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'

/**
 * A request's body on its way to the renderer. In between, since whoever sends it on destroys what it was given when the
 * renderer fails, and the client could then neither finish sending nor read its answer.
 */
export function upstreamBody(raw: Readable): PassThrough {
  const body = new PassThrough()
  raw.pipe(body)
  raw.once('close', () => {
    if (!raw.readableEnded) body.destroy(new Error('The client went away.'))
  })
  return body
}

/** The rest of the body is read and dropped. */
export function leaveUpstreamBody({ raw }: FastifyRequest): void {
  raw.unpipe()
  raw.resume()
}
