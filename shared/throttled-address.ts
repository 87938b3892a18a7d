import { isIPv6, SocketAddress } from 'node:net'

/** RFC 4291 section 2.5.5.2, as SocketAddress writes it. */
const MAPPED_IPV4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/
const GROUPS = 8
/** Of the eight, those of the network: its owner can make up all others. */
const NETWORK_GROUPS = 4

/** What failures are counted under for an address: an IPv4 address itself, of an IPv6 address its /64 network. */
export function throttledAddress(address: string): string {
  const [text = ''] = address.split('%')
  if (!isIPv6(text)) return address
  // An IPv4 address in IPv6 has many spellings, `::ffff:c633:6440` among them; this makes them one.
  const plain = new SocketAddress({ address: text, family: 'ipv6' }).address
  const [, ipv4] = MAPPED_IPV4.exec(plain) ?? []
  return ipv4 ?? `${groupsOf(plain).slice(0, NETWORK_GROUPS).join(':')}::/64`
}

function groupsOf(address: string): string[] {
  const [head = '', tail] = address.toLowerCase().split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail === undefined || tail === '' ? [] : tail.split(':')
  // An address that ends in IPv4 has two groups there; they are none of the network's.
  const zeros = tail === undefined ? 0 : Math.max(0, GROUPS - before.length - after.length)
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
  return groups.map((group) => group.replace(/^0+(?=.)/, ''))
}
