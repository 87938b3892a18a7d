import { decodeBase64 } from '../../shared/strict-base64.js'
import { withoutOws } from './optional-whitespace.js'

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
