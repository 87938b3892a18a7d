import type { Exchange } from '../../history.js'
import { isOfAccounts, pathOf } from '../chains.js'
import { isObject, type JsonObject, jsonOf } from '../json.js'

/** Routes of a resource that are no id and answer rows. */
const COLLECTIONS: readonly (string | undefined)[] = [undefined, 'paged', 'lookup', 'session-ids']
const MOST_ROWS = 1000
/** `MAX_PAGE_SIZE` of the data services. */
const MOST_OF_A_PAGE = 500
/** `MAX_EXPORT_ROWS` of the data services. */
const MOST_OF_AN_EXPORT = 700

/** Whether a request is about one row, by its id. */
export function namesRow(exchange: Exchange): boolean {
  const [, second] = pathOf(exchange)
  return second !== 'export' && second !== 'batch' && !COLLECTIONS.includes(second)
}

/** The path of a `Location`, which is absolute; undefined for what is none. */
export function pathOfLocation(location: string | undefined): string | undefined {
  if (location === undefined || !/^https?:\/\/[^/]+\/./.test(location) || !URL.canParse(location)) return undefined
  return new URL(location).pathname
}

/** What is wrong with the headers and the body of an answer about rows that is no failure; each completes `The answer to r-1 …`. */
export function* faultsOfShape(exchange: Exchange): Generator<string> {
  const { request, answer } = exchange
  const { status = 0, headers = {}, body = '' } = answer ?? {}
  const [first, second] = pathOf(exchange)
  // Those about sessions and machines are judged by `AuthAnswers` and `MachinesEndAtOnce`.
  if (first === 'health' || isOfAccounts(exchange)) return
  const cached = headers['cache-control'] ?? ''
  if (cached !== 'no-store') yield `has the Cache-Control ${cached}`
  const versions = headers['api-supported-versions']
  if (versions !== '1.0') yield `has the api-supported-versions ${versions}`
  if (status === 204) {
    if (body !== '') yield `is 204 with a body: ${body.slice(0, 100)}`
    return
  }
  if (request.method === 'GET' && second === 'export') {
    yield* faultsOfExport(exchange)
    return
  }
  if (headers['content-type']?.startsWith('application/json') !== true) {
    yield `is of the type ${headers['content-type']}`
    return
  }
  const parsed = jsonOf(exchange)
  if (parsed === undefined) yield `has a body that is no JSON: ${body.slice(0, 100)}`
  else if (request.method === 'GET' && COLLECTIONS.includes(second)) yield* faultsOfRows(exchange, parsed)
  else if (second === 'batch') yield* faultsOfBatch(exchange, parsed)
  else if (isObject(parsed)) yield* faultsOfRow(exchange, parsed)
  else yield `shows no row: ${body.slice(0, 100)}`
}

function* faultsOfExport({ request, answer }: Exchange): Generator<string> {
  const { headers = {}, body = '' } = answer ?? {}
  const [path = '', query] = request.target.slice(1).split('?')
  if (headers['content-type'] !== 'text/csv; charset=utf-8') yield `is of the type ${headers['content-type']}`
  const named = /^attachment; filename="([\w-]+)-\d{8}T\d{6}Z\.csv"$/.exec(headers['content-disposition'] ?? '')?.[1]
  if (named !== path.split('/', 1)[0]) yield `has the Content-Disposition ${headers['content-disposition']}`
  const hasMark = new URLSearchParams(query).get('bom') !== 'false'
  if (body.startsWith('\uFEFF') !== hasMark) yield `begins with ${JSON.stringify(body.slice(0, 10))}`
  const [header = ''] = body.replace(/^\uFEFF/, '').split('\r\n', 1)
  const members = fieldsOf(request.target)
  if (members !== undefined && header !== members.join()) yield `shows ${header} where ${members.join()} were asked for`
  const limit = headers['x-export-row-limit']
  if (limit !== String(MOST_OF_AN_EXPORT)) yield `has the X-Export-Row-Limit ${limit}`
}

/** A row by its id, or as a write has left it. */
function* faultsOfRow(exchange: Exchange, row: JsonObject): Generator<string> {
  const { request, answer } = exchange
  const { headers = {}, status = 0 } = answer ?? {}
  const [resource, id] = pathOf(exchange)
  const version = row['rowVersion']
  const etag = typeof version === 'string' && version !== '' ? `W/"${version}"` : undefined
  if (headers['etag'] !== etag)
    yield `has the ETag ${headers['etag']}, and its row the version ${JSON.stringify(version)}`
  const shown = encodeURIComponent(String(row['id']))
  const members = fieldsOf(request.target)
  const hasId = members?.includes('id') ?? true
  if (request.method !== 'POST' && hasId && shown !== id) yield `shows the row ${shown}`
  yield* faultsOfFields(members, [row])
  if (status !== 201) return
  const { location } = headers
  if (pathOfLocation(location) !== `/${resource}/${shown}`)
    yield `created the row ${shown} and has the Location ${location}`
}

/** The members that a read asks for; undefined: all. The workloads name each once, without spaces. */
function fieldsOf(target: string): readonly string[] | undefined {
  const fields = new URL(target, 'http://gateway').searchParams.get('fields')
  return fields === null ? undefined : fields.split(',')
}

/** Nothing is shown unasked, and in the order asked. */
function* faultsOfFields(members: readonly string[] | undefined, rows: readonly JsonObject[]): Generator<string> {
  const other = members && rows.find((row) => Object.keys(row).join() !== members.join())
  if (other !== undefined) yield `shows ${Object.keys(other).join()} where ${members?.join()} were asked for`
}

function* faultsOfBatch({ request }: Exchange, rows: unknown): Generator<string> {
  const asked: unknown = JSON.parse(request.body ?? '[]')
  const count = Array.isArray(asked) ? asked.length : 0
  if (!Array.isArray(rows) || rows.length !== count || !rows.every(isObject))
    yield `does not show the ${count} rows of its batch`
}

/** A list, a page, a lookup or a read of the resource's own. */
function* faultsOfRows(exchange: Exchange, body: unknown): Generator<string> {
  const [, second] = pathOf(exchange)
  const rows: unknown = second === 'lookup' && isObject(body) ? body['items'] : body
  // A read of the resource's own may answer ids alone.
  if (!Array.isArray(rows) || (second !== 'session-ids' && !rows.every(isObject))) {
    yield `shows no rows: ${JSON.stringify(body).slice(0, 100)}`
    return
  }
  yield* faultsOfFields(fieldsOf(exchange.request.target), rows.filter(isObject))
  const headers = exchange.answer?.headers ?? {}
  if (headers['etag'] !== undefined) yield `shows several rows with the ETag ${headers['etag']}`
  if (second === 'paged') yield* faultsOfPage(exchange, rows.length)
  else if (rows.length > MOST_ROWS) yield `shows ${rows.length} rows`
  if (second === 'lookup' && !rows.every((row) => isObject(row) && Object.keys(row).join() === 'id,name'))
    yield 'shows more of a row than id and name'
  if (second !== undefined) return
  if (headers['x-row-limit'] !== String(MOST_ROWS)) yield `has the X-Row-Limit ${headers['x-row-limit']}`
  const isCut = headers['x-truncated'] === 'true'
  if (isCut && (rows.length !== MOST_ROWS || !/rel="next"/.test(headers['link'] ?? '')))
    yield `says that it is cut, shows ${rows.length} rows and has the Link ${headers['link']}`
}

function* faultsOfPage({ request, answer }: Exchange, shown: number): Generator<string> {
  const { headers = {} } = answer ?? {}
  const query = new URL(request.target, 'http://gateway').searchParams
  const pagination = headers['x-pagination'] ?? ''
  let told: unknown
  try {
    told = JSON.parse(pagination)
  } catch {
    told = undefined
  }
  if (!isObject(told)) {
    yield `has the X-Pagination ${pagination}`
    return
  }
  const { totalCount: total, pageSize: size, currentPage: page, totalPages, hasPrevious, hasNext } = told
  const isAtCursor = query.has('after') || query.has('before')
  const asked = isAtCursor ? null : Number(query.get('pageNumber') ?? query.get('page') ?? '1')
  if (size !== Math.min(Number(query.get('pageSize') ?? '10'), MOST_OF_A_PAGE) || page !== asked)
    yield `has the X-Pagination ${pagination}`
  if (typeof size === 'number' && shown > size) yield `shows ${shown} rows on a page of ${size}`
  // A page that is not full has come to the end of its direction.
  const onward = query.has('before') ? 'x-previous-cursor' : 'x-next-cursor'
  if (headers[onward] !== undefined && shown !== size)
    yield `shows ${shown} rows on a page of ${String(size)} and has the ${onward} ${headers[onward]}`
  if (query.get('includeTotal') === 'false') return
  if (typeof total !== 'number' || typeof size !== 'number' || headers['x-total-count'] !== String(total)) {
    yield `has the X-Pagination ${pagination} and the X-Total-Count ${headers['x-total-count']}`
    return
  }
  const pages = Math.ceil(total / size)
  const isSound =
    totalPages === pages && (typeof page !== 'number' || (hasPrevious === page > 1 && hasNext === page < pages))
  if (!isSound) yield `has the X-Pagination ${pagination}`
}
