import type { ProtoGrpcType } from '../shared/gen/entity_service.js'
import { loadProto } from '../shared/load-proto.js'
import type { DataCall, DataClient } from './data-calls.js'
import type * as Data from './data-calls.js'
import type { DataReplicas } from './data-replicas.js'
import { exportParts } from './grpc-export.js'
import { callMetadata } from './grpc-metadata.js'
import { CALL_DEADLINE, readUnary, writeUnary } from './unary-call.js'

// The definition loaded beside the generated types is what they describe.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service } = entity.v1.EntityService

/** The only user of the generated EntityService definition. The replicas are the caller's to close. */
export class GrpcDataClient implements DataClient {
  readonly #replicas: DataReplicas

  constructor(replicas: DataReplicas) {
    this.#replicas = replicas
  }

  describe(signal: AbortSignal): Promise<Data.CatalogueAnswer> {
    const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
    return readUnary(this.#replicas, { rpc: service.Describe, call, request: {} })
  }

  list(call: DataCall, request: Data.ListMessage): Promise<Data.ListAnswer> {
    return readUnary(this.#replicas, { rpc: service.List, call, request })
  }

  page(call: DataCall, request: Data.PageMessage): Promise<Data.PageAnswer> {
    return readUnary(this.#replicas, { rpc: service.Page, call, request })
  }

  lookup(call: DataCall, request: Data.LookupMessage): Promise<Data.LookupAnswer> {
    return readUnary(this.#replicas, { rpc: service.Lookup, call, request })
  }

  get(call: DataCall, request: Data.GetMessage): Promise<Data.GetAnswer> {
    return readUnary(this.#replicas, { rpc: service.Get, call, request })
  }

  read(call: DataCall, request: Data.ReadMessage): Promise<Data.ReadAnswer> {
    return readUnary(this.#replicas, { rpc: service.Read, call, request })
  }

  export(call: DataCall, request: Data.ExportMessage): AsyncIterable<Data.ExportPart> {
    return exportParts({
      start: async (how) => {
        const replica = await this.#replicas.choose(call.signal, how)
        return { replica, stream: replica.stream(service.Export, request, callMetadata(call)) }
      },
      signal: call.signal,
      idleTimeout: request.idleTimeoutMs ?? CALL_DEADLINE
    })
  }

  create(call: DataCall, request: Data.CreateMessage): Promise<Data.CreateAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Create, call, request })
  }

  update(call: DataCall, request: Data.UpdateMessage): Promise<Data.UpdateAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Update, call, request })
  }

  async delete(call: DataCall, request: Data.DeleteMessage): Promise<void> {
    await writeUnary(this.#replicas, { rpc: service.Delete, call, request })
  }

  act(call: DataCall, request: Data.ActMessage): Promise<Data.ActAnswer> {
    return writeUnary(this.#replicas, { rpc: service.Act, call, request })
  }

  isReachable(): boolean {
    return this.#replicas.isServing
  }

  onConnected(listener: () => void): void {
    this.#replicas.onServing(listener)
  }
}
