import { isIP } from 'node:net'
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  type ClientReadableStream,
  connectivityState,
  InterceptingCall,
  type Interceptor,
  status
} from '@grpc/grpc-js'
import { service as healthService } from 'grpc-health-check'
import type { Following } from '../../shared/files.js'
import type { Logger } from '../../shared/logger.js'
import {
  channelCredentials,
  GATEWAY_SECRET_METADATA,
  type GrpcSecurity,
  targetNameOf,
  TlsCertificates
} from '../../shared/tls.js'
import { CallStream, type StreamEnd } from './call-stream.js'
import { KeptRefusals } from './kept-refusals.js'

/** How the gateway verifies the data service and proves its own identity to it. */
export interface DataCredentials {
  readonly channel: ChannelCredentials
  /** Holds the interceptor that adds the gateway's secret, if there is one, to the metadata of every call. */
  readonly options: ClientOptions
}

/** Plain text and no secret. */
export const NO_CREDENTIALS: DataCredentials = { channel: channelCredentials(undefined), options: {} }

/**
 * Reads the certificate files and follows their changes until `stopping` is aborted. Rejects with a sentence that names
 * the file that cannot be used.
 */
export async function openDataCredentials(
  { tls, gatewaySecret }: GrpcSecurity,
  { log, ...following }: Following & { readonly log: Logger }
): Promise<DataCredentials> {
  const certificates =
    tls === undefined ? undefined : await TlsCertificates.open(tls, { ...following, log, what: 'gRPC client' })
  if (gatewaySecret === undefined && tls?.certFile === undefined) {
    log.warn(
      'neither GATEWAY_SECRET nor a client certificate is set: the data service counts every log-in through this ' +
        "gateway under the gateway's own address"
    )
  }
  return {
    channel: channelCredentials(certificates),
    options: gatewaySecret === undefined ? {} : { interceptors: [addSecret(gatewaySecret)] }
  }
}

function addSecret(secret: string): Interceptor {
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, listener, next) => {
        metadata.set(GATEWAY_SECRET_METADATA, secret)
        next(metadata, listener)
      }
    })
}

/** Lists of 1000 rows with their children are larger than gRPC's default limit of 4 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const CHANNEL_OPTIONS = {
  // With the 64 KiB of HTTP/2 a part of a large answer waits for this process once more before it is whole, and small
  // answers wait behind it.
  'grpc-node.flow_control_window': 256 * 1024,
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // Only keepalive detects a peer whose process is frozen, or that vanished without closing its connection.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5000,
  // grpc-js would repeat a rejected call on the same replica, and the caller would not learn that it had been rejected.
  'grpc.enable_retries': 0,
  // grpc-js calls a message of a stream sent while it has less than this waiting for HTTP/2. Its default is 1 MiB, which
  // would be calls that cannot be taken back (docs/decisions/065).
  'grpc.per_rpc_retry_buffer_size': 64 * 1024
}

/**
 * What the gateway knows about a replica. `connecting`: nothing yet, for at most CONNECT_TIMEOUT. `unreachable`: there is
 * no connection. `serving` and `not-serving`: what the replica's own health check says over its connection.
 */
export type HealthState = 'connecting' | 'serving' | 'not-serving' | 'unreachable'

/** Milliseconds after which a replica without a connection or a health status counts as unreachable. */
const CONNECT_TIMEOUT = 1000

/** Milliseconds between the end of one health watch and the start of the next one on the same connection. */
const REWATCH_DELAY = 1000

/** Milliseconds before a stream of calls is opened again after it has ended, and the most before any later try. */
const FIRST_REOPEN_DELAY = 100
const MAX_REOPEN_DELAY = 5000

/** The service whose health is watched. `auth.v1.AuthService` of the same process depends on the same database. */
export const WATCHED_SERVICE = 'entity.v1.EntityService'

/** A method of a generated service definition. */
export interface RpcMethod<Request, Response> {
  readonly path: string
  requestSerialize(request: Request): Buffer
  responseDeserialize(bytes: Buffer): Response
}

interface HealthResponse {
  readonly status: string
}

interface ReplicaOptions {
  /** IP address and port, such as `127.0.0.1:50051` or `[::1]:50051`. */
  readonly address: string
  /** `host:port` as configured. If the host is a name, the certificate must be for that name. */
  readonly name: string
  readonly credentials: DataCredentials
  /** Whether unary calls go by their own methods alone, and never over a stream. */
  readonly unaryOnly: boolean
  /** Called after each change of `health`. */
  readonly onChange: (replica: Replica) => void
  readonly log: Logger | undefined
}

/** One data service process: a connection that is kept open, its health, and the number of calls it is working on. */
export class Replica {
  readonly address: string
  readonly name: string
  readonly refusals = new KeptRefusals()
  /** Sends the calls; see `startCall`. */
  readonly client: Client
  readonly #unaryOnly: boolean
  readonly #onChange: (replica: Replica) => void
  readonly #log: Logger | undefined
  #health: HealthState = 'connecting'
  #inFlight = 0
  #watch: ClientReadableStream<HealthResponse> | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #rewatchTimer: NodeJS.Timeout | undefined
  #stream: CallStream | undefined
  #reopenTimer: NodeJS.Timeout | undefined
  #reopenDelay = FIRST_REOPEN_DELAY
  /** Whether the data service of this connection has streams of calls; one of an earlier version has none. */
  #hasStreams = true
  #hasLoggedUnary = false
  #hasLostStream = false
  #retired = false
  #closed = false

  constructor({ address, name, credentials, unaryOnly, onChange, log }: ReplicaOptions) {
    this.address = address
    this.name = name
    this.#unaryOnly = unaryOnly
    this.#onChange = onChange
    this.#log = log
    const host = targetNameOf(name)
    this.client = new Client(address, credentials.channel, {
      ...CHANNEL_OPTIONS,
      ...credentials.options,
      ...(isIP(host) === 0 ? { 'grpc.ssl_target_name_override': host, 'grpc.default_authority': name } : {})
    })
    this.#setHealth('connecting')
    this.#followConnection()
  }

  get health(): HealthState {
    return this.#health
  }

  /** Calls that were sent and have not ended, exports included. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The stream for unary calls; undefined while there is none. */
  get stream(): CallStream | undefined {
    return this.#stream?.isOpen === true ? this.#stream : undefined
  }

  /** Counts a call as in flight. Each call of this must be followed by exactly one `endCall`. */
  startCall(): void {
    this.#inFlight += 1
  }

  endCall(): void {
    this.#inFlight -= 1
    if (this.#retired && this.#inFlight === 0) this.close()
  }

  /** Closes the connection as soon as the calls in flight have ended. */
  retire(): void {
    this.#retired = true
    if (this.#inFlight === 0) this.close()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#connectTimer)
    clearTimeout(this.#reopenTimer)
    this.#endWatch()
    this.#stream?.close()
    this.client.close()
  }

  #followConnection(): void {
    if (this.#closed) return
    const channel = this.client.getChannel()
    // `true` makes grpc-js reconnect at once when the connection is lost, and not only when a call needs it.
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) {
      this.#hasStreams = true
      this.#watchHealth()
    } else {
      this.#endWatch()
      if (state === connectivityState.TRANSIENT_FAILURE) this.#setHealth('unreachable')
      else if (this.#health !== 'unreachable') this.#setHealth('connecting')
    }
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#followConnection())
  }

  /** The `Watch` method of the gRPC health checking protocol. */
  #watchHealth(): void {
    this.#endWatch()
    // grpc-health-check loads this method from its own proto file and types it loosely.
    const method = healthService['Watch'] as unknown as RpcMethod<{ readonly service: string }, HealthResponse>
    const watch = this.client.makeServerStreamRequest(
      method.path,
      (message: { readonly service: string }) => method.requestSerialize(message),
      (bytes: Buffer) => method.responseDeserialize(bytes),
      { service: WATCHED_SERVICE }
    )
    this.#watch = watch
    watch.on('data', (response: HealthResponse) => {
      if (watch === this.#watch) this.#setHealth(response.status === 'SERVING' ? 'serving' : 'not-serving')
    })
    // The status event reports the same failure; an `error` without a listener would end the process.
    watch.on('error', () => {})
    watch.on('status', ({ code }) => {
      if (watch !== this.#watch) return
      // The health checking protocol treats a server without the health service as healthy.
      if (code === status.UNIMPLEMENTED) {
        this.#setHealth('serving')
        return
      }
      this.#setHealth('not-serving')
      this.#rewatchTimer = setTimeout(() => this.#watchHealth(), REWATCH_DELAY).unref()
    })
  }

  #endWatch(): void {
    clearTimeout(this.#rewatchTimer)
    const watch = this.#watch
    this.#watch = undefined
    watch?.cancel()
  }

  #setHealth(health: HealthState): void {
    if (this.#closed) return
    if (health === 'connecting') {
      this.#connectTimer ??= setTimeout(() => {
        this.#connectTimer = undefined
        this.#setHealth('unreachable')
      }, CONNECT_TIMEOUT).unref()
    } else {
      clearTimeout(this.#connectTimer)
      this.#connectTimer = undefined
    }
    if (health === this.#health) return
    this.#health = health
    if (health === 'serving') this.#openStream()
    this.#onChange(this)
  }

  /** While no stream is open, calls go by their unary methods. */
  #openStream(): void {
    clearTimeout(this.#reopenTimer)
    if (this.#unaryOnly || this.#closed || this.#stream !== undefined) return
    if (!this.#hasStreams || this.#health !== 'serving') return
    const stream: CallStream = new CallStream(this.client, {
      onEnd: (end) => {
        this.#stream = undefined
        this.#hasStreams = end.isKnown
        this.#logEnd(end)
        this.#reopenTimer = setTimeout(() => this.#openStream(), this.#reopenDelay).unref()
        this.#reopenDelay = Math.min(this.#reopenDelay * 2, MAX_REOPEN_DELAY)
      },
      onOpen: () => {
        this.#reopenDelay = FIRST_REOPEN_DELAY
        if (!this.#hasLostStream) return
        this.#hasLostStream = false
        this.#log?.info({ address: this.address }, 'the stream of calls to a data service is open again')
      }
    })
    this.#stream = stream
  }

  #logEnd({ isKnown, isLost, readsSentAgain, callsFailed }: StreamEnd): void {
    if (this.#closed) return
    const { address } = this
    if (isLost) {
      this.#hasLostStream = true
      this.#log?.warn({ address, readsSentAgain, callsFailed }, 'the stream of calls to a data service was lost')
    } else if (!isKnown && !this.#hasLoggedUnary) {
      this.#hasLoggedUnary = true
      this.#log?.info({ address }, 'a data service has no stream of calls: they go by unary methods')
    }
  }
}
