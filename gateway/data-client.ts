import {
  connectivityState,
  credentials,
  type CallOptions,
  type ClientUnaryCall,
  type Metadata,
  type requestCallback
} from '@grpc/grpc-js'
import type { EntityServiceClient } from '../shared/gen/entity/v1/EntityService.js'
import type { ProtoGrpcType } from '../shared/gen/entity_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { DataCall, DataClient } from './data-calls.js'
import type * as Data from './data-calls.js'
import { exportParts } from './grpc-export.js'
import { domainErrorOf, isTransportFailure } from './grpc-failure.js'
import { callMetadata } from './grpc-metadata.js'

/** Milliseconds a call may take in all, its one repetition included; sent as the deadline that the SQL honours too. */
export const CALL_DEADLINE = 10_000

/** A list of 1000 rows with their children passes grpc's own limit of 4 MiB. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024

const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2000,
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 5000
}

type StartUnary<Request, Answer> = (
  request: Request,
  metadata: Metadata,
  ...rest: [options: CallOptions, callback: requestCallback<Answer>]
) => ClientUnaryCall

/** The only user of the generated client. Dials lazily and for ever; `address` is `host:port`. */
export class GrpcDataClient implements DataClient {
  readonly #client: EntityServiceClient
  #closed = false

  constructor(address: string) {
    // The definition loaded beside the generated types is what they describe.
    const types = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    this.#client = new types.entity.v1.EntityService(address, credentials.createInsecure(), CHANNEL_OPTIONS)
  }

  describe(signal: AbortSignal): Promise<Data.CatalogueAnswer> {
    const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
    return this.#read(call, {}, (...args) => this.#client.describe(...args))
  }

  list(call: DataCall, request: Data.ListMessage): Promise<Data.ListAnswer> {
    return this.#read(call, request, (...args) => this.#client.list(...args))
  }

  page(call: DataCall, request: Data.PageMessage): Promise<Data.PageAnswer> {
    return this.#read(call, request, (...args) => this.#client.page(...args))
  }

  lookup(call: DataCall, request: Data.LookupMessage): Promise<Data.LookupAnswer> {
    return this.#read(call, request, (...args) => this.#client.lookup(...args))
  }

  get(call: DataCall, request: Data.GetMessage): Promise<Data.GetAnswer> {
    return this.#read(call, request, (...args) => this.#client.get(...args))
  }

  export(call: DataCall, request: Data.ExportMessage): AsyncIterable<Data.ExportPart> {
    return exportParts({
      start: () => this.#client.export(request, callMetadata(call)),
      signal: call.signal,
      idleTimeout: request.idleTimeoutMs ?? CALL_DEADLINE
    })
  }

  create(call: DataCall, request: Data.CreateMessage): Promise<Data.CreateAnswer> {
    return this.#write(call, request, (...args) => this.#client.create(...args))
  }

  update(call: DataCall, request: Data.UpdateMessage): Promise<Data.UpdateAnswer> {
    return this.#write(call, request, (...args) => this.#client.update(...args))
  }

  async delete(call: DataCall, request: Data.DeleteMessage): Promise<void> {
    await this.#write(call, request, (...args) => this.#client.delete(...args))
  }

  act(call: DataCall, request: Data.ActMessage): Promise<Data.ActAnswer> {
    return this.#write(call, request, (...args) => this.#client.act(...args))
  }

  isReachable(): boolean {
    return !this.#closed && this.#client.getChannel().getConnectivityState(true) === connectivityState.READY
  }

  onConnected(listener: () => void): void {
    const watch = (): void => {
      if (this.#closed) return
      const channel = this.#client.getChannel()
      const before = channel.getConnectivityState(true)
      channel.watchConnectivityState(before, Number.POSITIVE_INFINITY, () => {
        if (this.#closed) return
        if (channel.getConnectivityState(true) === connectivityState.READY) listener()
        watch()
      })
    }
    watch()
  }

  close(): void {
    this.#closed = true
    this.#client.close()
  }

  /** One repetition where the transport itself failed: a read may be asked twice. */
  async #read<Request, Answer>(call: DataCall, request: Request, start: StartUnary<Request, Answer>): Promise<Answer> {
    const metadata = callMetadata(call)
    const deadline = Date.now() + CALL_DEADLINE
    const once = (): Promise<Answer> =>
      unary(call.signal, (callback) => start(request, metadata, { deadline }, callback))
    try {
      return await once().catch((error: unknown) => {
        if (isTransportFailure(error) && !call.signal.aborted) return once()
        throw error
      })
    } catch (error) {
      throw domainErrorOf(error)
    }
  }

  /** No repetition: a write whose answer is lost may have happened. */
  async #write<Request, Answer>(call: DataCall, request: Request, start: StartUnary<Request, Answer>): Promise<Answer> {
    const metadata = callMetadata(call)
    const deadline = Date.now() + CALL_DEADLINE
    try {
      return await unary(call.signal, (callback) => start(request, metadata, { deadline }, callback))
    } catch (error) {
      throw domainErrorOf(error)
    }
  }
}

function unary<Answer>(
  signal: AbortSignal,
  start: (callback: requestCallback<Answer>) => ClientUnaryCall
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const running = start((error, answer) => {
      signal.removeEventListener('abort', cancel)
      if (error === null && answer !== undefined) resolve(answer)
      else reject(error ?? new Error('The data service answered nothing.'))
    })
    const cancel = (): void => running.cancel()
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel)
  })
}
