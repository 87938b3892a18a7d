import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All of 127.0.0.0/8, in its IPv4-mapped form too (RFC 4291 section 2.5.5.2), and ::1, which URLs write in brackets. */
const LOOPBACK = /^(?:localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether a host name or address is this machine itself. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/** Of the eight groups of an IPv6 address, those of its network: whoever has the network chooses the others freely. */
const NETWORK_GROUPS = 4

/**
 * The key under which limits count a client's address: an IPv4 address itself, in any of the spellings that IPv6 has for
 * it, and the /64 network of an IPv6 address. Any other text is answered unchanged.
 */
export function throttledAddress(address: string): string {
  // The zone of a link-local address (RFC 4007) is not part of the address.
  const [text = ''] = address.split('%')
  if (!isIPv6(text)) return address
  const ip = ipaddr.process(text)
  if (ip instanceof ipaddr.IPv4) return ip.toString()
  const network = ip.parts.slice(0, NETWORK_GROUPS).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}
