import { CsvExport } from './csv-export.js'
import {
  type AnyQuery,
  type DimensionName,
  type MeasureName,
  type Paging,
  queryText,
  type Selection,
  type Shape,
  type Shaped,
  type TotalsQuery,
  type TotalsRow
} from './query.js'
import type { Session } from './session.js'
import type { Call, Transport } from './transport.js'
import type { ResourceTypes } from './types.js'
import { tagOf, versionIn, type Versions } from './versions.js'

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its retries and waits. */
  readonly signal?: AbortSignal
}

/** Of a write. */
export interface WriteOptions extends CallOptions {
  /**
   * Whether the write is only tried: the service answers what it would, and rolls everything back (`Prefer: tx=rollback`).
   * The versions in such an answer are of no row.
   */
  readonly dryRun?: boolean
}

/** Of a write that creates or acts. */
export interface KeyedOptions extends WriteOptions {
  /** The Idempotency-Key: 1 to 255 visible ASCII characters. Without it each call has a random one, kept over its retries. */
  readonly idempotencyKey?: string
}

/**
 * A file to import: its text, a Blob such as a File, or a function that opens a stream of it. Each attempt opens one, since a
 * stream is read once.
 */
export type ImportFile = string | Blob | (() => ReadableStream<Uint8Array>)

/** Of an import. */
export interface ImportOptions<T extends ResourceTypes> extends Omit<KeyedOptions, 'dryRun'> {
  readonly format: keyof typeof IMPORT_TYPES
  /** A unique property: rows whose value is there already are left alone. */
  readonly by?: string & keyof UniqueOf<T, 'by'>
  /** `stop`, as without it: all rows of up to 10,000 or none. `skip`: all that can be created, of up to 1,000,000. */
  readonly onError?: 'stop' | 'skip'
  readonly parameters?: T['parameters']
  /** Called with the bytes of a stream that are on their way so far. An attempt begins at 0. Browsers send a Blob unseen. */
  readonly onProgress?: (bytes: number) => void
}

export interface ImportResult {
  /** The rows of the file: created by this call, by an earlier one with the key, there already (with `by`), or failed. */
  readonly rows: number
  readonly created: number
  readonly replayed: number
  readonly existing?: number
  readonly failed: number
  /** At most 1000. `row` counts from 1; `pointer` is the place in the row, empty for all of it. */
  readonly errors: readonly {
    readonly row: number
    readonly code: string
    readonly detail: string
    readonly pointer: string
  }[]
}

const IMPORT_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const

/** Of a write that changes a row. */
export interface GuardedOptions extends WriteOptions {
  /**
   * The entity tag that the row must still have, `W/"…"`. Without it: the `rowVersion` of the row that is given, or else the
   * version with which this client last read or wrote it. `false` sends none, which only a delete takes.
   */
  readonly ifMatch?: string | false
}

export interface ListResult<Row> {
  readonly rows: readonly Row[]
  /** Whether rows beyond the first 1000 were left out. */
  readonly isTruncated: boolean
}

export interface LookupResult<Id> {
  readonly items: readonly { readonly id: Id; readonly name: string | null }[]
  readonly isTruncated: boolean
}

export interface Page<Row> {
  readonly rows: readonly Row[]
  readonly pageSize: number
  /** Rows of all pages; undefined with `includeTotal: false`, and with `totalLimit` at most that. */
  readonly totalCount: number | undefined
  /** Whether there are more rows than `totalCount`, since the count ended at `totalLimit`. */
  readonly totalIsLowerBound: boolean
  /** undefined without an exact total. */
  readonly totalPages: number | undefined
  /** null on a page that a cursor began. */
  readonly currentPage: number | null
  readonly hasPrevious: boolean
  readonly hasNext: boolean
  /** For `after` and `before`; undefined where there are no such rows. */
  readonly nextCursor: string | undefined
  readonly previousCursor: string | undefined
}

/** What a write changed of a row. */
export interface HistoryEntry<Row> {
  readonly id: string
  /** RFC 3339, UTC. */
  readonly at: string
  /** `create`, `update`, `delete` or the name of an action. */
  readonly action: string
  /** Issuer and subject of the writer, for callers who read the audit entries. */
  readonly subject?: string
  /** Likewise. */
  readonly requestId?: string | null
  /** The properties that changed. `before` is absent for a new row, `after` for a deleted one, both where it is `omitted`. */
  readonly changes: {
    readonly [Name in keyof Row]?: { readonly before?: Row[Name]; readonly after?: Row[Name]; readonly omitted?: true }
  }
}

export interface HistoryPage<Row> {
  /** The newest first. */
  readonly entries: readonly HistoryEntry<Row>[]
  /** For `after`; undefined where there are no older ones. */
  readonly nextCursor: string | undefined
}

type PageQuery<T extends ResourceTypes> = Selection<T> & Shape<T> & Paging

/** A row by its id, or as it was read. */
export type Target<T extends ResourceTypes> = T['id'] | { readonly id: T['id']; readonly rowVersion?: string }

/** A row with the members that a batch changes. */
export type Change<T extends ResourceTypes> = { readonly id: T['id']; readonly rowVersion?: string } & T['patch']

type ActOptions<Body> = GuardedOptions & KeyedOptions & { readonly body?: Body }

type ActArguments<Body> = object extends Body
  ? [options?: ActOptions<Body>]
  : [options: ActOptions<Body> & { readonly body: Body }]

/** The unique properties of a resource with the types of their values. */
type UniqueOf<T extends ResourceTypes, Use extends 'by' | 'replaceBy'> = NonNullable<T[Use]>

/** A PUT by a unique property, whose body may leave it out. */
type ReplaceBy<T extends ResourceTypes, Name extends string> = WriteOptions & {
  readonly body: Omit<T['replace'] & object, Name> & Partial<Pick<T['replace'], Name & keyof T['replace']>>
  /** The entity tag that the row must still have, `W/"…"`, or the row as it was read. */
  readonly ifMatch: string | { readonly rowVersion?: string }
}

type ReadTypes = { readonly parameters: object; readonly item: unknown }
type ParametersOf<R> = R extends ReadTypes ? R['parameters'] : never
type ItemOf<R> = R extends ReadTypes ? R['item'] : never

/** The calls of one resource. Every one throws a ProblemError, a ConnectionError or the reason of its signal. */
export class Resource<T extends ResourceTypes> {
  readonly #name: string
  readonly #transport: Transport
  readonly #session: Session | undefined
  readonly #versions: Versions

  constructor(
    name: string,
    deps: { readonly transport: Transport; readonly session: Session | undefined; readonly versions: Versions }
  ) {
    this.#name = name
    this.#transport = deps.transport
    this.#session = deps.session
    this.#versions = deps.versions
  }

  /** The first rows by id, at most 1000. */
  async list<const S extends Shape<T> & Pick<Selection<T>, 'search' | 'parameters'>>(
    query?: S,
    options: CallOptions = {}
  ): Promise<ListResult<Shaped<T, S>>> {
    return await this.#read({ path: '', query, ...options }, async (response) => ({
      rows: await this.#rowsOf<Shaped<T, S>>(response),
      isTruncated: response.headers.get('x-truncated') === 'true'
    }))
  }

  /** One page. */
  async page<const S extends PageQuery<T>>(query?: S, options: CallOptions = {}): Promise<Page<Shaped<T, S>>> {
    return await this.#read({ path: '/paged', query, ...options }, async (response) => {
      const paging = JSON.parse(response.headers.get('x-pagination') ?? '{}') as Pick<
        Page<never>,
        'pageSize' | 'totalCount' | 'totalPages' | 'currentPage' | 'hasPrevious' | 'hasNext'
      > &
        Partial<Pick<Page<never>, 'totalIsLowerBound'>>
      return {
        ...paging,
        rows: await this.#rowsOf<Shaped<T, S>>(response),
        totalCount: paging.totalCount,
        totalIsLowerBound: paging.totalIsLowerBound ?? false,
        totalPages: paging.totalPages,
        nextCursor: response.headers.get('x-next-cursor') ?? undefined,
        previousCursor: response.headers.get('x-previous-cursor') ?? undefined
      }
    })
  }

  /**
   * Page after page by cursors: rows that come or go meanwhile cause neither a gap nor a duplicate among the others. Rows
   * without a key have no cursors: their pages go by number, and rows that come or go may cause both.
   */
  async *pages<const S extends Omit<PageQuery<T>, 'before'>>(
    query?: S,
    options: CallOptions = {}
  ): AsyncGenerator<Page<Shaped<T, S>>, void, undefined> {
    let place: Paging = {}
    for (;;) {
      const { pageNumber, after, ...others }: Omit<PageQuery<T>, 'before'> = query ?? {}
      const first = { ...(pageNumber === undefined ? {} : { pageNumber }), ...(after === undefined ? {} : { after }) }
      const isFirst = Object.keys(place).length === 0
      const page = await this.page({ includeTotal: false, ...others, ...(isFirst ? first : place) } as S, options)
      yield page
      const { nextCursor, currentPage, hasNext } = page
      if (nextCursor !== undefined) place = { after: nextCursor }
      // A cursor over 1 KiB is left out.
      else if (hasNext && currentPage !== null) place = { pageNumber: currentPage + 1 }
      else return
    }
  }

  /** Every row that matches, read in pages of 100 unless `pageSize` says otherwise. */
  async *rows<const S extends Omit<PageQuery<T>, 'before'>>(
    query?: S,
    options: CallOptions = {}
  ): AsyncGenerator<Shaped<T, S>, void, undefined> {
    for await (const page of this.pages({ pageSize: 100, ...query } as S, options)) yield* page.rows
  }

  /** Ids and names, ordered by name, at most 1000. */
  async lookup(
    query?: { readonly search?: string; readonly parameters?: T['parameters'] },
    options: CallOptions = {}
  ): Promise<LookupResult<T['id']>> {
    return await this.#read({ path: '/lookup', query, ...options }, async (response) => ({
      ...((await response.json()) as Pick<LookupResult<T['id']>, 'items'>),
      isTruncated: response.headers.get('x-truncated') === 'true'
    }))
  }

  /** Counts, sums and averages of the rows that match, in at most 1000 groups. */
  async totals<const By extends DimensionName<T> = never, const M extends MeasureName<T> = MeasureName<T>>(
    query?: TotalsQuery<T, By, M>,
    options: CallOptions = {}
  ): Promise<ListResult<TotalsRow<T, By, M>>> {
    return await this.#read({ path: '/totals', query, ...options }, async (response) => ({
      rows: (await response.json()) as TotalsRow<T, By, M>[],
      isTruncated: response.headers.get('x-truncated') === 'true'
    }))
  }

  /** One row. */
  async get<const S extends Shape<T>>(
    id: T['id'],
    query?: S & Pick<Selection<T>, 'parameters'>,
    options: CallOptions = {}
  ): Promise<Shaped<T, S>> {
    return await this.#read({ path: segment(id), query, ...options }, async (response) => {
      const row = (await response.json()) as Shaped<T, S>
      this.#versions.remember(this.#name, [row])
      return row
    })
  }

  /** What writes changed of a row, the newest first, at most 50 entries at a time. */
  async history(
    id: T extends { readonly history: true } ? T['id'] : never,
    query?: { readonly pageSize?: number; readonly after?: string; readonly parameters?: T['parameters'] },
    options: CallOptions = {}
  ): Promise<HistoryPage<T['row']>> {
    return await this.#read({ path: `${segment(id)}/history`, query, ...options }, async (response) => ({
      entries: (await response.json()) as HistoryEntry<T['row']>[],
      nextCursor: response.headers.get('x-next-cursor') ?? undefined
    }))
  }

  /** The row that has the value in a unique property. Text is compared as the unique index compares it. */
  async by<Name extends string & keyof UniqueOf<T, 'by'>, const S extends Shape<T>>(
    property: Name,
    value: UniqueOf<T, 'by'>[Name],
    query?: S & Pick<Selection<T>, 'parameters'> & CallOptions
  ): Promise<Shaped<T, S>> {
    const { signal, ...shape }: CallOptions & object = query ?? {}
    const call = { path: pathBy(property, value), query: shape, ...(signal === undefined ? {} : { signal }) }
    return await this.#read(call, async (response) => {
      const row = (await response.json()) as Shaped<T, S>
      this.#versions.remember(this.#name, [row])
      return row
    })
  }

  /** One of the resource's own reads. */
  async read<Name extends string & keyof T['reads']>(
    name: Name,
    parameters?: ParametersOf<T['reads'][Name]>,
    options: CallOptions = {}
  ): Promise<readonly ItemOf<T['reads'][Name]>[]> {
    return await this.#read({ path: segment(name), query: { parameters }, ...options }, async (response) => {
      return (await response.json()) as ItemOf<T['reads'][Name]>[]
    })
  }

  /**
   * Every row that matches, up to the limit of the service, out of one snapshot. The rows come while they are read. For
   * rows, texts are as they are; `file()` is for people, so `bom` and `escapeFormulas` are worth a thought there.
   */
  async export<const F extends T['fields'] = Extract<keyof T['row'], string>>(
    query: Selection<T> & {
      readonly fields?: readonly F[]
      /** Whether the file begins with a byte order mark, for spreadsheets; false without it. */
      readonly bom?: boolean
      /** Whether texts that a spreadsheet would run are marked with `'`; false without it. */
      readonly escapeFormulas?: boolean
    } = {},
    options: CallOptions = {}
  ): Promise<CsvExport<F>> {
    return await this.#read(
      { path: '/export', query: { bom: false, escapeFormulas: false, ...query }, ...options },
      (response) => {
        return new CsvExport<F>(response, options.signal)
      }
    )
  }

  /** A new row. A retry after a lost answer is answered with the row that was made, and makes no second one. */
  async create(body: T['create'], options: KeyedOptions = {}): Promise<T['row']> {
    return await this.#written({ method: 'POST', path: '', body, ...keyed(options) })
  }

  /** 1 to 500 new rows, all or none. */
  async createBatch(bodies: readonly T['create'][], options: KeyedOptions = {}): Promise<readonly T['row'][]> {
    return await this.#send({ method: 'POST', path: '/batch', body: bodies, ...keyed(options) }, (response) =>
      this.#rowsOf<T['row']>(response)
    )
  }

  /**
   * Creates the rows of a file of CSV, whose first row names the properties, or of NDJSON. An attempt after a break goes on
   * where the one before it ended, and so does a later call with the same key.
   */
  async import(
    file: [T['create']] extends [never] ? never : ImportFile,
    { format, by, onError, parameters, onProgress, ...options }: ImportOptions<T>
  ): Promise<ImportResult> {
    const { headers, ...call } = keyed(options)
    const typed = { ...headers, 'content-type': IMPORT_TYPES[format] }
    // A browser without streams of requests would send the name of the class.
    const isSent = typeof file !== 'function' || 'duplex' in Request.prototype
    const body = isSent ? fileBody(file, onProgress) : await new Response(file()).blob()
    return await this.#send(
      { ...call, method: 'POST', path: `/import${queryText({ by, onError, parameters })}`, headers: typed, body },
      async (response) => (await response.json()) as ImportResult
    )
  }

  /** Replaces what a client may set: an optional member that is left out becomes null. */
  async replace(target: Target<T>, body: T['replace'], options: GuardedOptions = {}): Promise<T['row']> {
    return await this.#written({ ...this.#guarded(target, options), method: 'PUT', body })
  }

  /** The same for the row that has the value in a unique property. It makes no row where there is none. */
  async replaceBy<Name extends string & keyof UniqueOf<T, 'replaceBy'>>(
    property: Name,
    value: UniqueOf<T, 'replaceBy'>[Name],
    { body, ifMatch, signal, dryRun }: ReplaceBy<T, Name>
  ): Promise<T['row']> {
    const tag = typeof ifMatch === 'string' ? ifMatch : tagOf(ifMatch)
    const guard: Readonly<Record<string, string>> = tag === undefined ? {} : { 'if-match': tag }
    return await this.#written({
      method: 'PUT',
      path: pathBy(property, value),
      headers: { ...guard, ...preferred(dryRun) },
      repeatable: 'never',
      signal,
      body
    })
  }

  /** Changes the members that it names (RFC 7396). */
  async patch(target: Target<T>, body: T['patch'], options: GuardedOptions = {}): Promise<T['row']> {
    const { headers, ...call } = this.#guarded(target, options)
    const typed = { ...headers, 'content-type': 'application/merge-patch+json' }
    return await this.#written({ ...call, method: 'PATCH', headers: typed, body })
  }

  /**
   * Changes the members that each of 1 to 500 items names of its row, all rows or none. The version of an item is its
   * `rowVersion`, or without it the one with which this client last read or wrote the row.
   */
  async updateMany(items: readonly Change<T>[], options: KeyedOptions = {}): Promise<readonly T['row'][]> {
    const { headers, ...call } = keyed(options)
    const typed = { ...headers, 'content-type': 'application/merge-patch+json' }
    const body = items.map((item) => ({ ...item, ...this.#guardOf(item) }))
    return await this.#send({ ...call, method: 'PATCH', path: '/batch', headers: typed, body }, (response) =>
      this.#rowsOf<T['row']>(response)
    )
  }

  /** Removes 1 to 500 rows, all or none. Versions as for `updateMany`. */
  async deleteMany(targets: readonly (T['delete'] & Target<T>)[], options: KeyedOptions = {}): Promise<void> {
    const body = targets.map((target) => this.#guardOf(target))
    await this.#send({ ...keyed(options), method: 'POST', path: '/batch/delete', body }, (response) => {
      if (!isRolledBack(response)) for (const target of targets) this.#versions.forget(this.#name, idOf(target))
    })
  }

  /** Removes a row. */
  async delete(target: T['delete'] & Target<T>, options: GuardedOptions = {}): Promise<void> {
    await this.#send({ ...this.#guarded(target, options), method: 'DELETE' }, (response) => {
      if (!isRolledBack(response)) this.#versions.forget(this.#name, idOf(target))
    })
  }

  /**
   * One of the resource's actions. As with a create, a retry after a lost answer does nothing a second time. `body` may be
   * left out where the action takes nothing.
   */
  async act<Name extends string & keyof T['actions']>(
    target: Target<T>,
    action: Name,
    ...[options]: ActArguments<T['actions'][Name]>
  ): Promise<T['row']> {
    const { body = {}, ...others }: ActOptions<unknown> = options ?? {}
    const { path, headers } = this.#guarded(target, others)
    const key = keyed(others)
    return await this.#written({
      ...key,
      method: 'PUT',
      path: path + segment(action),
      headers: { ...headers, ...key.headers },
      body
    })
  }

  /** The entity tag with which this client last read or wrote a row; undefined if it did not, or forgot. */
  versionOf(id: T['id']): string | undefined {
    return this.#versions.get(this.#name, id)
  }

  async #read<Result>(
    { path, query, signal }: CallOptions & { readonly path: string; readonly query: object | undefined },
    read: (response: Response) => Promise<Result> | Result
  ): Promise<Result> {
    const text = queryText((query ?? {}) as AnyQuery)
    return await this.#send({ method: 'GET', path: `${path}${text}`, repeatable: 'read', signal }, read)
  }

  #guarded(
    target: Target<T>,
    { ifMatch, signal, dryRun }: GuardedOptions
  ): Pick<Call, 'path' | 'repeatable' | 'signal'> & { readonly headers: Readonly<Record<string, string>> } {
    const id = idOf(target)
    const tag = ifMatch ?? tagOf(target) ?? this.#versions.get(this.#name, id)
    const guard: Readonly<Record<string, string>> = tag === undefined || tag === false ? {} : { 'if-match': tag }
    const headers = { ...guard, ...preferred(dryRun) }
    return { path: segment(id), headers, repeatable: 'never', signal }
  }

  /** Without a version the service says that it is missing. */
  #guardOf(target: unknown): { readonly id: unknown; readonly rowVersion?: string } {
    const id = idOf(target)
    const tag = tagOf(target) ?? this.#versions.get(this.#name, id)
    return tag === undefined ? { id } : { id, rowVersion: versionIn(tag) }
  }

  async #written(call: Call): Promise<T['row']> {
    return await this.#send(call, async (response) => {
      const row = (await response.json()) as T['row']
      if (!isRolledBack(response)) this.#versions.remember(this.#name, [row])
      return row
    })
  }

  async #rowsOf<Row>(response: Response): Promise<Row[]> {
    const rows = (await response.json()) as Row[]
    if (!isRolledBack(response)) this.#versions.remember(this.#name, rows)
    return rows
  }

  async #send<Result>(call: Call, read: (response: Response) => Promise<Result> | Result): Promise<Result> {
    const isTried = call.headers?.['prefer'] === ROLLBACK
    let isCarriedOut = false
    const reading = (response: Response): Promise<Result> | Result => {
      isCarriedOut = isTried && !isRolledBack(response)
      return read(response)
    }
    const result = await this.#transport.send({ ...call, path: `/${this.#name}${call.path}` }, reading, this.#session)
    if (isCarriedOut) throw new Error('The service did not take this for a dry run: the write was carried out.')
    return result
  }
}

/** A key for the call and all its attempts. */
export function keyed({
  idempotencyKey,
  signal,
  dryRun
}: KeyedOptions): Pick<Call, 'repeatable' | 'signal'> & { readonly headers: Readonly<Record<string, string>> } {
  const headers = { 'idempotency-key': idempotencyKey ?? randomKey(), ...preferred(dryRun) }
  return { repeatable: 'keyed', signal, headers }
}

function preferred(dryRun: boolean | undefined): Readonly<Record<string, string>> {
  return dryRun === true ? { prefer: ROLLBACK } : {}
}

const ROLLBACK = 'tx=rollback'

/** Whether the service has undone what it answers. The versions in such an answer are of no row. */
function isRolledBack({ headers }: Response): boolean {
  return (headers.get('preference-applied') ?? '').split(/, ?/).includes(ROLLBACK)
}

/** A Blob stays what it is: not every browser sends streams. */
function fileBody(file: ImportFile, onProgress: ((bytes: number) => void) | undefined): Blob | (() => unknown) {
  if (typeof file !== 'function') return typeof file === 'string' ? new Blob([file]) : file
  if (onProgress === undefined) return file
  return () => {
    let bytes = 0
    onProgress(bytes)
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (piece, controller) => {
        onProgress((bytes += piece.length))
        controller.enqueue(piece)
      }
    })
    return file().pipeThrough(counted)
  }
}

/** 128 random bits. `crypto.randomUUID` is only there on pages with TLS. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function idOf(target: unknown): unknown {
  return typeof target === 'object' && target !== null && 'id' in target ? target.id : target
}

function pathBy(property: string, value: unknown): string {
  return `/by${segment(property)}${segment(value)}`
}

/** A segment of a path. Throws a TypeError for one that would lead elsewhere. */
export function segment(value: unknown): string {
  const text = String(value)
  if (value === undefined || value === null || ['', '.', '..'].includes(text)) {
    throw new TypeError(`${JSON.stringify(value)} cannot be an id: it cannot stand in a path.`)
  }
  return `/${encodeURIComponent(text)}`
}
