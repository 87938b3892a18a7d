import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import { clientAddress } from '../client-address.js'
import type { DataCall } from '../data-calls.js'
import { authorizationOf } from '../headers/authorization.js'

/** What a call takes over from its request. It is cancelled when the client goes away before it has its answer. */
export function dataCall(request: FastifyRequest, reply: FastifyReply): DataCall {
  return callOf(request, untilAbandoned(reply))
}

/** Aborted when the client goes away before it has its answer. */
export function untilAbandoned(reply: FastifyReply): AbortSignal {
  const abandoned = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) abandoned.abort(new DomainError('upstream.unavailable', 'The client went away.'))
  })
  return abandoned.signal
}

/**
 * The call of a write. Not cancelled when the client goes away: what was sent was meant, and a retry with the same key
 * then finds it done, or under way, rather than in doubt.
 */
export function writeCall(request: FastifyRequest): DataCall {
  return callOf(request, new AbortController().signal)
}

function callOf(request: FastifyRequest, signal: AbortSignal): DataCall {
  return {
    authorization: authorizationOf(request.raw.rawHeaders),
    requestId: request.id,
    traceparent: request.traceparent,
    clientAddress: clientAddress(request),
    signal
  }
}
