/**
 * The distinct values of a cookie in a `Cookie` header, as sent; blank ones are left out. More than one means that
 * somebody else set a cookie of this name too (a neighbour on the domain can): nobody can tell which is whose.
 */
export function cookieValues(header: string | undefined, name: string): string[] {
  const values = new Set<string>()
  for (const pair of cookiePairs(header)) if (pair.name === name && pair.value !== '') values.add(pair.value)
  return [...values]
}

/** Name and value of each cookie, in order. Names are case-sensitive; what has no `=` is a value without a name. */
export function cookiePairs(header: string | undefined): { readonly name: string; readonly value: string }[] {
  if (header === undefined) return []
  return header.split(';').flatMap((part) => {
    const text = part.trim()
    const at = text.indexOf('=')
    if (text === '') return []
    return [{ name: text.slice(0, Math.max(at, 0)).trimEnd(), value: text.slice(at + 1).trimStart() }]
  })
}
