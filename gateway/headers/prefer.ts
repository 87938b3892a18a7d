/** name, optional value (token or quoted string); parameters after `;` are skipped. */
const PREFERENCE =
  /^[\t ]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[\t ]*=[\t ]*(?:"((?:[^"\\]|\\.)*)"|([!#$%&'*+.^_`|~0-9A-Za-z-]*)))?[\t ]*(?:;.*)?$/s

/** Whether `Prefer` asks for strict handling (RFC 7240). The first `handling` counts; what does not parse does not. */
export function prefersStrict(header: string | undefined): boolean {
  if (header === undefined) return false
  for (const item of splitOutsideQuotes(header)) {
    const [, name, quoted, token] = PREFERENCE.exec(item) ?? []
    if (name?.toLowerCase() !== 'handling') continue
    return (quoted?.replace(/\\(.)/gs, '$1') ?? token ?? '').toLowerCase() === 'strict'
  }
  return false
}

function splitOutsideQuotes(header: string): string[] {
  return header.match(/(?:"(?:[^"\\]|\\.)*"|[^,"]|")+/gs) ?? []
}
