import { DomainError, rejectionAt } from '../../../shared/errors.js'
import { isWithinBounds } from '../../../shared/transport/json-bounds.js'
import { checkBodyLength } from '../../../shared/transport/wire.js'
import { storedJson } from '../../entity/fields/json-parser.js'
import type { JsonValue } from '../../entity/fields/json-values.js'
import { quoted } from './violations.js'

/**
 * The JSON of a body, numbers with all their digits. Throws `body.too-large`, `body.malformed`, or `body.invalid` for
 * what RFC 8259 leaves open: a name that comes twice, and depth.
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  checkBodyLength(bytes.length)
  if (!isWithinBounds(bytes)) throw malformed()
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return storedJson(text, (name) => {
      throw invalid(`The body says ${quoted(name)} twice.`)
    })
  } catch (error) {
    throw error instanceof DomainError ? error : malformed(error)
  }
}

function malformed(cause?: unknown): DomainError {
  const place = { in: 'pointer', name: '' } as const
  return rejectionAt('body.malformed', 'The body is not JSON (RFC 8259) in UTF-8.', { place, cause })
}

function invalid(detail: string): DomainError {
  return rejectionAt('body.invalid', detail, { place: { in: 'pointer', name: '' } })
}
