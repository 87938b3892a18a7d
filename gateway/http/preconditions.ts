import { DomainError } from '../../shared/errors.js'
import { decodeBase64 } from '../../shared/wire.js'

/**
 * Without the spaces and tabs around it (RFC 9110 section 5.6.3). `trim` would take a no-break space too, and a pattern
 * would take quadratic time for a long row of spaces.
 */
export function withoutOws(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isOws(text, start)) start += 1
  while (end > start && isOws(text, end - 1)) end -= 1
  return text.slice(start, end)
}

function isOws(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}

/** The values of a header's lines, one a line. `rawHeaders` are names and values in turn; `name` is lower-case. */
export function headerLines(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
}

/** What `If-Match` says, decoded and not judged. */
export type IfMatch =
  { readonly kind: 'absent' | 'any' | 'malformed' } | { readonly kind: 'tags'; readonly versions: readonly Buffer[] }

/** `W/` is case-sensitive (RFC 9110 section 8.8.3). */
const ENTITY_TAG = /^(?:W\/)?"([^"]*)"$/

/**
 * Decodes `If-Match`, several lines of it joined by commas. Empty list members count for nothing (RFC 9110 section
 * 5.6.1). A comma within the quotes of a tag cuts it in two, neither of which is one: base64 has no comma.
 */
export function ifMatch(header: string | undefined): IfMatch {
  const value = withoutOws(header ?? '')
  if (value === '*') return { kind: 'any' }
  const members = value
    .split(',')
    .map(withoutOws)
    .filter((member) => member !== '')
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

/** The weak entity tag of a row version; undefined for the empty one, which is no version. */
export function entityTag(rowVersion: Buffer): string | undefined {
  return rowVersion.length === 0 ? undefined : `W/"${rowVersion.toString('base64')}"`
}

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
