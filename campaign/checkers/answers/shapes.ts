import type { Exchange } from '../../history.js'
import { pathOf } from '../chains.js'
import { isObject, type JsonObject, jsonOf } from '../json.js'

/** Routes of a resource that are no id. */
const COLLECTIONS: readonly (string | undefined)[] = [undefined, 'paged', 'lookup', 'session-ids']
const MOST_ROWS = 1000
/** `MAX_PAGE_SIZE` of the data services. */
const MOST_OF_A_PAGE = 500

/** What is wrong with the headers and the body of an answer that is no failure; each completes `The answer to r-1 …`. */
export function* faultsOfShape(exchange: Exchange): Generator<string> {
  const { request, answer } = exchange
  const { status = 0, headers = {}, body = '' } = answer ?? {}
  const [first, second] = pathOf(exchange)
  if (first === 'health') return
  const cached = headers['cache-control'] ?? ''
  if (first === 'auth' ? !/\bno-store\b/.test(cached) : cached !== 'no-store') yield `has the Cache-Control ${cached}`
  if (first === 'auth') {
    if (headers['set-cookie'] !== undefined && !/\bcookie\b/i.test(headers['vary'] ?? ''))
      yield `sets cookies with the Vary ${headers['vary']}`
  } else if (headers['api-supported-versions'] !== '1.0') {
    yield `has the api-supported-versions ${headers['api-supported-versions']}`
  }
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
  else if (first === 'auth') return
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
  const { fields } = Object.fromEntries(new URL(request.target, 'http://gateway').searchParams)
  if (request.method !== 'POST' && fields === undefined && shown !== id) yield `shows the row ${shown}`
  if (status !== 201) return
  const location = headers['location'] ?? ''
  if (!/^https?:\/\/[^/]+\/./.test(location) || new URL(location).pathname !== `/${resource}/${shown}`)
    yield `created the row ${shown} and has the Location ${location}`
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
