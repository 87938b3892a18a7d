import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../../shared/domain-error.js'

/** Parameters make no difference: JSON has none (RFC 8259 section 11). */
const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i

/** Throws `media-type.unsupported` unless the body is announced as plain JSON. Where there is none, nothing need be. */
export function checkJsonMediaType(headers: IncomingHttpHeaders): void {
  const { 'content-type': type, 'content-encoding': coding } = headers
  if (coding !== undefined && coding !== '' && coding.toLowerCase() !== 'identity') {
    throw new DomainError('media-type.unsupported', 'The body must be sent without a Content-Encoding.')
  }
  if (type === undefined ? announcesBody(headers) : !JSON_MEDIA_TYPE.test(type)) {
    throw new DomainError('media-type.unsupported', 'The body must be sent with Content-Type: application/json.')
  }
}

function announcesBody({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  return coding !== undefined || Number(length ?? 0) > 0
}
