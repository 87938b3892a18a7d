import type { IncomingHttpHeaders } from 'node:http'

/** What the gateway adds to, or holds against, what the renderer answers. */
export interface PageContext {
  /** Whether the request carried session cookies: the page may name its user. */
  readonly personal: boolean
  /** Whether the gateway sets cookies with this answer. */
  readonly setsCookies: boolean
  /** Whether another `Accept` would have got another representation. */
  readonly varies: boolean
}

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade'
]

/** The session is the gateway's: a renderer cannot set its cookies. */
const OURS = /^[\s=]*app_(?:auth_access|auth_refresh|antiforgery)\s*=/

/** The renderer's headers as the browser gets them. */
export function downstreamHeaders(
  headers: Readonly<IncomingHttpHeaders>,
  { personal, setsCookies, varies }: PageContext
): IncomingHttpHeaders {
  const listed = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...listed, 'x-request-id', 'traceparent', 'set-cookie', 'vary'])
  const sent = Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)))
  const cookies = [headers['set-cookie'] ?? []].flat().filter((cookie) => !OURS.test(cookie))
  const unsaid = headers['cache-control'] === undefined
  const names = [...(varies ? ['Accept'] : []), ...(setsCookies || (personal && unsaid) ? ['Cookie'] : [])]
  const vary = varyOn(headers.vary, names)
  return {
    ...sent,
    ...(cookies.length === 0 ? {} : { 'set-cookie': cookies }),
    ...(vary === undefined ? {} : { vary }),
    // A page that greets its user must not greet the next one with that name out of a cache.
    ...(setsCookies || (personal && unsaid) ? { 'cache-control': 'private, no-store' } : {})
  }
}

/** `Vary` with more names, each once, in whatever letters (RFC 9110 section 12.5.5). */
function varyOn(vary: string | undefined, names: readonly string[]): string | undefined {
  const said = (vary ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  if (said.includes('*')) return '*'
  const known = new Set(said.map((name) => name.toLowerCase()))
  const all = [...said, ...names.filter((name) => !known.has(name.toLowerCase()))]
  return all.length === 0 ? undefined : all.join(', ')
}
