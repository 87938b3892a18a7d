import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isLoopback } from '../../shared/ip-address.js'
import type { TrustedProxies } from './client-address.js'
import { trimOws } from './header-fields.js'

/** The public base URL in two parts. */
export interface PublicBaseUrl {
  /** `https://shop.example` */
  readonly origin: string
  /** `/api`, or empty: the prefix of every route. */
  readonly path: string
}

/** The settings that decide where clients find the gateway. */
interface AddressSettings {
  readonly host: string
  readonly port: number
  /** Anything but undefined: the listener speaks HTTPS. */
  readonly httpTls?: unknown
  readonly publicBaseUrl?: PublicBaseUrl | undefined
  readonly trustedProxies: TrustedProxies
}

/** Where clients find the gateway: the base of every absolute link. */
export class PublicAddress {
  readonly #settings: AddressSettings
  #listener: string

  constructor(settings: AddressSettings) {
    this.#settings = settings
    this.#listener = listenerUrl(settings, settings.port)
  }

  /** Takes over the port that the app listens on. Returns the listener's own base URL, which works on this machine. */
  listening(app: FastifyInstance): string {
    const address = app.server.address()
    const port = typeof address === 'object' && address !== null ? address.port : this.#settings.port
    this.#listener = listenerUrl(this.#settings, port)
    return this.#listener + this.prefix
  }

  /** The path that prefixes every route: empty, or such as `/api`. */
  get prefix(): string {
    return this.#settings.publicBaseUrl?.path ?? ''
  }

  /** The base URL where there is no request to take it from. */
  get base(): string {
    return (this.#settings.publicBaseUrl?.origin ?? this.#listener) + this.prefix
  }

  /** The base URL for one request: the configured one, else what a trusted proxy reports, else the listener's. */
  baseFor(request: FastifyRequest): string {
    const { publicBaseUrl, trustedProxies } = this.#settings
    if (publicBaseUrl !== undefined) return this.base
    const { 'x-forwarded-proto': proto, 'x-forwarded-host': host } = request.headers
    if (proto === undefined && host === undefined) return this.base
    return trustedProxies.trusts(request.socket.remoteAddress)
      ? forwardedOrigin({ proto, host }, this.#listener)
      : this.base
  }
}

function listenerUrl({ host, httpTls }: AddressSettings, port: number): string {
  // A listener on every address can be reached as localhost.
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${httpTls === undefined ? 'http' : 'https'}://${name}:${port}`
}

/** A host name, which has at most 253 characters (RFC 1035 section 2.3.4), or an IPv6 address in brackets, and a port. */
const HOST = /^(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/

/**
 * The origin that `X-Forwarded-Proto` and `X-Forwarded-Host` of a trusted proxy report. What they do not report, or not
 * in a valid form, is taken from `listener`, the origin of the gateway's own listener.
 */
export function forwardedOrigin(
  headers: { readonly proto: string | string[] | undefined; readonly host: string | string[] | undefined },
  listener: string
): string {
  const own = new URL(listener)
  const proto = lastMember(headers.proto)?.toLowerCase()
  const host = lastMember(headers.host)
  const scheme = proto === 'http' || proto === 'https' ? `${proto}:` : own.protocol
  const origin = `${scheme}//${host !== undefined && HOST.test(host) ? host.toLowerCase() : own.host}`
  // A name such as `xn--a` and a port above 65535 have the form, and no URL holds them.
  return URL.canParse(origin) ? origin : `${scheme}//${own.host}`
}

/** The trusted proxy itself wrote the last member; a client may have sent the ones before it. */
function lastMember(header: string | string[] | undefined): string | undefined {
  const text = Array.isArray(header) ? header.join(',') : header
  const last = text?.split(',').at(-1)
  return last === undefined ? undefined : trimOws(last)
}

/** Path segments whose characters mean nothing to a router and need no escaping in a link. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/

/** The data service stores no link that is longer than this (entity_service.proto, CreateRequest). */
const MAX_BASE_URL_LENGTH = 2048

/** The Error's message completes the sentence "PUBLIC_BASE_URL …". */
export function parsePublicBaseUrl(text: string): PublicBaseUrl | Error {
  // The URL parser would leave out tabs and line breaks (WHATWG URL, basic URL parser).
  if (/\p{Cc}/u.test(text)) return new Error('must have no tab, line break or other control character')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return new Error('must be an absolute http or https URL')
  }
  if (text.length > MAX_BASE_URL_LENGTH) return new Error(`must have at most ${MAX_BASE_URL_LENGTH} characters`)
  if (text.includes('?') || text.includes('#')) return new Error('must have neither query nor fragment')
  if (url.username !== '' || url.password !== '') return new Error('must have no user name or password')
  if (!PLAIN_PATH.test(url.pathname)) {
    return new Error('must have a path of letters, digits and . _ ~ - in plain segments')
  }
  return { origin: url.origin, path: url.pathname.replace(/\/$/, '') }
}

type Scheme = 'file:' | 'http:' | 'https:'

/**
 * The URL of a service behind the gateway, with one of the schemes. Plain http to this machine is accepted as well, for
 * emulators. The Error's message completes the sentence "NAME …".
 */
export function parseServiceUrl(text: string, schemes: readonly Scheme[]): string | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const accepted =
    url !== undefined &&
    (schemes.some((scheme) => scheme === url.protocol) || (url.protocol === 'http:' && isLoopback(url.hostname)))
  return accepted ? text : new Error(`must be a URL that starts with ${schemes.join(' or ')}`)
}
