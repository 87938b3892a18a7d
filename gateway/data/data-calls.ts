import type { ActRequest as ActMessage } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse__Output } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CreateRequest as CreateMessage } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse__Output } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest as DeleteMessage } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DescribeResponse__Output } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { ExportRequest as ExportMessage } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse__Output } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetRequest as GetMessage } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse__Output } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ListRequest as ListMessage } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse__Output } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest as LookupMessage } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse__Output } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest as PageMessage } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse__Output } from '../../shared/gen/entity/v1/PageResponse.js'
import type { ReadRequest as ReadMessage } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse__Output } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { UpdateRequest as UpdateMessage } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse__Output } from '../../shared/gen/entity/v1/UpdateResponse.js'

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
  ActMessage,
  ActResponse__Output as ActAnswer,
  CreateMessage,
  CreateResponse__Output as CreateAnswer,
  DeleteMessage,
  DescribeResponse__Output as CatalogueAnswer,
  ExportMessage,
  ExportResponse__Output as ExportPart,
  GetMessage,
  GetResponse__Output as GetAnswer,
  ListMessage,
  ListResponse__Output as ListAnswer,
  LookupMessage,
  LookupResponse__Output as LookupAnswer,
  PageMessage,
  PageResponse__Output as PageAnswer,
  ReadMessage,
  ReadResponse__Output as ReadAnswer,
  UpdateMessage,
  UpdateResponse__Output as UpdateAnswer
}

/** What a call takes over from its HTTP request. */
export interface DataCall {
  /** The `Authorization` header as it came; the data service judges it. */
  readonly authorization: string | undefined
  readonly requestId: string
  readonly traceparent: string | undefined
  /** IP address of the client, for the data service's log; absent where no client asked. */
  readonly clientAddress?: string
  /** Aborted when nobody waits for the answer any more: the call is cancelled then. */
  readonly signal: AbortSignal
}

/**
 * The data service as the gateway sees it: one function an rpc. Failures are DomainErrors. Every call has a deadline of
 * its own; an export has an inactivity limit instead, given in its request.
 */
export interface DataClient {
  describe(signal: AbortSignal): Promise<DescribeResponse__Output>
  list(call: DataCall, request: ListMessage): Promise<ListResponse__Output>
  page(call: DataCall, request: PageMessage): Promise<PageResponse__Output>
  lookup(call: DataCall, request: LookupMessage): Promise<LookupResponse__Output>
  get(call: DataCall, request: GetMessage): Promise<GetResponse__Output>
  /** One of the resource's own reads. */
  read(call: DataCall, request: ReadMessage): Promise<ReadResponse__Output>
  /** Parts are pulled; leaving the iteration cancels the rpc. */
  export(call: DataCall, request: ExportMessage): AsyncIterable<ExportResponse__Output>
  /** Writes are sent once, whatever becomes of them. */
  create(call: DataCall, request: CreateMessage): Promise<CreateResponse__Output>
  update(call: DataCall, request: UpdateMessage): Promise<UpdateResponse__Output>
  delete(call: DataCall, request: DeleteMessage): Promise<void>
  act(call: DataCall, request: ActMessage): Promise<ActResponse__Output>
  /** Whether some data service says at this moment that it can serve, which takes its database too. */
  isReachable(): boolean
  /** Calls the listener each time a data service begins to serve. */
  onConnected(listener: () => void): void
}
