import type { Exchange } from '../history.js'
import { pathOf } from './chains.js'
import { jsonOf, objectOf } from './json.js'

/** The codes of problem documents that well-formed requests may get, by status. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  401: ['auth.required'],
  403: ['ownership.denied', 'capability.denied'],
  404: ['not-found'],
  409: ['conflict', 'idempotency.in-flight'],
  412: ['conflict'],
  422: ['state.invalid', 'idempotency.key.reused'],
  429: ['quota-exceeded'],
  502: ['upstream.bad-gateway'],
  503: ['upstream.unavailable'],
  504: ['upstream.timeout']
}

/** The rejections that a request of the workloads may get, which are all well-formed, by method. */
const REJECTIONS: Readonly<Record<string, readonly number[]>> = {
  GET: [403, 404],
  POST: [403, 409, 422],
  PUT: [403, 404, 409, 412, 422],
  PATCH: [403, 404, 409, 412, 422],
  DELETE: [403, 404, 409, 412, 422]
}
const DONE: Readonly<Record<string, readonly number[]>> = {
  GET: [200],
  POST: [201],
  PUT: [200],
  PATCH: [200],
  DELETE: [204]
}

/** What no answer may hold, whoever asks. */
const SECRETS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a token', /\beyJ[\w-]{8,}\.[\w-]{8,}\./],
  ['SQL', /\b(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s\S+\sSET|DELETE\s+FROM|SQLITE_[A-Z]+|ER_[A-Z_]+)\b/],
  ['a stack', /\n\s+at\s|\bat \S+ \(\S+:\d+:\d+\)|\.[jt]s:\d+:\d+/],
  ['an address of a part of the system', /\b(?:ECONN[A-Z]+|EPIPE|ETIMEDOUT)\b/]
]

/** What is wrong with an answer; each completes `The answer to r-1 …`. */
export function* faultsOf(exchange: Exchange): Generator<string> {
  const { id, request, answer } = exchange
  if (answer === undefined) return
  const { status, headers, body } = answer
  const [first] = pathOf(exchange)
  if (headers['x-request-id'] !== id) yield `has the X-Request-Id ${headers['x-request-id']}`
  if (first !== 'auth') {
    if (!allowedOf(exchange).includes(status))
      yield `is ${status}, which nothing about the request explains: ${body.slice(0, 300)}`
    const text = `${JSON.stringify(headers)}\n${body}`
    for (const [what, pattern] of SECRETS) if (pattern.test(text)) yield `holds ${what}: ${pattern.exec(text)?.[0]}`
  } else if (status >= 400) {
    for (const [what, pattern] of SECRETS) if (pattern.test(body)) yield `holds ${what}: ${pattern.exec(body)?.[0]}`
  }
  if (status >= 400) {
    if (first === 'auth' && status === 401 && body === '{"error":"no_session"}') return
    yield* faultsOfProblem(exchange)
  } else if (status !== 204) {
    const isJson = headers['content-type']?.startsWith('application/json') === true
    if (request.method !== 'GET' && !isJson) yield `is of the type ${headers['content-type']}`
    else if (isJson && jsonOf(exchange) === undefined) yield `has a body that is no JSON: ${body.slice(0, 200)}`
  }
}

function allowedOf({ account, request }: Exchange): readonly number[] {
  const { method, headers } = request
  const rejections = (REJECTIONS[method] ?? []).filter((status) => {
    // A conflict of a guarded write is 412; what is 409 there is a key whose first request is still under way.
    if (status === 409 && method !== 'POST' && method !== 'DELETE') return headers['idempotency-key'] !== undefined
    return status !== 412 || headers['if-match'] !== undefined
  })
  return [...(DONE[method] ?? []), ...rejections, ...(account === undefined ? [401] : []), 502, 503, 504]
}

function* faultsOfProblem(exchange: Exchange): Generator<string> {
  const { id, request, answer } = exchange
  const { status = 0, headers = {}, body = '' } = answer ?? {}
  if (headers['content-type']?.startsWith('application/problem+json') !== true) {
    yield `is ${status} of the type ${headers['content-type']}`
    return
  }
  if (jsonOf(exchange) === undefined) {
    yield `is a problem document that is no JSON: ${body.slice(0, 200)}`
    return
  }
  const problem = objectOf(exchange)
  const code = String(problem['code'])
  const isAuth = request.target.startsWith('/auth/')
  if (!isAuth && CODES[status]?.includes(code) !== true)
    yield `is ${status} with the code ${code}: ${body.slice(0, 300)}`
  if (problem['status'] !== status) yield `is ${status} and says ${String(problem['status'])}`
  if (problem['requestId'] !== id) yield `names the request ${String(problem['requestId'])}`
  if (problem['instance'] !== request.target.split('?', 1)[0]) yield `names the path ${String(problem['instance'])}`
  if (!String(problem['type']).endsWith(`/problems/${code}`)) yield `has the type ${String(problem['type'])}`
  if (status === 503 && headers['retry-after'] === undefined) yield 'is 503 without Retry-After'
}
