import { BlockList, isIP } from 'node:net'
import { forwardedAddress } from '../headers/forwarded-origin.js'

/** The addresses whose `X-Forwarded-*` headers are believed. */
export class TrustedProxies {
  readonly #addresses = new BlockList()

  /** Comma-separated addresses and CIDR ranges. The Error's message completes the sentence "TRUSTED_PROXIES …". */
  static parse(text: string): TrustedProxies | Error {
    const proxies = new TrustedProxies()
    const wrong = text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '' && !proxies.#add(item))
    return wrong.length === 0 ? proxies : new Error('must list addresses or ranges such as 10.0.0.0/8')
  }

  /**
   * Whether a socket's remote address, an IPv4 one in its IPv6 form included, or an entry of `X-Forwarded-For`, which may
   * carry a port, is one of them.
   */
  trusts(address: string | undefined): boolean {
    if (address === undefined) return false
    // The zone of a link-local address is the machine's own affair.
    const [known = ''] = (forwardedAddress(address) ?? '').split('%', 1)
    const plain = known.replace(/^::ffff:(?=\d+\.)/i, '')
    const version = isIP(plain)
    return version !== 0 && this.#addresses.check(plain, version === 4 ? 'ipv4' : 'ipv6')
  }

  #add(item: string): boolean {
    const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(item) ?? []
    const version = isIP(address)
    if (version === 0 || Number(prefix ?? 0) > (version === 4 ? 32 : 128)) return false
    const family = version === 4 ? 'ipv4' : 'ipv6'
    if (prefix === undefined) this.#addresses.addAddress(address, family)
    else this.#addresses.addSubnet(address, Number(prefix), family)
    return true
  }
}
