import type { IncomingHttpHeaders } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { LRUCache } from 'lru-cache'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from '../../shared/logger.js'

/** An IPv6 address in brackets or an IPv4 address, each with or without a port. */
const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+))(?::\d{1,5})?$/

/**
 * The IP address in an entry of `X-Forwarded-For`. Some proxies write it with a port, IPv6 in brackets, or in the double
 * quotes that `Forwarded` needs (RFC 7239 section 6). undefined for anything else, and for undefined: that is the
 * address of a connection that is closed already.
 */
export function forwardedAddress(entry: string | undefined): string | undefined {
  if (entry === undefined) return undefined
  const text = entry.length > 1 && entry.startsWith('"') && entry.endsWith('"') ? entry.slice(1, -1) : entry
  const [, ipv6, ipv4] = WITH_PORT.exec(text) ?? []
  const address = ipv6 ?? ipv4 ?? text
  return isIP(address) === 0 ? undefined : address
}

/** Addresses of which it is known whether they are a proxy's, and characters of the longest. */
const MAX_KNOWN = 1000
const MAX_ADDRESS_LENGTH = 64

/**
 * The proxies whose `X-Forwarded-*` headers are believed. The peer of every request is compared with them, so they are
 * in Node's own BlockList: libraries take two times as long for IPv6 addresses and the IPv4-mapped ones of a listener on
 * `::`, and none of them reads an entry with a port.
 */
export class TrustedProxies {
  readonly #addresses = new BlockList()
  /** What was found of addresses. A BlockList makes an object of each address that it is asked for. */
  readonly #known = new LRUCache<string, boolean>({ max: MAX_KNOWN })

  /** Comma-separated addresses and CIDR ranges. The Error's message completes the sentence "TRUSTED_PROXIES …". */
  static parse(text: string): TrustedProxies | Error {
    const proxies = new TrustedProxies()
    const items = text.split(',').map((item) => item.trim())
    const wrong = items.filter((item) => item !== '' && !proxies.#add(item))
    return wrong.length === 0 ? proxies : new Error('must list addresses or ranges such as 10.0.0.0/8')
  }

  /**
   * Whether an address belongs to a trusted proxy. It may be a socket's remote address, which can be an IPv4-mapped
   * IPv6 address, or an entry of `X-Forwarded-For`, which can have a port.
   */
  trusts(address: string | undefined): boolean {
    if (address === undefined) return false
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const isTrusted = this.#includes(address)
    if (address.length <= MAX_ADDRESS_LENGTH) this.#known.set(address, isTrusted)
    return isTrusted
  }

  /**
   * The address of the client of a connection: of a trusted proxy's, the last address in `X-Forwarded-For` that is no trusted
   * proxy's. It is the peer's where the header names none.
   */
  clientOf(remoteAddress: string, forwardedFor: string | undefined): string {
    if (forwardedFor === undefined || !this.trusts(remoteAddress)) return remoteAddress
    let client = remoteAddress
    for (let end = forwardedFor.length; end >= 0 && this.trusts(client);) {
      const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(',', end - 1)
      const named = forwardedAddress(forwardedFor.slice(comma + 1, end).trim())
      if (named === undefined) break
      client = named
      end = comma
    }
    return client
  }

  #includes(address: string): boolean {
    // The zone of a link-local address (RFC 4007) names an interface of this machine only.
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

declare module 'fastify' {
  interface FastifyRequest {
    /** As TrustedProxies finds it. undefined before the first hooks, and for requests that Fastify refuses before them. */
    clientIp: string | undefined
  }
}

/**
 * Finds the address of the client once for each request. Fastify's own `ip` reads all of `X-Forwarded-For` before it asks
 * whether the peer is trusted: a header of megabytes holds the process for a second.
 */
export const clientAddresses = fp<{ trustedProxies: TrustedProxies }>(
  async (app, { trustedProxies }) => {
    app.decorateRequest('clientIp', undefined)
    app.addHook('onRequest', (request, _reply, done) => {
      const { headers, socket } = request
      request.clientIp = trustedProxies.clientOf(socket.remoteAddress ?? '', forwardedFor(headers))
      done()
    })
  },
  { name: 'client-addresses', fastify: '5.x' }
)

/** The value of `X-Forwarded-For`, of one or of several lines. */
export function forwardedFor({ 'x-forwarded-for': value }: IncomingHttpHeaders): string | undefined {
  return Array.isArray(value) ? value.join() : value
}

/**
 * The IP address of the client: the one that trusted proxies report, or the peer's address. Empty once the connection is
 * closed.
 */
export function clientAddress({ clientIp, socket }: Pick<FastifyRequest, 'clientIp' | 'socket'>): string {
  return clientIp ?? socket.remoteAddress ?? ''
}

/**
 * Warns once of an `X-Forwarded-For` that is not believed. Behind a proxy that is not in `TRUSTED_PROXIES` all clients
 * share one address, the proxy's.
 */
export const untrustedProxyWarning = fp<{ trustedProxies: TrustedProxies; log: Logger }>(
  async (app, { trustedProxies, log }) => {
    let warned = false
    app.addHook('onRequest', ({ headers, socket }, _reply, done) => {
      if (!warned && headers['x-forwarded-for'] !== undefined && !trustedProxies.trusts(socket.remoteAddress)) {
        warned = true
        log.warn(
          { peer: socket.remoteAddress },
          'X-Forwarded-For is ignored, since the peer is not in TRUSTED_PROXIES: all clients behind it count as one address. If it is a proxy of yours, add its address there'
        )
      }
      done()
    })
  },
  { name: 'untrusted-proxy-warning', fastify: '5.x' }
)
