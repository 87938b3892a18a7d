import { isIP } from 'node:net'
import {
  type CallCredentials,
  Client,
  type ClientReadableStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
  status
} from '@grpc/grpc-js'
import { service as health } from 'grpc-health-check'
import { fromRpcStatus } from '../../shared/rpc-status.js'
import { targetNameOf } from '../../shared/tls.js'
import type { DataCredentials } from './credentials.js'

/** What a failed call means: a DomainError, or the unknown error as it is. */
export function domainErrorOf(error: unknown): unknown {
  return isServiceError(error) ? fromRpcStatus(error) : error
}

/** Whether the call never got an answer of the data service itself: no details, only the transport's word. */
export function isTransportFailure(error: unknown): boolean {
  return (
    isServiceError(error) &&
    error.code === status.UNAVAILABLE &&
    error.metadata.get('grpc-status-details-bin').length === 0
  )
}

/** Why an attempt got no answer. `cause` is what grpc-js says of it. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure'
  /** false where the data service certainly did not begin the call: then even a write may be sent elsewhere. */
  readonly maybeSent: boolean

  constructor(cause: unknown, maybeSent: boolean) {
    super('The call failed.', { cause })
    this.maybeSent = maybeSent
  }
}

const NOTHING = new Metadata()

/**
 * Knows afterwards whether a call may have reached the data service. grpc-js asks call credentials for their metadata
 * when a connection has been picked, immediately before it sends the head of the call, and never before that.
 */
export function sendingNoted(): { readonly credentials: CallCredentials; maybe(error: unknown): boolean } {
  let picked = false
  const noting = credentials.createFromMetadataGenerator((_options, done) => {
    picked = true
    done(null, NOTHING)
  })
  return { credentials: noting, maybe: (error) => picked && !isUnprocessed(error) }
}

/**
 * Whether the call had a connection and was still never begun: its stream was refused (RFC 9113 section 8.7), as those
 * are that a server going away no longer takes, or could not be opened. grpc-js says so in words alone.
 */
function isUnprocessed(error: unknown): boolean {
  if (!isServiceError(error) || error.metadata.get('grpc-status-details-bin').length > 0) return false
  if (error.code === status.UNAVAILABLE) return error.details === 'Stream refused by server'
  return error.code === status.INTERNAL && error.details.startsWith('Failed to start HTTP/2 stream')
}

function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'code' in error && 'metadata' in error
}

/** A method of a generated service definition. */
export interface Rpc<Request, Answer> {
  readonly path: string
  requestSerialize(request: Request): Buffer
  responseDeserialize(bytes: Buffer): Answer
}

/** What one attempt of a unary call takes beside its request. */
export interface Attempt {
  readonly metadata: Metadata
  /** Milliseconds since the epoch. */
  readonly deadline: number
  /** Aborting cancels the call. */
  readonly signal: AbortSignal
}

/**
 * `connecting`: nobody knows yet, for at most CONNECT_TIMEOUT. `serving` and `refusing` are what its health says over a
 * connection that stands.
 */
export type Standing = 'connecting' | 'serving' | 'refusing' | 'unreachable'

/** Milliseconds after which a connection or a health that is not there yet is waited for no longer. */
const CONNECT_TIMEOUT = 1000

/** Milliseconds between the end of a health watch and the next one on the same connection. */
const WATCH_AGAIN = 1000

/** The service whose health decides; `auth.v1.AuthService` of the same process follows the same database. */
const WATCHED_SERVICE = 'entity.v1.EntityService'

/** A list of 1000 rows with their children passes grpc's own limit of 4 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
  // A process that is frozen, or a peer that vanished without a word, is noticed by this alone.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5000,
  // grpc-js would repeat a refused call on the same replica and hide that it had been refused.
  'grpc.enable_retries': 0
}

export interface ReplicaOptions {
  /** IP address and port, such as `127.0.0.1:50051` or `[::1]:50051`. */
  readonly address: string
  /** `host:port` as it was configured. Where its host is a name, the certificate is for that name. */
  readonly name: string
  readonly credentials: DataCredentials
  /** Called after each change of `standing`. */
  readonly onChange: (replica: Replica) => void
}

/** One data service process: a connection that is kept up, what its health says, and the calls it carries. */
export class Replica {
  readonly address: string
  readonly name: string
  readonly #client: Client
  readonly #onChange: (replica: Replica) => void
  #standing: Standing = 'connecting'
  #inFlight = 0
  #watch: ClientReadableStream<HealthAnswer> | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #rewatch: NodeJS.Timeout | undefined
  #retired = false
  #closed = false

  constructor({ address, name, credentials, onChange }: ReplicaOptions) {
    this.address = address
    this.name = name
    this.#onChange = onChange
    const host = targetNameOf(name)
    this.#client = new Client(address, credentials.channel, {
      ...CHANNEL_OPTIONS,
      ...credentials.options,
      ...(isIP(host) === 0 ? { 'grpc.ssl_target_name_override': host, 'grpc.default_authority': name } : {})
    })
    this.#becomes('connecting')
    this.#followConnection()
  }

  get standing(): Standing {
    return this.#standing
  }

  /** Calls sent and not answered yet, exports included. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Rejects with an AttemptFailure. */
  unary<Request, Answer>(rpc: Rpc<Request, Answer>, request: Request, attempt: Attempt): Promise<Answer> {
    const { metadata, deadline, signal } = attempt
    return new Promise((resolve, reject) => {
      const sending = sendingNoted()
      this.#inFlight += 1
      const running = this.#client.makeUnaryRequest(
        rpc.path,
        (message: Request) => rpc.requestSerialize(message),
        (bytes: Buffer) => rpc.responseDeserialize(bytes),
        request,
        metadata,
        { deadline, credentials: sending.credentials },
        (error, answer) => {
          signal.removeEventListener('abort', cancel)
          this.#finished()
          if (error === null && answer !== undefined) resolve(answer)
          else
            reject(new AttemptFailure(error ?? new Error('The data service answered nothing.'), sending.maybe(error)))
        }
      )
      const cancel = (): void => running.cancel()
      if (signal.aborted) cancel()
      else signal.addEventListener('abort', cancel)
    })
  }

  /** A call with a stream of answers, which its reader pulls; it counts as in flight until it has closed. */
  stream<Request, Answer>(
    rpc: Rpc<Request, Answer>,
    request: Request,
    metadata: Metadata
  ): ClientReadableStream<Answer> {
    const stream = this.#client.makeServerStreamRequest(
      rpc.path,
      (message: Request) => rpc.requestSerialize(message),
      (bytes: Buffer) => rpc.responseDeserialize(bytes),
      request,
      metadata
    )
    this.#inFlight += 1
    // Its reader hears of it too; an error before anybody reads would end the process.
    stream.on('error', () => {})
    stream.once('status', () => this.#finished())
    return stream
  }

  /** Takes no part any more and closes once the calls it carries have ended. */
  retire(): void {
    this.#retired = true
    if (this.#inFlight === 0) this.close()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#connectTimer)
    this.#endWatch()
    this.#client.close()
  }

  #finished(): void {
    this.#inFlight -= 1
    if (this.#retired && this.#inFlight === 0) this.close()
  }

  #followConnection(): void {
    if (this.#closed) return
    const channel = this.#client.getChannel()
    // true: a connection that is lost is made again, whether calls ask for it or not.
    const state = channel.getConnectivityState(true)
    if (state === connectivityState.READY) this.#watchHealth()
    else {
      this.#endWatch()
      if (state === connectivityState.TRANSIENT_FAILURE) this.#becomes('unreachable')
      else if (this.#standing !== 'unreachable') this.#becomes('connecting')
    }
    channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#followConnection())
  }

  #watchHealth(): void {
    this.#endWatch()
    // What grpc-health-check loads from its own proto file.
    const rpc = health['Watch'] as unknown as Rpc<{ readonly service: string }, HealthAnswer>
    const watch = this.#client.makeServerStreamRequest(
      rpc.path,
      (message: { readonly service: string }) => rpc.requestSerialize(message),
      (bytes: Buffer) => rpc.responseDeserialize(bytes),
      { service: WATCHED_SERVICE }
    )
    this.#watch = watch
    watch.on('data', (answer: HealthAnswer) => {
      if (watch === this.#watch) this.#becomes(answer.status === 'SERVING' ? 'serving' : 'refusing')
    })
    // The status says the same; without a listener an error would end the process.
    watch.on('error', () => {})
    watch.on('status', ({ code }) => {
      if (watch !== this.#watch) return
      // Health checking of gRPC: a server without the service is taken for healthy.
      if (code === status.UNIMPLEMENTED) {
        this.#becomes('serving')
        return
      }
      this.#becomes('refusing')
      this.#rewatch = setTimeout(() => this.#watchHealth(), WATCH_AGAIN).unref()
    })
  }

  #endWatch(): void {
    clearTimeout(this.#rewatch)
    const watch = this.#watch
    this.#watch = undefined
    watch?.cancel()
  }

  #becomes(standing: Standing): void {
    if (this.#closed) return
    if (standing === 'connecting') {
      this.#connectTimer ??= setTimeout(() => {
        this.#connectTimer = undefined
        this.#becomes('unreachable')
      }, CONNECT_TIMEOUT).unref()
    } else {
      clearTimeout(this.#connectTimer)
      this.#connectTimer = undefined
    }
    if (standing === this.#standing) return
    this.#standing = standing
    this.#onChange(this)
  }
}

interface HealthAnswer {
  readonly status: string
}
