import { DomainError } from '../../shared/errors.js'
import { withoutOws } from './preconditions.js'

/** The value of a preference: none, a token or a quoted string (RFC 7240 section 2). */
const VALUE = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]*|"(?:[^"\\]|\\.)*")$/s

/**
 * Whether `Prefer` asks for strict handling (RFC 7240). The first `handling` counts, parameters after `;` are skipped,
 * and what does not parse does not count.
 */
export function prefersStrict(header: string | undefined): boolean {
  for (const item of splitOutsideQuotes(header ?? '', ',')) {
    const [preference = ''] = splitOutsideQuotes(item, ';')
    const [name = '', value = '', ...more] = splitOutsideQuotes(preference, '=').map(withoutOws)
    if (name.toLowerCase() !== 'handling' || more.length > 0 || !VALUE.test(value)) continue
    const text = value.startsWith('"') ? value.slice(1, -1).replace(/\\(.)/gs, '$1') : value
    return text.toLowerCase() === 'strict'
  }
  return false
}

/**
 * Character by character, since a pattern that knows quoted strings takes quadratic time for quotes that never close.
 * Such a quote reaches to the end.
 */
function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (character === '"') quoted = !quoted
    else if (quoted && character === '\\') at += 1
    else if (!quoted && character === separator) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...parts, text.slice(start)]
}

const MAX_NAMES = 20
const MAX_BYTES = 2048

/**
 * The value of `X-Ignored-Parameters`: percent-encoded names, comma-separated, at most 20 of them and 2 KB; a name that
 * does not fit is left out whole. undefined where there is none to tell.
 */
export function ignoredParameters(names: readonly string[]): string | undefined {
  let value = ''
  let count = 0
  for (const name of names) {
    const encoded = encodeURIComponent(name)
    const longer = value === '' ? encoded : `${value},${encoded}`
    if (encoded === '' || longer.length > MAX_BYTES) continue
    value = longer
    count += 1
    if (count === MAX_NAMES) break
  }
  return value === '' ? undefined : value
}

/** The value of `api-supported-versions`. */
export const SUPPORTED_VERSIONS = '1.0'

/** Throws `version.unsupported` on anything but an absent header, `1` and `1.0`. */
export function checkApiVersion(header: string | string[] | undefined): void {
  if (header === undefined || header === '1' || header === '1.0') return
  throw new DomainError('version.unsupported', 'The header api-version must be 1 or 1.0, or left out.')
}

const HTML = /^[\t ]*text\/html[\t ]*(?:;|$)/i
const WEIGHT = /^[\t ]*q[\t ]*=/i

/** Whether `Accept` (RFC 9110 section 12.5.1) names `text/html` with a weight above 0; a wildcard does not. */
export function acceptsHtml(accept: string | undefined): boolean {
  return (accept ?? '').split(',').some((range) => {
    if (!HTML.test(range)) return false
    const weight = range.split(';').find((parameter) => WEIGHT.test(parameter))
    return weight === undefined || Number(weight.slice(weight.indexOf('=') + 1)) > 0
  })
}
