import { DomainError } from '../../shared/errors.js'
import { decodeBase64 } from '../../shared/transport/wire.js'
import { listMembers, trimOws } from './header-fields.js'

/** The content of `If-Match`: the decoded row versions, or why there are none. The data service decides what it means. */
export type IfMatch =
  | { readonly kind: 'absent' | 'wildcard' | 'malformed' }
  | { readonly kind: 'tags'; readonly versions: readonly Buffer[] }

/** `W/` is case-sensitive (RFC 9110 section 8.8.3). */
const ENTITY_TAG = /^(?:W\/)?"([^"]*)"$/

/**
 * Decodes `If-Match` (RFC 9110 section 13.1.1). `header` holds all its lines joined by commas. A comma inside the quotes
 * of a tag splits the tag into two parts, neither of which is a tag; base64 has no comma, so no valid tag is lost.
 */
export function ifMatch(header: string | undefined): IfMatch {
  const value = trimOws(header ?? '')
  if (value === '*') return { kind: 'wildcard' }
  const members = listMembers(value)
  if (members.length === 0) return { kind: 'absent' }
  const versions: Buffer[] = []
  for (const member of members) {
    const version = versionIn(member)
    if (version === undefined) return { kind: 'malformed' }
    versions.push(version)
  }
  return { kind: 'tags', versions }
}

function versionIn(tag: string): Buffer | undefined {
  const [, text = ''] = ENTITY_TAG.exec(tag) ?? []
  return text === '' ? undefined : decodeBase64(text)
}

/** The weak entity tag of a row version (RFC 9110 section 8.8.3). undefined for an empty version, which means none. */
export function entityTag(rowVersion: Buffer): string | undefined {
  return rowVersion.length === 0 ? undefined : `W/"${rowVersion.toString('base64')}"`
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/
/** A string of structured fields (RFC 8941 section 3.3.3). */
const SF_STRING = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/

/**
 * The key in the lines of `Idempotency-Key`, without quotes and escapes if it was sent as a quoted string. undefined if
 * there is no line or a blank one. Throws `idempotency.key.invalid`.
 */
export function idempotencyKey(lines: readonly string[]): string | undefined {
  if (lines.length > 1) throw invalidKey('must be sent once.')
  const value = trimOws(lines[0] ?? '')
  if (value === '') return undefined
  const key = value.startsWith('"') ? SF_STRING.exec(value)?.[1]?.replace(/\\(.)/g, '$1') : value
  if (key === undefined) {
    throw invalidKey('is no string in double quotes: escape " and \\ with a \\, and end it with a ".')
  }
  if (!IDEMPOTENCY_KEY.test(key)) throw invalidKey('must be 1 to 255 visible ASCII characters.')
  return key
}

function invalidKey(reason: string): DomainError {
  const detail = `The header Idempotency-Key ${reason}`
  return new DomainError('idempotency.key.invalid', detail, {
    violations: [{ code: 'idempotency.key.invalid', detail, place: { in: 'header', name: 'Idempotency-Key' } }]
  })
}
