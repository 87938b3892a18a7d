import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
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
import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { ListRequest__Output } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
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
import { PAGE_ALIAS, PARAMETERS_OF_READS, type ReadName } from '../../shared/read-parameters.js'
import type { CallContext } from './caller.js'

/**
 * The one table of the reads that resources have. The `access` of entity files, the checks at start, Describe and the
 * owner filter read it. A new read is a message in the proto, its parameters in shared/read-parameters.ts, a row here, a
 * planner in plan/plan-reads.ts, a handler in operations/reads.ts, and its route in the gateway (docs/tour.md, "Where to go for a change"). The gateway has the table of
 * routes: gateway/entity-routes/paths.ts.
 */
export const READS = {
  list: { path: 'collection', protectedAsExport: true },
  paged: { path: 'segment', protectedAsExport: true },
  export: { path: 'segment', protectedAsExport: true },
  lookup: { path: 'segment', protectedAsExport: false },
  totals: { path: 'segment', protectedAsExport: false },
  get: { path: 'row', protectedAsExport: false }
} as const satisfies Readonly<Record<ReadName, ReadRow>>

interface ReadRow {
  /** `/{resource}`, `/{resource}/` with the operation's name, or `/{resource}/{id}`. */
  readonly path: 'collection' | 'segment' | 'row'
  /** Whether it must have the same protection as the export: the same callers and rows (source.md, read-scope hook). */
  readonly protectedAsExport: boolean
}

/** The keys of the table, in the order in which Describe tells of them. */
export const READ_OPERATIONS = Object.keys(READS) as readonly ReadName[]

/** The reads that a resource has: totals only where its entity file declares some, and of rows without a key none by id. */
export function readsOf({
  totals,
  key
}: {
  readonly totals: object | undefined
  readonly key: readonly unknown[]
}): readonly ReadName[] {
  return READ_OPERATIONS.filter(
    (read) => (read !== 'totals' || totals !== undefined) && (key.length > 0 || !OF_NAMED_ROWS.includes(read))
  )
}

/** The reads that answer ids, or take one. */
const OF_NAMED_ROWS: readonly ReadName[] = ['lookup', 'get']

/**
 * The reads that stand at `/{resource}/{operation}`, and `by`, below which unique properties name rows: no action and no
 * custom read may have their names.
 */
export const READ_SEGMENTS: readonly string[] = [
  ...READ_OPERATIONS.filter((read) => READS[read].path === 'segment'),
  'by'
]

/** The names of all query parameters of reads, in lower case. */
export const READ_PARAMETERS: ReadonlySet<string> = new Set(
  [PAGE_ALIAS, ...Object.values(PARAMETERS_OF_READS).flat()].map((name) => name.toLowerCase())
)

/** The writes of a resource besides its actions. */
export const WRITE_OPERATIONS = ['create', 'update', 'delete'] as const
export type WriteOperation = (typeof WRITE_OPERATIONS)[number]

/** The batches of writes, each with the single write whose rules hold for every one of its rows. */
export const BATCHES = { batch: 'create', updateBatch: 'update', deleteBatch: 'delete' } as const satisfies Readonly<
  Record<string, WriteOperation>
>
export type BatchOperation = keyof typeof BATCHES

/** The reads and writes whose path holds no id. */
export const WITHOUT_ID: readonly (ReadName | WriteOperation)[] = [
  ...READ_OPERATIONS.filter((read) => READS[read].path !== 'row'),
  'create'
]

/**
 * One read or write in an entity's own way. `standard` is the operation as every entity has it, access rules included:
 * call it with the request or a changed one, and answer what it answers or something made of it. An override that never
 * calls it must check access itself.
 */
export type Override<Request, Response> = (
  context: CallContext,
  request: Request,
  standard: (request: Request) => Response
) => Response

export interface Overrides {
  readonly list?: Override<ListRequest__Output, Promise<ListResponse>>
  readonly paged?: Override<PageRequest__Output, Promise<PageResponse>>
  readonly lookup?: Override<LookupRequest__Output, Promise<LookupResponse>>
  readonly get?: Override<GetRequest__Output, Promise<GetResponse>>
  readonly export?: Override<ExportRequest__Output, AsyncIterable<ExportResponse>>
  /** An entity whose list is replaced has no totals without it: they would count rows that the list does not show. */
  readonly totals?: Override<TotalsRequest__Output, Promise<TotalsResponse>>
  /** All custom reads. */
  readonly read?: Override<ReadRequest__Output, Promise<ReadResponse>>
  readonly create?: Override<CreateRequest__Output, Promise<CreateResponse>>
  /** Without it, a resource whose `create` is replaced takes no batches. */
  readonly batch?: Override<CreateBatchRequest__Output, Promise<CreateBatchResponse>>
  /** Without it, a resource whose `update` is replaced takes no batches of changes; so with `deleteBatch` and `delete`. */
  readonly updateBatch?: Override<UpdateBatchRequest__Output, Promise<UpdateBatchResponse>>
  readonly deleteBatch?: Override<DeleteBatchRequest__Output, Promise<DeleteBatchResponse>>
  readonly update?: Override<UpdateRequest__Output, Promise<UpdateResponse>>
  readonly delete?: Override<DeleteRequest__Output, Promise<DeleteResponse>>
  readonly act?: Override<ActRequest__Output, Promise<ActResponse>>
}
