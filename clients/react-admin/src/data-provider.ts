import type {
  ApplicationTypes,
  Client,
  CsvExport,
  DimensionName,
  HistoryPage,
  ImportFile,
  ImportOptions,
  ImportResult,
  MeasureName,
  ResourceName,
  TotalsRow,
  TypesOf
} from '@uniform-rest/client'
import type {
  DataProvider,
  GetManyReferenceParams,
  Identifier,
  PaginationPayload,
  RaRecord,
  SortPayload
} from 'ra-core'
import { type Many, writeMany } from './batches.js'
import { type FilterOf, readFilter } from './filters.js'
import {
  type AnyApplication,
  type AnyClient,
  type ListParams,
  optionsOf,
  readByIds,
  type ReadMeta,
  type ReadParams,
  readRange,
  type Rows,
  shapeOf,
  sortKeys
} from './reads.js'
import {
  act,
  createRow,
  deleteRow,
  PendingWrites,
  reported,
  type SeenRow,
  updateRow,
  type WriteMeta
} from './writes.js'

export interface DataProviderOptions<A extends ApplicationTypes> {
  readonly client: Client<A>
  /**
   * The properties of each composite key, in their order: `{ 'film-actors': ['actorId', 'filmId'] }`. The id of such a row
   * is one text, which can be neither filtered nor sorted by. `[]` for rows without a key: their ids are their places in the
   * list, which is all that they are read by.
   */
  readonly compositeKeys?: { readonly [Name in ResourceName<A>]?: readonly TypesOf<A, Name>['sort'][] }
  /** The resource that holds the audit entries; `audit-entries` without it. */
  readonly auditResource?: ResourceName<A>
}

export interface ActParams<Action extends string, Body> extends SeenRow {
  readonly action: Action
  /** What the action takes. */
  readonly data?: Body
  readonly meta?: Pick<WriteMeta, 'idempotencyKey' | 'includeChildren'>
  readonly signal?: AbortSignal
}

interface ExportOptions {
  readonly sort?: SortPayload
  /** Whether the file begins with a byte order mark, for spreadsheets; true without it. */
  readonly bom?: boolean
  /** Whether texts that a spreadsheet would run are marked with `'`; true without it. */
  readonly escapeFormulas?: boolean
  readonly meta?: Pick<ReadMeta, 'parameters'>
  readonly signal?: AbortSignal
}

export interface ExportParams<A extends ApplicationTypes, Name extends ResourceName<A>> extends ExportOptions {
  readonly filter?: FilterOf<A, Name>
  readonly fields?: readonly TypesOf<A, Name>['fields'][]
}

export interface LookupParams {
  /** Text that the name contains. */
  readonly search?: string
  readonly meta?: Pick<ReadMeta, 'parameters'>
  readonly signal?: AbortSignal
}

export interface LookupAnswer<Id> {
  readonly data: readonly { readonly id: Id; readonly name: string | null }[]
  /** Whether choices were left out: there are more than 1000. */
  readonly isTruncated: boolean
}

interface TotalsOptions {
  /** A dimension or a measure of the answer. */
  readonly sort?: SortPayload
  readonly meta?: Pick<ReadMeta, 'parameters'>
  readonly signal?: AbortSignal
}

export interface TotalsParams<
  A extends ApplicationTypes,
  Name extends ResourceName<A>,
  By extends string,
  M extends string
> extends TotalsOptions {
  /** What rows are grouped by, at most four; without it there is one group of all rows. */
  readonly by?: readonly By[]
  /** What is computed of each group, at most ten; without it all that the caller may read. */
  readonly measures?: readonly M[]
  readonly filter?: FilterOf<A, Name>
}

export interface ChangesParams {
  readonly id: Identifier
  readonly pageSize?: number
  /** The `nextCursor` of an earlier answer. */
  readonly after?: string
  readonly signal?: AbortSignal
}

export interface HistoryParams {
  readonly id: Identifier
  readonly pagination?: PaginationPayload
  readonly signal?: AbortSignal
}

/** An audit entry: who wrote a row, when, and by what. */
export interface HistoryEntry {
  readonly id: string
  /** RFC 3339, UTC. */
  readonly at: string
  /** Issuer and subject of the access token. */
  readonly subject: string
  readonly resource: string
  readonly rowId: string
  /** `create`, `update`, `delete` or the name of an action. */
  readonly action: string
  /** That of the log lines of the request. */
  readonly requestId: string | null
}

/** What this service has beyond what react-admin asks of it. As its own methods, all are called as (resource, params). */
export interface FurtherMethods<A extends ApplicationTypes> {
  /** One of the resource's actions. Resolves with the row after it; rejects with a ConflictError for a stale row. */
  act<Name extends ResourceName<A>, Action extends string & keyof TypesOf<A, Name>['actions']>(
    resource: Name,
    params: ActParams<Action, TypesOf<A, Name>['actions'][Action]>
  ): Promise<{ readonly data: TypesOf<A, Name>['row'] }>

  /**
   * The rows of a list as a CSV file that is read while it comes: `fileName`, `file()`, and at its end `isTruncated`, which
   * says whether the service left out rows beyond `rowLimit`. One that breaks off throws an ExportIncompleteError.
   */
  exportCsv<Name extends ResourceName<A>>(
    resource: Name,
    params?: ExportParams<A, Name>
  ): Promise<CsvExport<TypesOf<A, Name>['fields']>>

  /** Creates the rows of a file, all or those that can be created, and tells which could not. */
  importFile<Name extends ResourceName<A>>(
    resource: Name,
    params: ImportOptions<TypesOf<A, Name>> & { readonly file: ImportFile }
  ): Promise<ImportResult>

  /** Ids and names of the rows, ordered by name: the choices of an input. */
  lookup<Name extends ResourceName<A>>(
    resource: Name,
    params?: LookupParams
  ): Promise<LookupAnswer<TypesOf<A, Name>['id']>>

  /** Counts, sums and averages of the rows that match, in at most 1000 groups. */
  getTotals<
    Name extends ResourceName<A>,
    const By extends DimensionName<TypesOf<A, Name>> = never,
    const M extends MeasureName<TypesOf<A, Name>> = MeasureName<TypesOf<A, Name>>
  >(
    resource: Name,
    params?: TotalsParams<A, Name, By, M>
  ): Promise<{
    readonly data: readonly TotalsRow<TypesOf<A, Name>, By, M>[]
    /** Whether groups were left out. */
    readonly isTruncated: boolean
  }>

  /** What writes changed of a row, the newest first, of a resource that has a history. */
  getChanges<Name extends ResourceName<A>>(
    resource: Name,
    params: ChangesParams
  ): Promise<HistoryPage<TypesOf<A, Name>['row']>>

  /** The audit entries of a row, the newest first. It takes the permission to read them. */
  history(
    resource: ResourceName<A>,
    params: HistoryParams
  ): Promise<{ readonly data: readonly HistoryEntry[]; readonly total: number }>
}

export interface UniformRestDataProvider<A extends ApplicationTypes> extends DataProvider, FurtherMethods<A> {}

/** The data provider of a react-admin application over the typed client. */
export function uniformRestDataProvider<A extends ApplicationTypes>({
  client,
  compositeKeys = {},
  auditResource
}: DataProviderOptions<A>): UniformRestDataProvider<A> {
  // react-admin passes any record of any resource. The types of the application come back with the answer's.
  const anyClient = client as unknown as AnyClient
  const keys = compositeKeys as Readonly<Record<string, readonly string[] | undefined>>
  const rowsOf = (resource: string): Rows => anyClient.resource(resource)
  return {
    ...standardMethods(rowsOf, keys),
    ...furtherMethods(rowsOf, keys, auditResource ?? 'audit-entries')
  }
}

type RowsOf = (resource: string) => Rows
type Keys = Readonly<Record<string, readonly string[] | undefined>>

function standardMethods(rowsOf: RowsOf, keys: Keys): DataProvider {
  const pending = new PendingWrites()
  const many = (resource: string) => ({ rows: rowsOf(resource), resource, key: keys[resource], pending })
  const range = <R>(resource: string, params: ListParams) =>
    reported(async () => {
      const { data, ...others } = await readRange(rowsOf(resource), params, keys[resource])
      return { ...others, data: data as R[] }
    })
  return {
    supportAbortSignal: true,

    getList: <R extends RaRecord>(resource: string, params: ListParams) => range<R>(resource, params),

    getManyReference: async <R extends RaRecord>(resource: string, params: GetManyReferenceParams & ReadParams) => {
      const { target, id } = params
      const { where, search } = readFilter(params.filter)
      const filter = { ...where, q: search, [target]: [...(where[target] ?? []), { eq: id }] }
      return await range<R>(resource, { ...params, filter })
    },

    getOne: <R extends RaRecord>(resource: string, params: ReadParams & { readonly id: Identifier }) =>
      reported(async () => ({
        data: (await rowsOf(resource).get(params.id, shapeOf(params.meta), optionsOf(params))) as R
      })),

    getMany: <R extends RaRecord>(resource: string, params: ReadParams & { readonly ids: readonly Identifier[] }) =>
      reported(async () => ({ data: (await readByIds(rowsOf(resource), params, keys[resource])) as R[] })),

    create: <R>(resource: string, params: { readonly data: object; readonly meta?: WriteMeta }) =>
      reported(async () => ({ data: (await createRow(rowsOf(resource), params, { pending, resource })) as R })),

    update: <R>(resource: string, params: SeenRow & { readonly data: object; readonly meta?: WriteMeta }) =>
      reported(async () => ({ data: (await updateRow(rowsOf(resource), params)) as R })),

    updateMany: async (resource: string, params: Many & { readonly data: object }) => ({
      data: await writeMany(many(resource), params)
    }),

    delete: <R extends RaRecord>(resource: string, params: SeenRow & { readonly meta?: WriteMeta }) =>
      reported(async () => {
        await deleteRow(rowsOf(resource), params)
        return { data: (params.previousData ?? { id: params.id }) as R }
      }),

    deleteMany: async (resource: string, { ids, meta }: Many) => ({
      data: await writeMany(many(resource), { ids, meta })
    })
  }
}

interface AnyExport extends ExportOptions {
  readonly filter?: unknown
  readonly fields?: readonly string[]
}

interface AnyTotals extends TotalsOptions {
  readonly by?: readonly string[]
  readonly measures?: readonly string[]
  readonly filter?: unknown
}

function furtherMethods(rowsOf: RowsOf, keys: Keys, auditResource: string): FurtherMethods<AnyApplication> {
  return {
    act: (resource: string, params: ActParams<string, object>) =>
      reported(async () => ({ data: await act(rowsOf(resource), params) })),

    exportCsv: (resource: string, params: AnyExport = {}) =>
      reported(() => {
        const { filter, sort, fields, bom = true, escapeFormulas = true, meta } = params
        const order = sortKeys(sort, keys[resource])
        return rowsOf(resource).export(
          {
            ...readFilter(filter),
            ...meta,
            ...(order === undefined ? {} : { sort: order }),
            ...(fields === undefined ? {} : { fields }),
            bom,
            escapeFormulas
          },
          optionsOf(params)
        )
      }),

    importFile: (
      resource: string,
      { file, ...options }: ImportOptions<TypesOf<AnyApplication, string>> & { readonly file: ImportFile }
    ) => reported(() => rowsOf(resource).import(file, options)),

    lookup: (resource: string, params: LookupParams = {}) =>
      reported(async () => {
        const { search = '', meta } = params
        const query = { ...meta, ...(search === '' ? {} : { search }) }
        const { items, isTruncated } = await rowsOf(resource).lookup(query, optionsOf(params))
        return { data: items, isTruncated }
      }),

    getTotals: (resource: string, params: AnyTotals = {}) =>
      reported(async () => {
        const { filter, sort, by, measures, meta } = params
        const query = {
          ...readFilter(filter),
          ...meta,
          ...(by === undefined ? {} : { by }),
          ...(measures === undefined ? {} : { measures }),
          ...(sort === undefined ? {} : { sort: `${sort.order === 'DESC' ? '-' : ''}${sort.field}` })
        }
        const { rows, isTruncated } = await rowsOf(resource).totals(query, optionsOf(params))
        return { data: rows, isTruncated }
      }),

    getChanges: (resource: string, { id, pageSize, after, ...params }: ChangesParams) =>
      reported(() => {
        const query = {
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(after === undefined ? {} : { after })
        }
        return rowsOf(resource).history(id, query, optionsOf(params))
      }),

    history: (resource: string, { id, ...params }: HistoryParams) =>
      reported(async () => {
        const filter = { resource, rowId: await auditedId(String(id)) }
        const sort = { field: 'id', order: 'DESC' } as const
        const { data, total = data.length } = await readRange(rowsOf(auditResource), { ...params, filter, sort })
        return { data: data as unknown as HistoryEntry[], total }
      })
  }
}

/** An audit entry holds at most so many characters of an id. */
const LONGEST_ROW_ID = 64

/** An id as audit entries name it: a long one by its first characters and the SHA-256 of the whole in base64url. */
async function auditedId(id: string): Promise<string> {
  const characters = Array.from(id)
  if (characters.length < LONGEST_ROW_ID) return id
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(id)))
  const text = btoa(String.fromCharCode(...hash))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
  return `${characters.slice(0, LONGEST_ROW_ID - text.length - 1).join('')}~${text}`
}
