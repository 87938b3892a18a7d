import { type GrpcCaller, isFailure, type Method } from '../stack/grpc-caller.js'
import { parseCsv, values } from '../stack/csv.js'
import { type Answer, call as sendHttp, type CallOptions, filter } from '../stack/http-call.js'

/** One request, whatever transport carries it. */
export interface Call {
  readonly resource: string
  readonly operation: Operation
  /** Of an action or a custom read. */
  readonly name?: string
  readonly id?: string
  /** The unique property that `id` is a value of, if it is not the id. */
  readonly by?: string
  /** The value of `by` where `id` is the id all the same. */
  readonly byValue?: string
  /** The owner parameter in the query; several where it comes more than once. */
  readonly owner?: { readonly parameter: string; readonly values: readonly string[] }
  readonly filters?: readonly Condition[]
  /** Groups of conditions, of which one holds. */
  readonly anyOf?: readonly (readonly Condition[])[]
  readonly sortColumn?: string
  readonly sortDirection?: string
  readonly fields?: string
  readonly includeFKs?: string
  readonly includeChildren?: string
  readonly include?: string
  readonly pageSize?: string
  readonly search?: string
  /** The dimensions of totals. */
  readonly dimensions?: string
  /** Cursors of an earlier answer. */
  readonly after?: string
  readonly before?: string
  readonly body?: object
  /** Whether the body of an update is a merge patch. */
  readonly patch?: boolean
  readonly ifMatch?: IfMatch
  /** A batch, whose items `body` has, or an import of a file with `body` as its only row. */
  readonly form?: 'batch' | 'import'
  readonly isDryRun?: boolean
}

interface Condition {
  readonly property: string
  readonly operator: string
  readonly value: string
}

export const READS = ['list', 'paged', 'export', 'lookup', 'get'] as const
type Operation = (typeof READS)[number] | 'totals' | 'history' | 'read' | 'create' | 'update' | 'delete' | 'act'

/** A version in base64, or what stands in its place. */
export type IfMatch = { readonly version: string } | 'absent' | 'blank' | 'star' | 'malformed'

/** What came of it. */
export interface Outcome {
  /** `ok` or the code of the rejection. */
  readonly code: string
  /** Of HTTP or of gRPC. */
  readonly status: number
  /** Words of a rejection. */
  readonly detail: string
  /** What is wrong with the request, where it is more than one thing: `/title: must not be empty`. */
  readonly violations?: readonly string[]
  /** Rows of a collection, or the one row of an answer. */
  readonly rows: readonly Row[]
  /** Number of rows on all pages; undefined where the answer has none. */
  readonly total: string | undefined
  /** Cursors of a page; undefined where the answer has none. */
  readonly cursors?: { readonly next: string | undefined; readonly previous: string | undefined }
  /** All that was sent. */
  readonly text: string
}

export type Row = Readonly<Record<string, unknown>>

/** Something that calls are sent by. */
export interface Transport {
  readonly name: 'HTTP' | 'gRPC'
  send(call: Call, token: string | undefined): Promise<Outcome>
}

/** `act orders/7/pay`, for messages. */
export function describeCall(call: Call): string {
  const { resource, name, id, by, owner, body } = call
  const written = call.patch === true ? 'patch' : call.operation
  const operation = [call.isDryRun === true ? 'dry run of' : '', call.form ?? '', written]
    .filter((one) => one !== '')
    .join(' ')
  const path = [resource, by, id, name].filter((one) => one !== undefined).join('/')
  const query = owner === undefined ? '' : `?${owner.values.map((one) => `${owner.parameter}=${one}`).join('&')}`
  return `${operation} ${path}${query}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`
}

/** Sends calls to a gateway. */
export function httpTransport(base: string): Transport {
  return {
    name: 'HTTP',
    async send(call, token) {
      return outcomeOf(call, await sendHttp(base, targetOf(call), { ...optionsOf(call), token }))
    }
  }
}

/** The path and query of a call. */
function targetOf(call: Call): string {
  const { resource, operation, id, by, name, owner, filters = [] } = call
  const segment = ['paged', 'export', 'lookup', 'totals', 'history'].includes(operation) ? operation : name
  const place =
    call.form === undefined
      ? [by && `by/${by}`, (call.byValue ?? id) && encodeURIComponent(call.byValue ?? id ?? ''), segment]
      : [call.form, call.form === 'batch' && operation === 'delete' ? 'delete' : undefined]
  const path = [resource, ...place].filter((one) => one !== undefined && one !== '')
  const { sortColumn, sortDirection, fields, includeFKs, includeChildren, include, pageSize, search, dimensions } = call
  const { after, before } = call
  const query = [
    ...(owner?.values.map((value) => `${owner.parameter}=${encodeURIComponent(value)}`) ?? []),
    ...filters.map(({ property, operator, value }) => filter(property, operator, value)),
    ...(call.anyOf ?? []).flatMap((group, at) =>
      group.map(({ property, operator, value }) =>
        filter(property, operator, value)
          .split('&')
          .map((one) => `anyOf%5B${at + 1}%5D.${one}`)
          .join('&')
      )
    ),
    ...Object.entries({
      sortColumn,
      sortDirection,
      fields,
      includeFKs,
      includeChildren,
      include,
      pageSize,
      search,
      by: dimensions,
      after,
      before,
      // A text that begins as a formula is compared as it is stored.
      escapeFormulas: operation === 'export' ? false : undefined
    }).flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
  ]
  return `/${path.join('/')}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

const METHODS: Readonly<Record<string, string>> = { create: 'POST', update: 'PUT', act: 'PUT', delete: 'DELETE' }

function optionsOf({ operation, body, patch, ifMatch, form, isDryRun }: Call): CallOptions {
  const isPatch = patch === true || (form === 'batch' && operation === 'update')
  const type =
    form === 'import' ? 'application/x-ndjson' : isPatch ? 'application/merge-patch+json' : 'application/json'
  const text = body === undefined ? undefined : JSON.stringify(body)
  const condition = ifMatch === undefined ? undefined : headerOf(ifMatch)
  return {
    method: isPatch ? 'PATCH' : form === 'batch' ? 'POST' : (METHODS[operation] ?? 'GET'),
    headers: {
      'x-request-id': 'same',
      // An application may reject unknown parameters, and some calls have one on purpose.
      prefer: isDryRun === true ? 'handling=lenient, tx=rollback' : 'handling=lenient',
      ...(form === 'import' ? { 'idempotency-key': keyOf() } : {}),
      ...(text === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(text) }),
      ...(condition === undefined ? {} : { 'if-match': condition })
    },
    ...(text === undefined ? {} : { body: text })
  }
}

function headerOf(ifMatch: IfMatch): string | undefined {
  if (typeof ifMatch === 'object') return `W/"${ifMatch.version}"`
  return { absent: undefined, blank: ' ', star: '*', malformed: 'W/AAAAAAAAAAE=' }[ifMatch]
}

function outcomeOf(call: Call, answer: Answer): Outcome {
  const { status, text } = answer
  if (status >= 400) {
    // Every rejection is a problem document.
    const {
      code,
      detail,
      errors = []
    } = JSON.parse(text) as {
      code: string
      detail: string
      errors?: readonly { readonly detail: string; readonly pointer?: string; readonly parameter?: string }[]
    }
    const violations = errors.map((one) => `${one.pointer ?? one.parameter ?? ''}: ${one.detail}`)
    return { code, status, detail, violations, rows: [], total: undefined, text }
  }
  const total = answer.headers['x-total-count']
  return {
    code: 'ok',
    status,
    detail: '',
    rows: rowsOf(call, text),
    cursors: { next: singleHeader(answer, 'x-next-cursor'), previous: singleHeader(answer, 'x-previous-cursor') },
    total: typeof total === 'string' ? total : undefined,
    text
  }
}

function singleHeader({ headers }: Answer, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : undefined
}

function rowsOf({ operation }: Call, text: string): readonly Row[] {
  if (text === '') return []
  if (operation === 'export') return csvRows(text)
  const body: unknown = JSON.parse(text)
  return asRows(operation === 'lookup' ? (body as { items: unknown }).items : body)
}

/** A collection as it is, a single row as the only one, bare values under `value`. */
function asRows(body: unknown): Row[] {
  const all: readonly unknown[] = Array.isArray(body) ? body : [body]
  return all.map((one) => (typeof one === 'object' && one !== null ? { ...one } : { value: one }))
}

function csvRows(text: string): Row[] {
  const [header, ...lines] = parseCsv(text.replace(/^\uFEFF/, ''))
  const names = values(header)
  return lines.map((line) => Object.fromEntries(values(line).map((value, index) => [names[index] ?? '', value])))
}

/** Sends calls to a data service as an internal service would. */
export function grpcTransport(rpc: GrpcCaller): Transport {
  return {
    name: 'gRPC',
    async send(call, token) {
      const options = token === undefined ? {} : { token }
      const answer =
        call.operation === 'export'
          ? await rpc.export(requestOf(call), options)
          : await rpc.unary(methodOf(call, call.operation), requestOf(call), options)
      if (!isFailure(answer)) return rpcOutcome(call, answer)
      const { details, status, message } = answer
      // The message is cut where one fault has many words.
      const [first] = details.violations
      const detail = message.endsWith('…') && first !== undefined ? first.description : message
      const violations = details.violations.map(({ field, description }) => `${field}: ${description}`)
      return { code: details.reason, status, detail, violations, rows: [], total: undefined, text: message }
    }
  }
}

function methodOf({ by, form }: Call, operation: Exclude<Operation, 'export'>): Method {
  if (form === 'import') return 'Import'
  if (form === 'batch' && operation === 'create') return 'CreateBatch'
  if (form === 'batch') return operation === 'update' ? 'UpdateBatch' : 'DeleteBatch'
  return by === undefined || operation !== 'get' ? RPCS[operation] : 'GetBy'
}

let keys = 0

/** An Idempotency-Key of its own. */
function keyOf(): string {
  return `import-${++keys}`
}

const RPCS: Readonly<Record<Exclude<Call['operation'], 'export'>, Method>> = {
  list: 'List',
  paged: 'Page',
  lookup: 'Lookup',
  totals: 'Totals',
  history: 'History',
  get: 'Get',
  read: 'Read',
  create: 'Create',
  update: 'Update',
  delete: 'Delete',
  act: 'Act'
}

function requestOf(call: Call): object {
  const { resource, operation, id, by, name, owner, body, patch, ifMatch } = call
  const {
    filters = [],
    sortColumn,
    sortDirection,
    fields,
    includeFKs,
    includeChildren,
    include,
    pageSize,
    search,
    after,
    before
  } = call
  return defined({
    resource,
    ...(by === undefined
      ? { id }
      : operation === 'update'
        ? { property: by, id: call.byValue }
        : { property: by, value: id }),
    ...(operation === 'act' ? { action: name } : { name }),
    // Several values of a parameter are joined by commas (entity_service.proto).
    ownerParameter: owner?.values.join(','),
    selection: defined({
      filters,
      sortColumn,
      sortDirection,
      search,
      anyOf: call.anyOf?.map((group) => ({ filters: group }))
    }),
    ...(operation === 'list' ? { search } : {}),
    ...(operation === 'totals' ? { by: call.dimensions } : {}),
    after,
    before,
    ...(operation === 'export' ? { fields, idleTimeoutMs: 10_000 } : {}),
    shape: defined({ fields, includeFks: includeFKs, includeChildren, include }),
    pageSize,
    ...(call.form === 'import'
      ? { rows: [Buffer.from(JSON.stringify(body))], idempotencyKey: keyOf() }
      : { body: body && Buffer.from(JSON.stringify(body)) }),
    ...(call.isDryRun === true ? { dryRun: true } : {}),
    ...(operation === 'update' ? { mergePatch: patch === true } : {}),
    precondition: ifMatch && preconditionOf(ifMatch)
  })
}

function defined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function preconditionOf(ifMatch: IfMatch): object | undefined {
  if (typeof ifMatch === 'object') {
    return { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.from(ifMatch.version, 'base64')] }
  }
  if (ifMatch === 'star') return { kind: 'PRECONDITION_KIND_ANY' }
  return ifMatch === 'malformed' ? { kind: 'PRECONDITION_KIND_MALFORMED' } : undefined
}

interface Part {
  readonly header?: { readonly columns: readonly { readonly name: string }[] } | null
  readonly rows?: { readonly json: Buffer } | null
}

function rpcOutcome({ operation }: Call, answer: object): Outcome {
  // Each is the message of the proto that the method answers.
  const message = answer as {
    readonly record?: { readonly json: Buffer }
    readonly records?: readonly { readonly json: Buffer }[]
    readonly json?: Buffer
    readonly totalCount?: string
    readonly nextCursor?: string
    readonly previousCursor?: string
  }
  const texts = Array.isArray(answer)
    ? exportTexts(answer as readonly Part[])
    : [...(message.records ?? []), ...(message.record ? [message.record] : [])].map(({ json }) => json.toString())
  // Empty where the records are answered one by one.
  const whole = message.json?.length ? message.json.toString() : undefined
  const body: unknown = whole === undefined ? undefined : JSON.parse(whole)
  const rows: readonly Row[] =
    body === undefined
      ? texts.flatMap((one) => asRows(JSON.parse(one)))
      : asRows(operation === 'lookup' ? (body as { items: unknown }).items : body)
  const cursors = { next: message.nextCursor, previous: message.previousCursor }
  return {
    code: 'ok',
    status: 0,
    detail: '',
    rows,
    total: message.totalCount,
    cursors,
    text: whole ?? texts.join('\n')
  }
}

/** Each row of an export as a JSON object. */
function exportTexts(parts: readonly Part[]): string[] {
  const names = parts.flatMap(({ header }) => header?.columns ?? []).map(({ name }) => name)
  return parts.flatMap(({ rows }) => {
    if (!rows) return []
    const lines = JSON.parse(rows.json.toString()) as readonly (readonly unknown[])[]
    return lines.map((line) => JSON.stringify(Object.fromEntries(line.map((value, at) => [names[at] ?? '', value]))))
  })
}
