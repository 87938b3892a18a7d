import { connectivityState } from '@grpc/grpc-js'
import type { EntityServiceClient } from '../shared/gen/entity/v1/EntityService.js'
import type { ProtoGrpcType } from '../shared/gen/entity_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { DataCall, DataClient } from './data-calls.js'
import type * as Data from './data-calls.js'
import { NO_CREDENTIALS, type DataCredentials } from './data-credentials.js'
import { exportParts } from './grpc-export.js'
import { callMetadata } from './grpc-metadata.js'
import { CALL_DEADLINE, CHANNEL_OPTIONS, readUnary, writeUnary } from './unary-call.js'

/** The only user of the generated EntityService client. Dials lazily and for ever; `address` is `host:port`. */
export class GrpcDataClient implements DataClient {
  readonly #client: EntityServiceClient
  #closed = false

  constructor(address: string, { channel, options }: DataCredentials = NO_CREDENTIALS) {
    // The definition loaded beside the generated types is what they describe.
    const types = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
    this.#client = new types.entity.v1.EntityService(address, channel, { ...CHANNEL_OPTIONS, ...options })
  }

  describe(signal: AbortSignal): Promise<Data.CatalogueAnswer> {
    const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
    return readUnary(call, {}, (...args) => this.#client.describe(...args))
  }

  list(call: DataCall, request: Data.ListMessage): Promise<Data.ListAnswer> {
    return readUnary(call, request, (...args) => this.#client.list(...args))
  }

  page(call: DataCall, request: Data.PageMessage): Promise<Data.PageAnswer> {
    return readUnary(call, request, (...args) => this.#client.page(...args))
  }

  lookup(call: DataCall, request: Data.LookupMessage): Promise<Data.LookupAnswer> {
    return readUnary(call, request, (...args) => this.#client.lookup(...args))
  }

  get(call: DataCall, request: Data.GetMessage): Promise<Data.GetAnswer> {
    return readUnary(call, request, (...args) => this.#client.get(...args))
  }

  read(call: DataCall, request: Data.ReadMessage): Promise<Data.ReadAnswer> {
    return readUnary(call, request, (...args) => this.#client.read(...args))
  }

  export(call: DataCall, request: Data.ExportMessage): AsyncIterable<Data.ExportPart> {
    return exportParts({
      start: () => this.#client.export(request, callMetadata(call)),
      signal: call.signal,
      idleTimeout: request.idleTimeoutMs ?? CALL_DEADLINE
    })
  }

  create(call: DataCall, request: Data.CreateMessage): Promise<Data.CreateAnswer> {
    return writeUnary(call, request, (...args) => this.#client.create(...args))
  }

  update(call: DataCall, request: Data.UpdateMessage): Promise<Data.UpdateAnswer> {
    return writeUnary(call, request, (...args) => this.#client.update(...args))
  }

  async delete(call: DataCall, request: Data.DeleteMessage): Promise<void> {
    await writeUnary(call, request, (...args) => this.#client.delete(...args))
  }

  act(call: DataCall, request: Data.ActMessage): Promise<Data.ActAnswer> {
    return writeUnary(call, request, (...args) => this.#client.act(...args))
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
}
