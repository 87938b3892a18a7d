import { isIP } from 'node:net'

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

/** An address in brackets, or one of IPv4, with a port or without. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/

/**
 * The IP address in an entry of `X-Forwarded-For`: proxies write it with its port, IPv6 in brackets, and some of them in
 * the double quotes that `Forwarded` needs (RFC 7239 section 6). undefined where there is none, as for a connection that
 * has gone, whose address Node does not know any more.
 */
export function forwardedAddress(entry: string | undefined): string | undefined {
  if (entry === undefined) return undefined
  const text = entry.length > 1 && entry.startsWith('"') && entry.endsWith('"') ? entry.slice(1, -1) : entry
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? []
  const address = ipv6 ?? ipv4 ?? text
  return isIP(address) === 0 ? undefined : address
}
