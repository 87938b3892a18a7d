import { status, type ServiceError } from '@grpc/grpc-js'
import { fromRpcStatus } from '../shared/rpc-status.js'

/** What a failed call means: a DomainError, or the unknown error as it is. */
export function domainErrorOf(error: unknown): unknown {
  return isServiceError(error) ? fromRpcStatus(error) : error
}

/** Whether the call never got an answer of the data service itself: no details, only the transport's word. */
export function isTransportFailure(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.UNAVAILABLE &&
    error.metadata.get('grpc-status-details-bin').length === 0
  )
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error
}
