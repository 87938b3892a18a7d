import { withoutOws } from './optional-whitespace.js'

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
