import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { GatewayConfig } from './config.js'
import { forwardedOrigin } from './headers/forwarded-origin.js'

/** Where clients find the gateway: the base of every absolute link. */
export class PublicAddress {
  readonly #config: GatewayConfig
  #listener: string

  constructor(config: GatewayConfig) {
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

function listenerOf({ host, httpTls }: GatewayConfig, port: number): string {
  return `${httpTls === undefined ? 'http' : 'https'}://${authority(host, port)}`
}

/** A listener on every address is reached as localhost. */
function authority(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${name}:${port}`
}
