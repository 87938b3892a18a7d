import { credentials, Metadata, status, type CallCredentials, type ServiceError } from '@grpc/grpc-js'
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

/** Why an attempt got no answer. `cause` is what grpc-js says of it. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure'
  /** false where the data service certainly did not begin the call: then even a write may be sent elsewhere. */
  readonly maybeSent: boolean

  constructor(cause: unknown, maybeSent: boolean) {
    super('The call failed.', { cause })
    this.maybeSent = maybeSent
  }
}

const NOTHING = new Metadata()

/**
 * Knows afterwards whether a call may have reached the data service. grpc-js asks call credentials for their metadata
 * when a connection has been picked, immediately before it sends the head of the call, and never before that.
 */
export function sendingNoted(): { readonly credentials: CallCredentials; maybe(error: unknown): boolean } {
  let picked = false
  const noting = credentials.createFromMetadataGenerator((_options, done) => {
    picked = true
    done(null, NOTHING)
  })
  return { credentials: noting, maybe: (error) => picked && !isUnprocessed(error) }
}

/**
 * Whether the call had a connection and was still never begun: its stream was refused (RFC 9113 section 8.7), as those
 * are that a server going away no longer takes, or could not be opened. grpc-js says so in words alone.
 */
function isUnprocessed(error: unknown): boolean {
  if (!isServiceError(error) || error.metadata.get('grpc-status-details-bin').length > 0) return false
  if (error.code === status.UNAVAILABLE) return error.details === 'Stream refused by server'
  return error.code === status.INTERNAL && error.details.startsWith('Failed to start HTTP/2 stream')
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error
}
