import { BlockList, isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Logger } from '../../shared/logger.js'

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

/** The public base URL in its two parts. */
export interface PublicBaseUrl {
  /** `https://shop.example` */
  readonly origin: string
  /** `/api`, or empty: the prefix of every route. */
  readonly path: string
}

/** Path segments are limited to characters that mean nothing to a router and need no escaping in a link. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/

/** What the data service keeps of a link (entity_service.proto, CreateRequest). */
const LONGEST = 2048

/** The Error's message completes the sentence "PUBLIC_BASE_URL …". */
export function parsePublicBaseUrl(text: string): PublicBaseUrl | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return new Error('must be an absolute http or https URL')
  }
  if (text.length > LONGEST) return new Error(`must have at most ${LONGEST} characters`)
  if (text.includes('?') || text.includes('#')) return new Error('must have neither query nor fragment')
  if (url.username !== '' || url.password !== '') return new Error('must have no user name or password')
  if (!PLAIN_PATH.test(url.pathname)) {
    return new Error('must have a path of letters, digits and . _ ~ - in plain segments')
  }
  return { origin: url.origin, path: url.pathname.replace(/\/$/, '') }
}

type Scheme = 'file:' | 'http:' | 'https:'

/**
 * The URL of a service behind the gateway, in one of the schemes. Plain http is taken from the loopback besides, for
 * emulators. The Error's message completes the sentence "NAME …".
 */
export function parseServiceUrl(text: string, schemes: readonly Scheme[]): string | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const accepted = url !== undefined && (schemes.some((one) => one === url.protocol) || isLoopbackHttp(url))
  return accepted ? text : new Error(`must be a URL that starts with ${schemes.join(' or ')}`)
}

function isLoopbackHttp(url: URL): boolean {
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
}

/** Whom a request is from: what trusted proxies tell, unless that is no address, else who connected. */
export function clientAddress({ ip, socket }: ClientRequest): string {
  return (ip === undefined ? undefined : forwardedAddress(ip)) ?? socket.remoteAddress ?? ''
}

/** Fastify says that `ip` is always there. It is not once the client has gone, and neither is the socket's address. */
type ClientRequest = Pick<FastifyRequest, 'socket'> & { readonly ip: string | undefined }

/**
 * Warns, once in the life of the process, of an `X-Forwarded-For` that is not believed. Behind a proxy that
 * `TRUSTED_PROXIES` does not name, all clients have one address: its own.
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

/** The settings that say where clients find the gateway. */
export interface AddressSettings {
  readonly host: string
  readonly port: number
  readonly httpTls?: unknown
  readonly publicBaseUrl?: PublicBaseUrl | undefined
  readonly trustedProxies: TrustedProxies
}

/** Where clients find the gateway: the base of every absolute link. */
export class PublicAddress {
  readonly #config: AddressSettings
  #listener: string

  constructor(config: AddressSettings) {
    this.#config = config
    this.#listener = listenerOf(config, config.port)
  }

  /** Learns the port once it is known. Answers the listener's own base, which a curl on this machine can use. */
  listening(app: FastifyInstance): string {
    const address = app.server.address()
    const port = typeof address === 'object' && address !== null ? address.port : this.#config.port
    this.#listener = listenerOf(this.#config, port)
    return this.#listener + this.prefix
  }

  /** The path that prefixes every route, empty or `/api`. */
  get prefix(): string {
    return this.#config.publicBaseUrl?.path ?? ''
  }

  /** The base where no request can tell more. */
  get base(): string {
    return (this.#config.publicBaseUrl?.origin ?? this.#listener) + this.prefix
  }

  /** The base for one request: what is configured, else what a trusted proxy says, else the listener. */
  baseFor(request: FastifyRequest): string {
    const { publicBaseUrl, trustedProxies } = this.#config
    if (publicBaseUrl !== undefined) return this.base
    const { 'x-forwarded-proto': proto, 'x-forwarded-host': host } = request.headers
    if (proto === undefined && host === undefined) return this.base
    return trustedProxies.trusts(request.socket.remoteAddress)
      ? forwardedOrigin({ proto, host }, this.#listener)
      : this.base
  }
}

function listenerOf({ host, httpTls }: AddressSettings, port: number): string {
  return `${httpTls === undefined ? 'http' : 'https'}://${authority(host, port)}`
}

/** A listener on every address is reached as localhost. */
function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${name}:${port}`
}
