import { Metadata } from '@grpc/grpc-js'
import { DomainError } from '../shared/domain-error.js'
import { CLIENT_ADDRESS_METADATA } from '../shared/grpc-security.js'
import type { DataCall } from './data-calls.js'

/**
 * A token this long would pass what an HTTP/2 peer takes in headers and cost every other call its connection; no token
 * of an issuer we accept comes near it.
 */
const MAX_AUTHORIZATION = 8 * 1024

/** What gRPC may carry as text: visible ASCII and spaces. */
const METADATA_TEXT = /^[\x20-\x7e]*$/

export function callMetadata(call: DataCall): Metadata {
  const metadata = new Metadata()
  if (call.authorization !== undefined) metadata.set('authorization', carriable(call.authorization))
  metadata.set('x-request-id', call.requestId)
  if (call.clientAddress !== undefined) metadata.set(CLIENT_ADDRESS_METADATA, call.clientAddress)
  if (call.traceparent !== undefined) metadata.set('traceparent', call.traceparent)
  return metadata
}

/** An `Authorization` that cannot be carried holds no valid token either, so it is refused as one. */
function carriable(authorization: string): string {
  if (authorization.length <= MAX_AUTHORIZATION && METADATA_TEXT.test(authorization)) return authorization
  throw new DomainError('auth.invalid-token', 'The access token is not a well-formed JWT.')
}
