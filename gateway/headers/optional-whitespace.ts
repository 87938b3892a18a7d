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
