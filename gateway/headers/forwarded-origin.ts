/** A name has at most 253 characters (RFC 1035 section 2.3.4). */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/** What `X-Forwarded-Proto` and `X-Forwarded-Host` of a trusted proxy make of the listener's own origin. */
export function forwardedOrigin(
  headers: { readonly proto: string | string[] | undefined; readonly host: string | string[] | undefined },
  listener: string
): string {
  const own = new URL(listener)
  const proto = lastOf(headers.proto)?.toLowerCase()
  const host = lastOf(headers.host)
  const scheme = proto === 'http' || proto === 'https' ? `${proto}:` : own.protocol
  return `${scheme}//${host !== undefined && HOST.test(host) ? host.toLowerCase() : own.host}`
}

/** The last value is the one that the trusted proxy itself wrote. */
function lastOf(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(',') : header
  return text?.split(',').at(-1)?.trim()
}
