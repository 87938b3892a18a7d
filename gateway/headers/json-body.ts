import { isUtf8 } from 'node:buffer'
import { DomainError } from '../../shared/domain-error.js'

/**
 * Throws `body.malformed` unless the bytes are JSON (RFC 8259), which is UTF-8 without a byte order mark. What they say
 * is dropped: a number would not keep its digits, so the bytes themselves go on.
 */
export function checkJsonBody(body: Buffer): void {
  if (body.length === 0) throw malformed('The body is empty: send a JSON object.')
  if (!isUtf8(body)) throw malformed('The body is not UTF-8.')
  try {
    JSON.parse(body.toString('utf8'))
  } catch (cause) {
    throw malformed('The body is not well-formed JSON.', cause)
  }
}

function malformed(detail: string, cause?: unknown): DomainError {
  return new DomainError('body.malformed', detail, cause === undefined ? {} : { cause })
}
