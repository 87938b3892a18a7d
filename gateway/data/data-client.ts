import type { ActRequest } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse__Output as ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CreateRequest } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse__Output as CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DescribeResponse__Output as DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { ExportRequest } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse__Output as ExportPart } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetRequest } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse__Output as GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ListRequest } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse__Output as ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse__Output as LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse__Output as PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { ReadRequest } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse__Output as ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { UpdateRequest } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse__Output as UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/wire.js'
import { CALL_DEADLINE, type CallContext, readStream, readUnary, writeUnary } from './calls.js'
import type { ReplicaPool } from './replica-pool.js'

export type { Action__Output as Action } from '../../shared/gen/entity/v1/Action.js'
export type { CustomRead__Output as CustomRead } from '../../shared/gen/entity/v1/CustomRead.js'
export type { Navigation__Output as Navigation } from '../../shared/gen/entity/v1/Navigation.js'
export type { Precondition } from '../../shared/gen/entity/v1/Precondition.js'
export type { Property__Output as Property } from '../../shared/gen/entity/v1/Property.js'
export type { Record__Output as EntityRecord } from '../../shared/gen/entity/v1/Record.js'
export type { Resource__Output as Resource } from '../../shared/gen/entity/v1/Resource.js'
export type { Selection } from '../../shared/gen/entity/v1/Selection.js'
export type { Shape } from '../../shared/gen/entity/v1/Shape.js'
export type { Unplaced } from '../../shared/gen/entity/v1/Unplaced.js'
export type {
  ActRequest,
  ActResponse,
  CreateRequest,
  CreateResponse,
  DeleteRequest,
  DescribeResponse,
  ExportPart,
  ExportRequest,
  GetRequest,
  GetResponse,
  ListRequest,
  ListResponse,
  LookupRequest,
  LookupResponse,
  PageRequest,
  PageResponse,
  ReadRequest,
  ReadResponse,
  UpdateRequest,
  UpdateResponse
}

/**
 * The EntityService of the data service (entity_service.proto), one function for each rpc. Functions reject with
 * DomainErrors. Every call has a deadline, except an export, whose request gives an idle timeout.
 */
export interface DataClient {
  describe(signal: AbortSignal): Promise<DescribeResponse>
  list(call: CallContext, request: ListRequest): Promise<ListResponse>
  page(call: CallContext, request: PageRequest): Promise<PageResponse>
  lookup(call: CallContext, request: LookupRequest): Promise<LookupResponse>
  get(call: CallContext, request: GetRequest): Promise<GetResponse>
  /** A custom read of the resource. */
  read(call: CallContext, request: ReadRequest): Promise<ReadResponse>
  /** The reader pulls the parts. Leaving the iteration cancels the rpc. */
  export(call: CallContext, request: ExportRequest): AsyncIterable<ExportPart>
  /** Writes are not retried once a data service may have begun them. */
  create(call: CallContext, request: CreateRequest): Promise<CreateResponse>
  update(call: CallContext, request: UpdateRequest): Promise<UpdateResponse>
  delete(call: CallContext, request: DeleteRequest): Promise<void>
  act(call: CallContext, request: ActRequest): Promise<ActResponse>
  /** Whether at least one data service reports at this moment that it can serve, its database included. */
  isReachable(): boolean
  /** Calls the listener each time a data service begins to serve. */
  onConnected(listener: () => void): void
}

// loadProto reads the same proto file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service } = entity.v1.EntityService

/** The data client over gRPC. Whoever made the pool closes it. */
export class GrpcDataClient implements DataClient {
  readonly #pool: ReplicaPool

  constructor(pool: ReplicaPool) {
    this.#pool = pool
  }

  describe(signal: AbortSignal): Promise<DescribeResponse> {
    const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
    return readUnary(this.#pool, { rpc: service.Describe, call, request: {} })
  }

  list(call: CallContext, request: ListRequest): Promise<ListResponse> {
    return readUnary(this.#pool, { rpc: service.List, call, request })
  }

  page(call: CallContext, request: PageRequest): Promise<PageResponse> {
    return readUnary(this.#pool, { rpc: service.Page, call, request })
  }

  lookup(call: CallContext, request: LookupRequest): Promise<LookupResponse> {
    return readUnary(this.#pool, { rpc: service.Lookup, call, request })
  }

  get(call: CallContext, request: GetRequest): Promise<GetResponse> {
    return readUnary(this.#pool, { rpc: service.Get, call, request })
  }

  read(call: CallContext, request: ReadRequest): Promise<ReadResponse> {
    return readUnary(this.#pool, { rpc: service.Read, call, request })
  }

  export(call: CallContext, request: ExportRequest): AsyncIterable<ExportPart> {
    const idleTimeout = request.idleTimeoutMs ?? CALL_DEADLINE
    return readStream(this.#pool, { rpc: service.Export, call, request, idleTimeout })
  }

  create(call: CallContext, request: CreateRequest): Promise<CreateResponse> {
    return writeUnary(this.#pool, { rpc: service.Create, call, request })
  }

  update(call: CallContext, request: UpdateRequest): Promise<UpdateResponse> {
    return writeUnary(this.#pool, { rpc: service.Update, call, request })
  }

  async delete(call: CallContext, request: DeleteRequest): Promise<void> {
    await writeUnary(this.#pool, { rpc: service.Delete, call, request })
  }

  act(call: CallContext, request: ActRequest): Promise<ActResponse> {
    return writeUnary(this.#pool, { rpc: service.Act, call, request })
  }

  isReachable(): boolean {
    return this.#pool.isServing
  }

  onConnected(listener: () => void): void {
    this.#pool.onServing(listener)
  }
}
