import type { Answer, Exchange } from '../../history.js'
import { pathOf } from '../chains.js'
import { isObject, jsonOf } from '../json.js'
import { isCodeOfTools, isMessage, toolAnswerOf } from '../tool-calls.js'
import { faultsOfShape, namesRow } from './shapes.js'

/** The codes of failures. Whether one has a cause is judged by its time, by `FailuresHaveCauses`. */
export const FAILURES: Readonly<Record<number, string>> = {
  502: 'upstream.bad-gateway',
  503: 'upstream.unavailable',
  504: 'upstream.timeout'
}

/** The codes of rejections that well-formed requests may get, by status. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  401: ['auth.required'],
  403: ['ownership.denied', 'capability.denied'],
  404: ['not-found'],
  409: ['conflict', 'idempotency.in-flight'],
  412: ['conflict'],
  422: ['state.invalid', 'idempotency.key.reused'],
  429: ['quota-exceeded']
}

/** What a conflict says of its cause, which is nothing: section 5, Conflicts. */
const OF_CONFLICTS = 'A data conflict occurred. Please retry or contact support.'

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
  PUT: [200],
  PATCH: [200],
  DELETE: [204]
}

type Secret = readonly [what: string, pattern: RegExp]

/** What no answer may hold, whoever asks. */
const SECRETS: readonly Secret[] = [
  ['a token', /\beyJ[\w-]{8,}\.[\w-]{8,}\./],
  ['SQL', /\b(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s\S+\sSET|DELETE\s+FROM|SQLITE_[A-Z]+|ER_[A-Z_]+)\b/],
  ['a stack', /\n\s+at\s|\bat \S+ \(\S+:\d+:\d+\)|\.[jt]s:\d+:\d+/],
  ['an address of a part of the system', /\b(?:ECONN[A-Z]+|EPIPE|ETIMEDOUT)\b/]
]

/** What no sentence of a problem document may hold. Rows may: their texts are what somebody has written. */
const SECRETS_OF_PROBLEMS: readonly Secret[] = [
  [
    'words of a database',
    /Duplicate entry|constraint|Lock wait|Deadlock|restarting transaction|Unknown (?:column|table|database|error)|doesn't exist|no such (?:table|column)|database is locked|disk (?:I\/O|is full)|table is full|Data too long|Out of range|Truncated|Too many connections|Access denied|read-only|gone away|Lost connection|max_statement_time|wsrep|SQLSTATE|\berrno\b|\bsyntax\b/i
  ],
  ['the name of a program', /\b(?:mysqld?|mysql2|mariadb|sqlite|innodb|galera|sequelize|grpc|fastify|node_modules)\b/i],
  ['the name of a table or column', /\b[a-z]+(?:_[a-z]+)+\b|`[^`]+`/],
  ['an error of a programming language', /\b(?:\w*Error:|undefined\b|is not a function|null pointer)/],
  ['a state of gRPC', /\b(?:UNAVAILABLE|DEADLINE_EXCEEDED|INTERNAL|RESOURCE_EXHAUSTED|FAILED_PRECONDITION|ABORTED)\b/],
  [
    'an address of a part of the system',
    /\b(?:\d{1,3}\.){3}\d{1,3}\b|\blocalhost\b|\b[\w.-]+:\d{4,5}\b|\/(?:tmp|var|root|home)\//
  ]
]

/** Answers without a session and of machines, which are no problem documents: `AuthAnswers` and `MachinesEndAtOnce` judge them. */
const OF_OAUTH = /^\{"error":"(?:no_session|invalid_client)"/

/** What is wrong with an answer; each completes `The answer to r-1 …`. */
export function* faultsOf(exchange: Exchange): Generator<string> {
  const { id, answer } = exchange
  if (answer === undefined) return
  const { status, headers, body } = answer
  const [first] = pathOf(exchange)
  if (headers['x-request-id'] !== id) yield `has the X-Request-Id ${headers['x-request-id']}`
  if (isMessage(exchange) && FAILURES[status] === undefined) {
    yield* faultsOfMessage(answer)
    return
  }
  if (first !== 'auth') {
    if (!allowedOf(exchange).includes(status))
      yield `is ${status}, which nothing about the request explains: ${body.slice(0, 300)}`
    yield* held(`${JSON.stringify(headers)}\n${body}`, SECRETS)
  } else if (status >= 400) {
    yield* held(body, SECRETS)
  }
  if (status < 400) yield* faultsOfShape(exchange)
  else if (first !== 'auth' || status !== 401 || !OF_OAUTH.test(body)) yield* faultsOfProblem(exchange)
}

/** The answer of a tool, whose calls are all well-formed. */
function* faultsOfMessage(answer: Answer): Generator<string> {
  const { status, headers, body } = answer
  yield* held(`${JSON.stringify(headers)}\n${body}`, SECRETS)
  if (headers['cache-control'] !== 'no-store') yield `has the Cache-Control ${headers['cache-control']}`
  const told = toolAnswerOf(answer)
  if (told === undefined || !/^(?:text\/event-stream|application\/json)(?:;|$)/.test(headers['content-type'] ?? '')) {
    yield `is ${status}, and none of a tool: ${body.slice(0, 300)}`
    return
  }
  if (!told.isError) return
  const { code, detail } = told.value
  if (!isCodeOfTools(code)) yield `is the error ${String(code)}: ${body.slice(0, 300)}`
  if (typeof detail !== 'string' || detail === '') yield `has the detail ${JSON.stringify(detail)}`
  yield* held(String(detail), SECRETS_OF_PROBLEMS)
}

function* held(text: string, secrets: readonly Secret[]): Generator<string> {
  for (const [what, pattern] of secrets) if (pattern.test(text)) yield `holds ${what}: ${pattern.exec(text)?.[0]}`
}

function allowedOf(exchange: Exchange): readonly number[] {
  const { account, request } = exchange
  const { method, headers } = request
  const [first, second, third] = pathOf(exchange)
  // Each item of a batch of changes or deletes names a row and its version.
  const isOfRows = second === 'batch' && (method === 'PATCH' || third === 'delete')
  const rejections = (REJECTIONS[isOfRows ? 'PATCH' : method] ?? []).filter((status) => {
    // Every resource that the workloads ask for exists, with all of its routes.
    if (status === 404) return isOfRows || namesRow(exchange)
    // A conflict of a guarded write is 412; what is 409 there is a key whose first request is still under way.
    if (status === 409 && method !== 'POST' && method !== 'DELETE') return headers['idempotency-key'] !== undefined
    return status !== 412 || isOfRows || headers['if-match'] !== undefined
  })
  return [
    ...(method === 'POST' ? [doneBy(second, third)] : first === 'accounts' ? [200] : (DONE[method] ?? [])),
    ...rejections,
    ...(account === undefined ? [401] : []),
    ...Object.keys(FAILURES).map(Number)
  ]
}

/** The status of a POST that was done. */
function doneBy(second: string | undefined, third: string | undefined): number {
  if (second === 'import') return 200
  return second === 'batch' && third === 'delete' ? 204 : 201
}

function* faultsOfProblem(exchange: Exchange): Generator<string> {
  const { id, request, answer } = exchange
  const { status = 0, headers = {}, body = '' } = answer ?? {}
  if (headers['content-type']?.startsWith('application/problem+json') !== true) {
    yield `is ${status} of the type ${headers['content-type']}`
    return
  }
  const problem = jsonOf(exchange)
  if (!isObject(problem)) {
    yield `is a problem document that is no JSON object: ${body.slice(0, 200)}`
    return
  }
  const { code, title, detail, type, errors = [] } = problem
  const segments = pathOf(exchange)
  const isAuth = segments[0] === 'auth'
  if (!isAuth && FAILURES[status] !== code && CODES[status]?.includes(String(code)) !== true)
    yield `is ${status} with the code ${String(code)}: ${body.slice(0, 300)}`
  if (problem['status'] !== status) yield `is ${status} and says ${String(problem['status'])}`
  if (problem['requestId'] !== id) yield `names the request ${String(problem['requestId'])}`
  if (problem['instance'] !== request.target.split('?', 1)[0]) yield `names the path ${String(problem['instance'])}`
  if (
    typeof type !== 'string' ||
    !/^https?:\/\/.+\/problems\/[\w.-]+$/.test(type) ||
    !type.endsWith(`/problems/${String(code)}`)
  )
    yield `has the type ${String(type)}`
  for (const [name, value] of Object.entries({ title, detail })) {
    if (typeof value !== 'string' || value === '') yield `has the ${name} ${JSON.stringify(value)}`
  }
  if (!Array.isArray(errors)) yield `has the errors ${JSON.stringify(errors)}`
  yield* held([title, detail, JSON.stringify(errors)].join('\n'), SECRETS_OF_PROBLEMS)
  // An action builds conflicts of its own, with a sentence of its own.
  const isOfAction = request.method === 'PUT' && segments.length > 2
  if (code === 'conflict' && !isOfAction && detail !== OF_CONFLICTS) yield `says of a conflict: ${String(detail)}`
  const isLater = status === 503 || code === 'idempotency.in-flight' || code === 'quota-exceeded'
  if (isLater && !/^\d+$/.test(headers['retry-after'] ?? '')) yield `is ${status} without Retry-After in seconds`
  const challenge = headers['www-authenticate'] ?? ''
  if (!isAuth && status === 401 && !/^Bearer(?: |$)/.test(challenge)) yield 'is 401 without a challenge for Bearer'
  if (!isAuth && headers['cache-control'] !== 'no-store') yield `has the Cache-Control ${headers['cache-control']}`
  if (headers['etag'] !== undefined) yield `is ${status} with the ETag ${headers['etag']}`
}
