import { DomainError } from '../../shared/domain-error.js'
import { withoutOws } from './optional-whitespace.js'

const KEY = /^[\x21-\x7e]{1,255}$/
/** An sf-string (RFC 8941 section 3.3.3). */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * The key in the lines of `Idempotency-Key`, without its quotes where it came in some; undefined for none or a blank
 * one. Throws `idempotency.key.invalid`.
 */
export function idempotencyKey(lines: readonly string[]): string | undefined {
  if (lines.length > 1) throw invalid('must be sent once.')
  const value = withoutOws(lines[0] ?? '')
  if (value === '') return undefined
  const key = value.startsWith('"') ? QUOTED.exec(value)?.[1]?.replace(/\\(.)/g, '$1') : value
  if (key === undefined) throw invalid('is no string in double quotes: escape " and \\ with a \\, and end it with a ".')
  if (!KEY.test(key)) throw invalid('must be 1 to 255 visible ASCII characters.')
  return key
}

function invalid(what: string): DomainError {
  const detail = `The header Idempotency-Key ${what}`
  return new DomainError('idempotency.key.invalid', detail, {
    faults: [{ code: 'idempotency.key.invalid', detail, place: { in: 'header', name: 'Idempotency-Key' } }]
  })
}
