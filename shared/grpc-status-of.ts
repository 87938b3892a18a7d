import { status } from '@grpc/grpc-js'
import type { DomainError } from './domain-error.js'
import type { ErrorCode } from './error-code.js'

/** The canonical gRPC status of every error code. A code without one does not compile. */
export const GRPC_STATUS: Readonly<Record<ErrorCode, status>> = {
  'request.malformed': status.INVALID_ARGUMENT,
  'body.malformed': status.INVALID_ARGUMENT,
  'body.invalid': status.INVALID_ARGUMENT,
  'id.invalid': status.INVALID_ARGUMENT,
  'id.mismatch': status.INVALID_ARGUMENT,
  'paging.invalid': status.INVALID_ARGUMENT,
  'filter.property.unknown': status.INVALID_ARGUMENT,
  'filter.operator.unsupported': status.INVALID_ARGUMENT,
  'filter.value.invalid': status.INVALID_ARGUMENT,
  'filter.too-many': status.INVALID_ARGUMENT,
  'fields.invalid': status.INVALID_ARGUMENT,
  'sort.property.unknown': status.INVALID_ARGUMENT,
  'sort.direction.invalid': status.INVALID_ARGUMENT,
  'include.invalid': status.INVALID_ARGUMENT,
  'parameter.unknown': status.INVALID_ARGUMENT,
  'precondition.malformed': status.INVALID_ARGUMENT,
  'idempotency.key.invalid': status.INVALID_ARGUMENT,
  'idempotency.key.missing': status.INVALID_ARGUMENT,
  'version.unsupported': status.INVALID_ARGUMENT,
  'auth.required': status.UNAUTHENTICATED,
  'auth.invalid-token': status.UNAUTHENTICATED,
  'auth.invalid-credentials': status.UNAUTHENTICATED,
  'ownership.denied': status.PERMISSION_DENIED,
  'capability.denied': status.PERMISSION_DENIED,
  'request.cross-site': status.PERMISSION_DENIED,
  'antiforgery.invalid': status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  'route.not-found': status.NOT_FOUND,
  'method.not-allowed': status.INVALID_ARGUMENT,
  conflict: status.ABORTED,
  'idempotency.in-flight': status.ALREADY_EXISTS,
  'body.too-large': status.INVALID_ARGUMENT,
  'uri.too-long': status.INVALID_ARGUMENT,
  'media-type.unsupported': status.INVALID_ARGUMENT,
  'idempotency.key.reused': status.FAILED_PRECONDITION,
  'state.invalid': status.FAILED_PRECONDITION,
  'precondition.required': status.FAILED_PRECONDITION,
  'quota-exceeded': status.RESOURCE_EXHAUSTED,
  'headers.too-large': status.INVALID_ARGUMENT,
  internal: status.INTERNAL,
  configuration: status.INTERNAL,
  'upstream.bad-gateway': status.UNAVAILABLE,
  'upstream.unavailable': status.UNAVAILABLE,
  'upstream.timeout': status.DEADLINE_EXCEEDED
}

/** A conflict of a guarded write is a failed precondition: the three causes of it are not told apart (contract.md section 5). */
export function grpcStatusOf({ code, guarded }: DomainError): status {
  return code === 'conflict' && guarded ? status.FAILED_PRECONDITION : GRPC_STATUS[code]
}
