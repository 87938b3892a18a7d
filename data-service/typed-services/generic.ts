import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { CallRequest__Output } from '../../shared/gen/entity/v1/CallRequest.js'
import type { CallResponse } from '../../shared/gen/entity/v1/CallResponse.js'
import type { CreateBatchRequest__Output } from '../../shared/gen/entity/v1/CreateBatchRequest.js'
import type { CreateBatchResponse } from '../../shared/gen/entity/v1/CreateBatchResponse.js'
import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteBatchRequest__Output } from '../../shared/gen/entity/v1/DeleteBatchRequest.js'
import type { DeleteBatchResponse } from '../../shared/gen/entity/v1/DeleteBatchResponse.js'
import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { GetByRequest__Output } from '../../shared/gen/entity/v1/GetByRequest.js'
import type { GetByResponse } from '../../shared/gen/entity/v1/GetByResponse.js'
import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ImportRequest__Output } from '../../shared/gen/entity/v1/ImportRequest.js'
import type { ImportResponse } from '../../shared/gen/entity/v1/ImportResponse.js'
import type { LookupRequest__Output } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest__Output } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { ReadRequest__Output } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { TotalsRequest__Output } from '../../shared/gen/entity/v1/TotalsRequest.js'
import type { TotalsResponse } from '../../shared/gen/entity/v1/TotalsResponse.js'
import type { UpdateBatchRequest__Output } from '../../shared/gen/entity/v1/UpdateBatchRequest.js'
import type { UpdateBatchResponse } from '../../shared/gen/entity/v1/UpdateBatchResponse.js'
import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { CallContext, StreamHandler, UnaryHandler } from '../entity/caller.js'
import type { MessageType } from './schema.js'
import type { Message } from './values.js'

/** The handlers of entity.v1.EntityService, which typed calls are translated to. */
export interface GenericHandlers {
  readonly Page: UnaryHandler<PageRequest__Output, PageResponse>
  readonly Lookup: UnaryHandler<LookupRequest__Output, LookupResponse>
  readonly Get: UnaryHandler<GetRequest__Output, GetResponse>
  readonly GetBy: UnaryHandler<GetByRequest__Output, GetByResponse>
  readonly Read: UnaryHandler<ReadRequest__Output, ReadResponse>
  readonly Totals: UnaryHandler<TotalsRequest__Output, TotalsResponse>
  readonly Create: UnaryHandler<CreateRequest__Output, CreateResponse>
  readonly CreateBatch: UnaryHandler<CreateBatchRequest__Output, CreateBatchResponse>
  readonly Import: UnaryHandler<ImportRequest__Output, ImportResponse>
  readonly Update: UnaryHandler<UpdateRequest__Output, UpdateResponse>
  readonly UpdateBatch: UnaryHandler<UpdateBatchRequest__Output, UpdateBatchResponse>
  readonly DeleteBatch: UnaryHandler<DeleteBatchRequest__Output, DeleteBatchResponse>
  readonly Delete: UnaryHandler<DeleteRequest__Output, DeleteResponse>
  readonly Act: UnaryHandler<ActRequest__Output, ActResponse>
  readonly Call: UnaryHandler<CallRequest__Output, CallResponse>
  readonly Export: StreamHandler<ExportRequest__Output, ExportResponse>
}

/** An rpc of a typed service: what it is in the proto, and how it is answered. */
export type TypedRpc = {
  readonly name: string
  readonly comment: string
  readonly request: MessageType
  readonly response: MessageType
  /** The route segment of its resource, or the name of its operation, for the log. */
  readonly resource: string
  /** The rpc of the generic service that it is translated to, under which it is logged and counted. */
  readonly generic: keyof GenericHandlers
} & (
  | {
      readonly streams: false
      readonly handle: (generic: GenericHandlers, context: CallContext, request: Message) => Promise<Message>
    }
  | {
      readonly streams: true
      readonly handle: (generic: GenericHandlers, context: CallContext, request: Message) => AsyncIterable<Message>
    }
)
