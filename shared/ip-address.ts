import { isIP, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/** 127.0.0.0/8, also in its IPv4-mapped form (RFC 4291 section 2.5.5.2), and ::1, which URLs write in brackets. */
const LOOPBACK = /^(?:localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1|\[::1\])$/

/** Whether a host name or address leads to this machine itself. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host)
}

/** Groups of an IPv6 address (of eight) that name its network. The owner of a network chooses the others freely. */
const NETWORK_GROUPS = 4

/**
 * The key under which limits count a client's address: an IPv4 address itself, also if it is written as an IPv6 address,
 * and the /64 network of any other IPv6 address. Any other text is returned unchanged.
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

/** 2000::/3, of which all addresses of the public Internet are so far (RFC 4291 section 2.5.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Whether an IP address is one of the public Internet: in no range that has a special purpose, as those of loopback,
 * link-local and private addresses, and of IPv6 addresses that lead to an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const ip = ipaddr.process(address)
  return ip.range() === 'unicast' && (ip instanceof ipaddr.IPv4 || ip.match(GLOBAL_UNICAST))
}
