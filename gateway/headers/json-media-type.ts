import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../../shared/domain-error.js'

const JSON_MEDIA_TYPE = /^application\/json[\t ]*(?:;|$)/i
/** JSON is UTF-8 (RFC 8259 section 8.1): a charset may say so, or be left out. */
const OTHER_CHARSET = /;[\t ]*charset=(?!"?utf-8"?[\t ]*(?:;|$))/i

/** Throws `media-type.unsupported` unless the body is announced as plain JSON. Where there is none, nothing need be. */
export function checkJsonMediaType(headers: IncomingHttpHeaders): void {
  const { 'content-type': type, 'content-encoding': coding } = headers
  if (coding !== undefined && coding !== '' && coding.toLowerCase() !== 'identity') {
    throw new DomainError('media-type.unsupported', 'The body must be sent without a Content-Encoding.')
  }
  if (type === undefined ? announcesBody(headers) : !JSON_MEDIA_TYPE.test(type) || OTHER_CHARSET.test(type)) {
    throw new DomainError(
      'media-type.unsupported',
      'The body must be sent with Content-Type: application/json, in UTF-8.'
    )
  }
}

function announcesBody({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): boolean {
  return coding !== undefined || Number(length ?? 0) > 0
}
