/** `Cache-Control` (RFC 9111 section 5.2.2, RFC 8246) of a file whose path holds a digest of its content: for a year. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * The values of the lines of one header, in order. `rawHeaders` holds names and values in turn, as Node has them; `name`
 * is in lower case.
 */
export function headerLines(rawHeaders: readonly string[], name: string): string[] {
  const lines: string[] = []
  // The length is compared first, since this runs for every header of every request.
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const [sent = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (sent.length === name.length && sent.toLowerCase() === name) lines.push(value)
  }
  return lines
}

/**
 * The credentials of a request (RFC 9110 section 11.6.2); undefined if there are none. Several lines are joined to one
 * list, which is never a valid token: Node would keep the first line, and an intermediary may have checked another one.
 */
export function authorizationOf(rawHeaders: readonly string[]): string | undefined {
  const lines = headerLines(rawHeaders, 'authorization')
  return lines.length === 0 ? undefined : lines.join(', ')
}

/**
 * Removes optional whitespace, which is spaces and tabs, from both ends (RFC 9110 section 5.6.3). `trim` would remove a
 * no-break space too, and a regular expression would take quadratic time for a long row of spaces.
 */
export function trimOws(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isOws(text, start)) start += 1
  while (end > start && isOws(text, end - 1)) end -= 1
  return text.slice(start, end)
}

function isOws(text: string, at: number): boolean {
  return text[at] === ' ' || text[at] === '\t'
}

/** The members of a comma-separated list without the empty ones (RFC 9110 section 5.6.1). Quotes are not looked at. */
export function listMembers(value: string): string[] {
  return value
    .split(',')
    .map(trimOws)
    .filter((member) => member !== '')
}

/**
 * Splits at each separator outside double quotes (RFC 9110 section 5.6.4). A quoted string that is never closed reaches
 * to the end of the text. A regular expression would take quadratic time for many such quotes.
 */
export function splitOutsideQuotes(text: string, separator: string): string[] {
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

/** `Vary` with further field names, each of them once in any letter case (RFC 9110 section 12.5.5). undefined for none. */
export function addVary(vary: string | undefined, names: readonly string[]): string | undefined {
  const present = listMembers(vary ?? '')
  if (present.includes('*')) return '*'
  const known = new Set(present.map((name) => name.toLowerCase()))
  const all = [...present, ...names.filter((name) => !known.has(name.toLowerCase()))]
  return all.length === 0 ? undefined : all.join(', ')
}

/** Content codings in the order of preference (RFC 9110 section 8.4.1). */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

/** The first coding that `Accept-Encoding` names with a weight above 0 (RFC 9110 section 12.5.3). undefined for none. */
export function acceptedCoding(acceptEncoding: string): Coding | undefined {
  const accepted = new Set<string>()
  for (const member of listMembers(acceptEncoding)) {
    const [name = '', ...parameters] = member.split(';').map((part) => trimOws(part).toLowerCase())
    if (!parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))) accepted.add(name)
  }
  return CODINGS.find((coding) => accepted.has(coding))
}

/** Whether `If-None-Match` is `*` or holds the tag, compared weakly (RFC 9110 section 13.1.2). */
export function hasEntityTag(ifNoneMatch: string, tag: string): boolean {
  const opaque = (one: string): string => (one.startsWith('W/') ? one.slice(2) : one)
  return listMembers(ifNoneMatch).some((one) => one === '*' || opaque(one) === opaque(tag))
}

/**
 * Fields that belong to one connection, which an intermediary must not forward (RFC 9110 section 7.6.1). Fields that
 * `Connection` itself names belong to it too.
 */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade'
])
