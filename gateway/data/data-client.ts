import type { ActRequest } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse__Output as ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CallRequest } from '../../shared/gen/entity/v1/CallRequest.js'
import type { CallResponse__Output as CallResponse } from '../../shared/gen/entity/v1/CallResponse.js'
import type { CreateBatchRequest } from '../../shared/gen/entity/v1/CreateBatchRequest.js'
import type { CreateBatchResponse__Output as CreateBatchResponse } from '../../shared/gen/entity/v1/CreateBatchResponse.js'
import type { CreateRequest } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse__Output as CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteBatchRequest } from '../../shared/gen/entity/v1/DeleteBatchRequest.js'
import type { DeleteBatchResponse__Output as DeleteBatchResponse } from '../../shared/gen/entity/v1/DeleteBatchResponse.js'
import type { DeleteRequest } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse__Output as DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { DescribeResponse__Output as DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { EntityServiceDefinition } from '../../shared/gen/entity/v1/EntityService.js'
import type { ExportRequest } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse__Output as ExportPart } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetByRequest } from '../../shared/gen/entity/v1/GetByRequest.js'
import type { GetRequest } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse__Output as GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ImportRequest } from '../../shared/gen/entity/v1/ImportRequest.js'
import type { ImportResponse__Output as ImportResponse } from '../../shared/gen/entity/v1/ImportResponse.js'
import type { ListRequest } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse__Output as ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse__Output as LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse__Output as PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { ReadRequest } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse__Output as ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { TotalsRequest } from '../../shared/gen/entity/v1/TotalsRequest.js'
import type { TotalsResponse__Output as TotalsResponse } from '../../shared/gen/entity/v1/TotalsResponse.js'
import type { UpdateBatchRequest } from '../../shared/gen/entity/v1/UpdateBatchRequest.js'
import type { UpdateBatchResponse__Output as UpdateBatchResponse } from '../../shared/gen/entity/v1/UpdateBatchResponse.js'
import type { UpdateRequest } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse__Output as UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { ProtoGrpcType } from '../../shared/gen/entity_service.js'
import { loadProto } from '../../shared/transport/wire.js'
import { CALL_DEADLINE, type HttpContext, readStream, readUnary, writeUnary } from './calls.js'
import type { RpcMethod } from './replica.js'
import { type PathCheckOptions, PathChecks } from './path-checks.js'
import type { ReplicaPool } from './replica-pool.js'

export type { Access__Output as Access } from '../../shared/gen/entity/v1/Access.js'
export type { Action__Output as Action } from '../../shared/gen/entity/v1/Action.js'
export type { CustomRead__Output as CustomRead } from '../../shared/gen/entity/v1/CustomRead.js'
export type { JsonShape__Output as JsonShape } from '../../shared/gen/entity/v1/JsonShape.js'
export type { Navigation__Output as Navigation } from '../../shared/gen/entity/v1/Navigation.js'
export type { Operation__Output as Operation } from '../../shared/gen/entity/v1/Operation.js'
export type { Precondition } from '../../shared/gen/entity/v1/Precondition.js'
export type { Property__Output as Property } from '../../shared/gen/entity/v1/Property.js'
export type { PropertyValues__Output as PropertyValues } from '../../shared/gen/entity/v1/PropertyValues.js'
export type { Record__Output as EntityRecord } from '../../shared/gen/entity/v1/Record.js'
export type { Resource__Output as Resource } from '../../shared/gen/entity/v1/Resource.js'
export type { Selection } from '../../shared/gen/entity/v1/Selection.js'
export type { Shape } from '../../shared/gen/entity/v1/Shape.js'
export type { Unplaced } from '../../shared/gen/entity/v1/Unplaced.js'
export type {
  ActRequest,
  ActResponse,
  CallRequest,
  CallResponse,
  CreateBatchRequest,
  CreateBatchResponse,
  CreateRequest,
  CreateResponse,
  DeleteBatchRequest,
  DeleteBatchResponse,
  DeleteRequest,
  DeleteResponse,
  DescribeResponse,
  ExportPart,
  ExportRequest,
  GetByRequest,
  GetRequest,
  GetResponse,
  ImportRequest,
  ImportResponse,
  ListRequest,
  ListResponse,
  LookupRequest,
  LookupResponse,
  PageRequest,
  PageResponse,
  ReadRequest,
  ReadResponse,
  TotalsRequest,
  TotalsResponse,
  UpdateBatchRequest,
  UpdateBatchResponse,
  UpdateRequest,
  UpdateResponse
}

/** The rpcs of the service that are no unary reads. */
const OTHER_RPCS = [
  'Describe',
  'Export',
  'Create',
  'CreateBatch',
  'Import',
  'Update',
  'UpdateBatch',
  'Delete',
  'DeleteBatch',
  'Act',
  'Call'
] as const

/** A function for each rpc of the service that reads and answers with one message: `list` for `List`. */
type ReadCalls = {
  readonly [
    R in keyof EntityServiceDefinition as string extends R
      ? never
      : R extends (typeof OTHER_RPCS)[number]
        ? never
        : Uncapitalize<R & string>
  ]: EntityServiceDefinition[R] extends RpcMethod<infer Request, infer Response>
    ? (call: HttpContext, request: Request) => Promise<Response>
    : never
}

/**
 * The EntityService of the data service (entity_service.proto), one function for each rpc. Functions reject with
 * DomainErrors. Every call has a deadline, except an export, whose request gives an idle timeout.
 */
export interface DataClient extends ReadCalls {
  /** The whole catalogue, if the data service knows this process for a gateway; otherwise what anybody may see. */
  describe(signal: AbortSignal): Promise<DescribeResponse>
  /** The resources that are out of service, with the reasons, if the data service knows this process for a gateway. */
  isolated(signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** What the caller may see of the catalogue; without an `Authorization`, what anybody may see. */
  describeTo(call: HttpContext): Promise<DescribeResponse>
  /** The reader pulls the parts. Leaving the iteration cancels the rpc. */
  export(call: HttpContext, request: ExportRequest): AsyncIterable<ExportPart>
  /** Writes are not retried once a data service may have begun them. */
  create(call: HttpContext, request: CreateRequest): Promise<CreateResponse>
  createBatch(call: HttpContext, request: CreateBatchRequest): Promise<CreateBatchResponse>
  /** A part of an import. The last part of one that is written whole may take as long as a call can. */
  import(call: HttpContext, request: ImportRequest): Promise<ImportResponse>
  update(call: HttpContext, request: UpdateRequest): Promise<UpdateResponse>
  delete(call: HttpContext, request: DeleteRequest): Promise<DeleteResponse>
  updateBatch(call: HttpContext, request: UpdateBatchRequest): Promise<UpdateBatchResponse>
  deleteBatch(call: HttpContext, request: DeleteBatchRequest): Promise<DeleteBatchResponse>
  act(call: HttpContext, request: ActRequest): Promise<ActResponse>
  /** An operation of the application. A `read` is retried as reads are, a `write` as writes. */
  callOperation(call: HttpContext, kind: 'read' | 'write', request: CallRequest): Promise<CallResponse>
  /**
   * Whether at least one data service reports at this moment that it can serve, its database included, and has answered the
   * last check of the way that calls go.
   */
  isReachable(): boolean
  /** Calls the listener each time a data service begins to serve. */
  onConnected(listener: () => void): void
}

// loadProto reads the same proto file that the types were generated from.
const { entity } = loadProto('entity/v1/entity_service.proto').types as unknown as ProtoGrpcType
const { service } = entity.v1.EntityService

/** Milliseconds for a part of an import. No data service takes longer for any call. */
const IMPORT_DEADLINE = 60_000

/** The data client over gRPC. Whoever made the pool closes it. */
export function grpcDataClient(pool: ReplicaPool, checks: PathCheckOptions = {}): DataClient {
  const paths = new PathChecks(pool, checks)
  return {
    ...readCalls(pool),
    describe(signal) {
      const call = { authorization: undefined, requestId: 'describe', traceparent: undefined, signal }
      return readUnary(pool, { rpc: service.Describe, call, request: {} })
    },
    async isolated(signal) {
      const call = { authorization: undefined, requestId: 'isolated', traceparent: undefined, signal }
      return isolatedIn(await readUnary(pool, { rpc: service.Describe, call, request: { onlyIsolated: true } }))
    },
    describeTo: (call) => readUnary(pool, { rpc: service.Describe, call, request: { asCaller: true } }),
    export(call, request) {
      const idleTimeout = request.idleTimeoutMs ?? CALL_DEADLINE
      return readStream(pool, { rpc: service.Export, call, request, idleTimeout, heading: 1 })
    },
    create: (call, request) => writeUnary(pool, { rpc: service.Create, call, request }),
    createBatch: (call, request) => writeUnary(pool, { rpc: service.CreateBatch, call, request }),
    import: (call, request) => writeUnary(pool, { rpc: service.Import, call, request, timeout: IMPORT_DEADLINE }),
    update: (call, request) => writeUnary(pool, { rpc: service.Update, call, request }),
    delete: (call, request) => writeUnary(pool, { rpc: service.Delete, call, request }),
    updateBatch: (call, request) => writeUnary(pool, { rpc: service.UpdateBatch, call, request }),
    deleteBatch: (call, request) => writeUnary(pool, { rpc: service.DeleteBatch, call, request }),
    act: (call, request) => writeUnary(pool, { rpc: service.Act, call, request }),
    callOperation: (call, kind, request) =>
      (kind === 'read' ? readUnary : writeUnary)(pool, { rpc: service.Call, call, request }),
    isReachable: () => paths.isServing,
    onConnected: (listener) => pool.onServing(listener)
  }
}

/** The reasons by resource. */
export function isolatedIn({ isolated }: Pick<DescribeResponse, 'isolated'>): ReadonlyMap<string, string> {
  return new Map(isolated.map(({ resource, reason }) => [resource, reason]))
}

function readCalls(pool: ReplicaPool): ReadCalls {
  const others: readonly string[] = OTHER_RPCS
  const functions = Object.entries(service)
    .filter(([name]) => !others.includes(name))
    .map(([name, rpc]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      (call: HttpContext, request: object) => readUnary(pool, { rpc, call, request, isGathered: rpc === service.Get })
    ])
  // The type is made from the same service by the same rule.
  return Object.fromEntries(functions) as ReadCalls
}
