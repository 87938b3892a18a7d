import type { handleUnaryCall } from '@grpc/grpc-js'
import { DomainError } from '../../shared/domain-error.js'
import { toRpcStatus } from '../../shared/rpc-status.js'
import { incomingCall } from './grpc-call.js'
import type { Intercepted } from './intercept.js'

/** An intercepted handler as a unary grpc-js method. */
export function unaryCall<Request, Response>(
  handler: Intercepted<Request, Response>
): handleUnaryCall<Request, Response> {
  return (call, callback) => {
    const { incoming, settled } = incomingCall(call)
    handler(incoming, call.request).then(
      (response) => {
        settled()
        callback(null, response)
      },
      (error: unknown) => {
        settled()
        callback(toRpcStatus(asDomainError(error)))
      }
    )
  }
}

/** Intercepted handlers reject with nothing else; this is the net below them. */
export function asDomainError(error: unknown): DomainError {
  return error instanceof DomainError ? error : new DomainError('internal', 'Something went wrong in the data service.')
}
