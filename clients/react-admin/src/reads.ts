import type { CallOptions, Client, Paging, Resource, ResourceTypes } from '@uniform-rest/client'
import type { Identifier, PaginationPayload, RaRecord, SortPayload } from 'ra-core'
import { isProblemError } from './errors.js'
import { readFilter } from './filters.js'

/** The types of an application whose own are not known when the program is compiled: `createClient<AnyApplication>(…)`. */
export interface AnyApplication {
  readonly resources: Readonly<Record<string, AnyResource>>
  readonly operations: Readonly<Record<never, never>>
}

interface AnyResource extends ResourceTypes {
  readonly row: RaRecord
  readonly filters: Readonly<Record<string, readonly [value: unknown, operators: string]>>
  readonly includes: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly by: Readonly<Record<string, unknown>>
  readonly actions: Readonly<Record<string, object>>
  readonly history: true
  readonly totals: {
    readonly dimensions: Readonly<Record<string, unknown>>
    readonly measures: Readonly<Record<string, unknown>>
  }
}

export type AnyClient = Client<AnyApplication>
/** The calls of a resource that only its name is known of. */
export type Rows = Resource<AnyResource>

/** `meta` of reads. */
export interface ReadMeta {
  /** The properties to answer; `id` is added. Rows that are edited or deleted later need `rowVersion` among them. */
  readonly fields?: readonly string[]
  readonly includeFKs?: boolean
  readonly includeChildren?: boolean
  /** Names of navigations that come with the row besides, `category.parent` for one within another. */
  readonly include?: readonly string[]
  /** false leaves the total of a list out, which costs a count. */
  readonly includeTotal?: boolean
  /** Rows at which the total of a list stops, 10,000 without it. A list with more has no total, and a next page. */
  readonly totalLimit?: number
  /** The owner parameter of a resource that has one. */
  readonly parameters?: object
}

/** What the reads of react-admin have in common. */
export interface ReadParams {
  readonly meta?: unknown
  readonly signal?: AbortSignal | undefined
}

export interface ListParams extends ReadParams {
  readonly filter?: unknown
  readonly sort?: SortPayload | undefined
  readonly pagination?: PaginationPayload | undefined
}

export interface ListRange {
  readonly data: RaRecord[]
  readonly total?: number
  readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean }
}

/** The values that an `in` takes (contract.md section 4). */
const MOST_IDS = 200
/** A count of more rows takes longer than a person waits for it. */
const TOTAL_LIMIT = 10_000
/** Reads by id at a time. */
const MOST_READS = 20

/**
 * One page of react-admin. A page that is larger than the service allows is put together from several of the service, so
 * that the pages of react-admin still follow each other without a gap.
 */
export async function readRange(rows: Rows, params: ListParams, key?: readonly string[]): Promise<ListRange> {
  const { page = 1, perPage = 10 } = params.pagination ?? {}
  const { search, ...conditions } = readFilter(params.filter)
  const sort = sortKeys(params.sort, key)
  const isKeyless = key?.length === 0
  const query = {
    ...conditions,
    ...(search === undefined ? {} : { search }),
    ...(sort === undefined ? {} : { sort }),
    ...(isKeyless ? withoutId : shapeOf)(params.meta)
  }
  const from = (page - 1) * perPage
  const named = (found: readonly RaRecord[]): RaRecord[] =>
    isKeyless ? found.map((row, at) => ({ ...row, id: from + at + 1 })) : [...found]
  const read = (paging: Paging) => rows.page({ ...query, ...paging, pageSize: perPage }, optionsOf(params))
  const { includeTotal = true, totalLimit = TOTAL_LIMIT } = metaOf(params.meta)
  const first = await read({ pageNumber: page, includeTotal, ...(includeTotal ? { totalLimit } : {}) })
  const isCounted = first.totalCount !== undefined && !first.totalIsLowerBound
  const total = isCounted ? { total: first.totalCount } : {}
  if (first.pageSize >= perPage) {
    const pageInfo = { hasNextPage: first.hasNext, hasPreviousPage: first.hasPrevious }
    return { data: named(first.rows), ...total, pageInfo }
  }
  let number = Math.floor(from / first.pageSize) + 1
  let last = number === page ? first : await read({ pageNumber: number, includeTotal: false })
  const found = last.rows.slice(from - (number - 1) * first.pageSize)
  while (found.length < perPage && last.hasNext) {
    number++
    const { nextCursor } = last
    // By cursor, rows that come or go meanwhile shift nothing. One over 1 KiB is left out by the service.
    const place = nextCursor === undefined ? { pageNumber: number } : { after: nextCursor }
    last = await read({ ...place, includeTotal: false })
    found.push(...last.rows)
  }
  const pageInfo = { hasNextPage: found.length > perPage || last.hasNext, hasPreviousPage: page > 1 }
  return { data: named(found.slice(0, perPage)), ...total, pageInfo }
}

/** The rows of the ids, in one request for each 200. Those that are gone or that the caller may not see are left out. */
export async function readByIds(
  rows: Rows,
  { ids, ...params }: ReadParams & { readonly ids: readonly Identifier[] },
  key?: readonly string[]
): Promise<RaRecord[]> {
  const unique = [...new Set(ids)]
  const found: RaRecord[] = []
  if (key === undefined) {
    for (const some of chunks(unique, MOST_IDS)) {
      const query = { where: { id: { in: some } }, pageSize: MOST_IDS, ...shapeOf(params.meta) }
      for await (const row of rows.rows(query, optionsOf(params))) found.push(row)
    }
    return found
  }
  for (const some of chunks(unique, MOST_READS)) {
    const read = await Promise.all(some.map((id) => readIfThere(rows, { id, ...params })))
    found.push(...read.filter((row) => row !== undefined))
  }
  return found
}

async function readIfThere(
  rows: Rows,
  { id, ...params }: ReadParams & { readonly id: Identifier }
): Promise<RaRecord | undefined> {
  try {
    return await rows.get(id, shapeOf(params.meta), optionsOf(params))
  } catch (error) {
    if (isProblemError(error) && error.problem.status === 404) return undefined
    throw error
  }
}

type Shape = Omit<ReadMeta, 'includeTotal' | 'totalLimit'>

/** What a read of rows without a key shows. */
function withoutId(meta: unknown): Shape {
  const { includeTotal: _, totalLimit: __, ...shape } = metaOf(meta)
  return shape
}

/** What a read shows, without what belongs to lists alone. */
export function shapeOf(meta: unknown): Shape {
  const { fields, ...shape } = withoutId(meta)
  return fields === undefined ? shape : { ...shape, fields: [...new Set(['id', ...fields])] }
}

function metaOf(meta: unknown): ReadMeta {
  return meta ?? {}
}

export function optionsOf({ signal }: ReadParams): CallOptions {
  return signal === undefined ? {} : { signal }
}

/** undefined for the order that every list has: by id, ascending. */
export function sortKeys(sort: SortPayload | undefined, key: readonly string[] | undefined): string[] | undefined {
  if (sort === undefined || sort.field === '' || (sort.field === 'id' && key?.length === 0)) return undefined
  const { field, order } = sort
  if (order !== 'DESC') return field === 'id' ? undefined : [field]
  // A composite key is no property. Its parts are, in the order in which rows are sorted by it.
  return (field === 'id' ? (key ?? ['id']) : [field]).map((name) => `-${name}`)
}

function chunks<One>(all: readonly One[], size: number): One[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size))
}
