import type { FairSemaphore } from '../../shared/fair-semaphore.js'
import type { GetByRequest__Output } from '../../shared/gen/entity/v1/GetByRequest.js'
import type { GetByResponse } from '../../shared/gen/entity/v1/GetByResponse.js'
import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import type { HistoryRequest__Output } from '../../shared/gen/entity/v1/HistoryRequest.js'
import type { HistoryResponse } from '../../shared/gen/entity/v1/HistoryResponse.js'
import type { ListRequest__Output } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import type { LookupRequest__Output } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import type { PageRequest__Output } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import type { Record as WireRecord } from '../../shared/gen/entity/v1/Record.js'
import type { ReadRequest__Output } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import { jsonArray } from '../../shared/transport/wire.js'
import type { CallContext, UnaryHandler } from '../entity/caller.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Override, Overrides } from '../entity/operations.js'
import { jsonBytes } from '../entity/fields/json-text.js'
import { idOf, isComposite, isKeyed } from '../entity/key.js'
import type { Planning } from '../plan/planning.js'
import type { GetByPlan, ListPlan, LookupPlan, PagePlan } from '../plan/model/plans.js'
import {
  continuationPageSize,
  planGet,
  planGetBy,
  planList,
  planLookup,
  planPage,
  planCustomRead
} from '../plan/plan-reads.js'
import { noSuchRow } from '../plan/row-scopes.js'
import type { LoadedRow, LookupResult, ReadStore } from '../plan/model/stores.js'
import type { ReadShares } from './fair-shares.js'
import { UnshownValues } from '../entity/fields/unshown.js'
import { unshownIn } from './unshown-values.js'
import {
  jsonOfRows,
  oneValue,
  recordEncoder,
  recordsOf,
  type RowSerializer,
  rowSerializer,
  valueReader,
  writeArray
} from './json.js'
import { history } from './history.js'
import { totals } from './totals.js'
import { valueWriter } from '../entity/types/types.js'

/** What the read handlers need. */
export interface ReadDeps {
  readonly planning: Planning
  readonly store: ReadStore
  /** Limits the exports that run at the same time (export.ts). */
  readonly exports: FairSemaphore
  /** Limits the other reads. */
  readonly shares: Pick<ReadShares, 'admit' | 'checkMemory' | 'saw' | 'write'>
}

/** A handler that runs the override that the entity declares, which can call the standard operation, or else the standard one. */
export function withOverrides<
  Deps extends { readonly planning: Planning },
  Request extends { readonly resource: string },
  Response
>(
  deps: Deps,
  standard: (deps: Deps, context: CallContext, request: Request) => Response,
  overrideOf: (overrides: Overrides) => Override<Request, Response> | undefined
): (context: CallContext, request: Request) => Response {
  return (context, request) => {
    const run = (chosen: Request): Response => standard(deps, context, chosen)
    const override = overrideOf(deps.planning.catalogue.entity(request.resource).overrides)
    return override === undefined ? run(request) : override(context, request, run)
  }
}

/**
 * The rpcs of reads that answer with one message, each with its handler and the entity's override of it. The export is
 * a stream (export.ts).
 */
export const UNARY_READS = {
  List: (deps: ReadDeps) => inArrays(deps, listRows, (overrides) => overrides.list),
  Page: (deps: ReadDeps) => inArrays(deps, page, (overrides) => overrides.paged),
  Lookup: (deps: ReadDeps) => withOverrides(deps, lookup, (overrides) => overrides.lookup),
  Totals: (deps: ReadDeps) => withOverrides(deps, totals, (overrides) => overrides.totals),
  Get: (deps: ReadDeps) => withOverrides(deps, get, (overrides) => overrides.get),
  GetBy: (deps: ReadDeps): UnaryHandler<GetByRequest__Output, GetByResponse> => {
    const byId = withOverrides(deps, get, (overrides) => overrides.get)
    return (context, request) => getBy(deps, context, { request, byId })
  },
  History:
    (deps: ReadDeps): UnaryHandler<HistoryRequest__Output, HistoryResponse> =>
    (context, request) =>
      history(deps, context, request),
  Read: (deps: ReadDeps) => withOverrides(deps, read, (overrides) => overrides.read)
}

/**
 * The handler of a read whose request may ask for one array in place of records. An override sees records, which are joined
 * after it.
 */
function inArrays<
  Request extends { readonly resource: string; readonly asArray: boolean },
  Response extends { readonly records?: readonly WireRecord[]; readonly json?: Buffer | Uint8Array | string }
>(
  deps: ReadDeps,
  standard: (deps: ReadDeps, context: CallContext, request: Request) => Promise<Response>,
  overrideOf: (overrides: Overrides) => Override<Request, Promise<Response>> | undefined
): UnaryHandler<Request, Response> {
  const inRecords = withOverrides(
    deps,
    (_, context: CallContext, request: Request) => standard(deps, context, { ...request, asArray: false }),
    overrideOf
  )
  return async (context, request) => {
    const isOverridden = overrideOf(deps.planning.catalogue.entity(request.resource).overrides) !== undefined
    if (!isOverridden) return standard(deps, context, request)
    const response = await inRecords(context, request)
    if (!request.asArray) return response
    return { ...response, records: [], json: jsonArray((response.records ?? []).map(jsonOf)) }
  }
}

function jsonOf({ json = '' }: WireRecord): Buffer {
  return Buffer.isBuffer(json) ? json : Buffer.from(json)
}

/** The rows as records, or as one array where the request asks for it. */
async function answered(
  context: CallContext,
  rows: readonly LoadedRow[],
  { plan, asArray }: { readonly plan: ListPlan | PagePlan; readonly asArray: boolean }
): Promise<Pick<PageResponse, 'records' | 'json' | 'unshownValues'>> {
  const unshown = new UnshownValues()
  const answer = asArray
    ? { json: await jsonOfRows(rows, plan, unshown) }
    : { records: await recordsOf(rows, plan, unshown) }
  return { ...answer, ...unshownIn(context, unshown) }
}

/** The collections that are cut in any of the rows, in order of their names. */
function truncatedIn(rows: readonly LoadedRow[]): { readonly truncatedIncludes?: string[] } {
  const names = new Set(rows.flatMap(({ truncated }) => truncated))
  return names.size === 0 ? {} : { truncatedIncludes: [...names].sort() }
}

async function listRows(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  request: ListRequest__Output
): Promise<ListResponse> {
  const plan = planList(request, { planning, caller: context.caller })
  return await shares.admit(context, { ...plan, rows: plan.limit, of: plan }, async () => {
    const { rows, truncated } = await store.list(plan, context.cancellation)
    shares.saw(context, plan, rows)
    return {
      ...(await answered(context, rows, { plan, asArray: request.asArray })),
      ...truncatedIn(rows),
      rowLimit: plan.limit,
      truncated,
      continuationPageSize: continuationPageSize(planning.maxPageSize)
    }
  })
}

async function page(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  request: PageRequest__Output
): Promise<PageResponse> {
  const { plan, paging, cursors } = planPage(request, { planning, caller: context.caller })
  return await shares.admit(context, { ...plan, rows: plan.limit, of: plan }, async () => {
    const { rows, total, next, previous } = await store.page(plan, context.cancellation)
    shares.saw(context, plan, rows)
    const cursorOf = (position: typeof next): string | undefined =>
      position === undefined || !isKeyed(plan.entity) ? undefined : cursors.encode(position)
    const [nextCursor, previousCursor] = [cursorOf(next), cursorOf(previous)]
    return {
      ...(await answered(context, rows, { plan, asArray: request.asArray })),
      ...truncatedIn(rows),
      pageSize: paging.pageSize,
      currentPage: paging.pageNumber?.toString() ?? '',
      hasNext: next !== undefined,
      hasPrevious: previous !== undefined,
      ...counted(total, plan),
      ...(nextCursor === undefined ? {} : { nextCursor }),
      ...(previousCursor === undefined ? {} : { previousCursor })
    }
  })
}

/** The total as far as it was counted. */
function counted(
  total: number | undefined,
  { totalLimit = Infinity }: PagePlan
): Pick<PageResponse, 'totalCount' | 'totalIsLowerBound'> {
  if (total === undefined) return {}
  return total > totalLimit ? { totalCount: totalLimit, totalIsLowerBound: true } : { totalCount: total }
}

async function get(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  request: GetRequest__Output
): Promise<GetResponse> {
  const plan = planGet(request, { planning, caller: context.caller })
  const { manyToMany, children } = plan
  const size = { rows: 1, manyToMany, children, of: plan }
  const row = await shares.admit(context, size, () => store.get(plan, context.cancellation))
  if (row === undefined) throw noSuchRow()
  const unshown = new UnshownValues()
  const record = await shares.write(context, { of: plan, row }, () => recordEncoder(plan, unshown)(row))
  return { record, ...truncatedIn([row]), ...unshownIn(context, unshown) }
}

/**
 * The read by id of a row that a unique property names. Where the entity replaces the read by id, the replacement answers
 * for the id of the row.
 */
async function getBy(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  {
    request,
    byId
  }: { readonly request: GetByRequest__Output; readonly byId: UnaryHandler<GetRequest__Output, GetResponse> }
): Promise<GetByResponse> {
  const { plan, absent } = planGetBy(request, { planning, caller: context.caller })
  const { entity, manyToMany, children } = plan
  const size = { rows: 1, manyToMany, children, of: plan }
  const row = await shares.admit(context, size, () => store.getBy(plan, context.cancellation))
  if (row === undefined) throw absent ?? noSuchRow()
  if (entity.overrides.get !== undefined) return await byId(context, { ...request, id: idOfRow(row, plan) })
  const unshown = new UnshownValues()
  const record = await shares.write(context, { of: plan, row }, () => recordEncoder(plan, unshown)(row))
  return { record, ...truncatedIn([row]), ...unshownIn(context, unshown) }
}

/** As it stands in the path of the row. */
function idOfRow(row: LoadedRow, { entity, projection }: GetByPlan): string {
  const { key } = entity
  const id = isComposite(entity) ? ({ kind: 'id', key } as const) : ({ kind: 'column', column: key[0] } as const)
  return String(valueReader(id, projection).read((at) => oneValue(row, at)))
}

/** What a look-up costs, in rows. It answers up to 1000 short ones, which those who ask at one moment share. */
const LOOKUP_ROWS = 100

async function lookup(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  request: LookupRequest__Output
): Promise<LookupResponse> {
  const plan = planLookup(request, { planning, caller: context.caller })
  const result = await shares.admit(context, { ...plan, rows: LOOKUP_ROWS }, () =>
    store.lookup(plan, context.cancellation)
  )
  const written = lookupJson.get(result) ?? jsonOfLookup(result, plan)
  lookupJson.set(result, written)
  return { json: written.json, ...unshownIn(context, written.unshown), truncated: result.truncated }
}

/** Written once for all callers of one result. */
interface WrittenLookup {
  readonly json: Buffer
  readonly unshown: UnshownValues
}

const lookupJson = new WeakMap<LookupResult, WrittenLookup>()

function jsonOfLookup({ items }: LookupResult, { entity }: LookupPlan): WrittenLookup {
  const unshown = new UnshownValues()
  const writeId = valueWriter(isComposite(entity) ? 'string' : entity.key[0].field.type)
  const json = jsonBytes((out) => {
    out.text('{"items":')
    writeArray(
      items,
      ({ key, name }) => {
        out.text('{"id":')
        writeId(idOf(key), out)
        out.text(',"name":')
        const text = unshown.shown(name, entity.label?.name ?? 'id')
        if (text === null) out.text('null')
        else out.string(String(text))
        out.text('}')
      },
      out
    )
    out.text('}')
  })
  return { json, unshown }
}

/** A custom read. Answers a JSON array of its items. */
async function read(
  { planning, store, shares }: ReadDeps,
  context: CallContext,
  request: ReadRequest__Output
): Promise<ReadResponse> {
  const { plan, read: custom } = planCustomRead(request, { planning, caller: context.caller })
  return await shares.admit(context, { ...plan, rows: plan.limit, of: plan }, async () => {
    const { rows, next } = await store.page(plan, context.cancellation)
    shares.saw(context, plan, rows)
    return {
      json: jsonBytes((out) => writeArray(rows, itemWriter(custom, plan), out)),
      rowLimit: plan.limit,
      truncated: next !== undefined
    }
  })
}

function itemWriter({ bare, items }: CustomRead, { projection }: PagePlan): RowSerializer {
  const [column] = items
  if (!bare || column === undefined) return rowSerializer(projection)
  const { read: value } = valueReader({ kind: 'column', column }, projection)
  const write = valueWriter(column.field.type)
  return (row, out) =>
    write(
      value((at) => oneValue(row, at)),
      out
    )
}
