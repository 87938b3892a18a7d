import { Metadata, status, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import { conflictMetadata, conflictOf } from './conflict-metadata.js'
import { DomainError, type Fault } from './domain-error.js'
import { isErrorCode, type ErrorCode } from './error-code.js'
import { grpcStatusOf } from './grpc-status-of.js'
import { decodeDetails, encodeDetails, type RpcDetails } from './rpc-details.js'
import { shortened } from './shortened.js'

const DETAILS_KEY = 'grpc-status-details-bin'
const PLACES: Readonly<Record<Fault['place']['in'], string>> = { parameter: 'query', pointer: 'body', header: 'header' }

/** A DomainError as a gRPC status with google.rpc details (AIP-193). */
export function toRpcStatus(error: DomainError): StatusObject {
  const code = grpcStatusOf(error)
  const metadata = new Metadata()
  metadata.set(
    DETAILS_KEY,
    encodeDetails(code, error.message, {
      reason: error.code,
      violations: error.faults.map(({ code: reason, detail, place }) => ({
        field: `${PLACES[place.in]}:${place.name}`,
        description: detail,
        reason
      })),
      retryAfter: error.retryAfter,
      metadata: conflictMetadata(error)
    })
  )
  // grpc-message is for people and percent-encoded: the whole text is in the details.
  return { code, details: shortened(error.message, 100), metadata }
}

/** Back to the same DomainError. A status of the transport itself, without details, becomes its nearest code. */
export function fromRpcStatus(error: ServiceError): DomainError {
  const [encoded] = error.metadata.get(DETAILS_KEY)
  const details = Buffer.isBuffer(encoded) ? decodeDetails(encoded) : undefined
  if (details === undefined || !isErrorCode(details.info.reason)) {
    return new DomainError(transportCode(error.code), transportDetail(error.code), {
      cause: error,
      ...(error.code === status.UNAVAILABLE ? { retryAfter: 1 } : {})
    })
  }
  const { message, info } = details
  return new DomainError(details.info.reason, message, {
    faults: faultsOf(info),
    ...conflictOf(info.metadata),
    ...(info.retryAfter === undefined ? {} : { retryAfter: info.retryAfter })
  })
}

function faultsOf(info: RpcDetails): Fault[] {
  return info.violations.flatMap(({ field, description, reason }) => {
    const [prefix, name] = splitOnce(field)
    const place = (['parameter', 'pointer', 'header'] as const).find((one) => PLACES[one] === prefix)
    return place !== undefined && isErrorCode(reason)
      ? [{ code: reason, detail: description, place: { in: place, name } }]
      : []
  })
}

function splitOnce(field: string): [string, string] {
  const at = field.indexOf(':')
  return [field.slice(0, at), field.slice(at + 1)]
}

function transportCode(code: status): ErrorCode {
  if (code === status.UNAVAILABLE) return 'upstream.unavailable'
  if (code === status.DEADLINE_EXCEEDED) return 'upstream.timeout'
  return 'upstream.bad-gateway'
}

function transportDetail(code: status): string {
  if (code === status.UNAVAILABLE) return 'The data service cannot be reached at the moment.'
  if (code === status.DEADLINE_EXCEEDED) return 'The data service did not answer in time.'
  return 'The data service gave an answer that could not be understood.'
}
