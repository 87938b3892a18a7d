import type { Answer, Exchange, Request } from '../history.js'
import type { Checker } from './checker.js'
import { cellOf, isObject, type JsonObject } from './json.js'

// A call of a tool over `POST /mcp` is judged as the request that it stands for (contract.md, section 10), by the same checkers.

/** What a tool has answered. */
export interface ToolAnswer {
  readonly isError: boolean
  readonly value: JsonObject
}

interface ToolCall {
  readonly name: string
  readonly sent: JsonObject
}

/** The status of the problem that the code of an error stands for. */
const STATUSES: Readonly<Record<string, number>> = {
  'capability.denied': 403,
  'ownership.denied': 403,
  'not-found': 404,
  'idempotency.in-flight': 409,
  conflict: 412,
  'state.invalid': 422,
  'idempotency.key.reused': 422,
  'quota-exceeded': 429,
  'upstream.bad-gateway': 502,
  'upstream.unavailable': 503,
  'upstream.timeout': 504
}

/** Shows an exchange to checkers: that of a tool as the request that it stands for, but to those that judge messages. */
export function showTo(checkers: readonly Checker[], exchange: Exchange): void {
  const plain = plainOf(exchange)
  for (const checker of checkers) checker.see(checker.seesMessages === true ? exchange : plain)
}

export function isMessage({ request }: Exchange): boolean {
  return request.target === '/mcp'
}

/** Whether a tool may answer an error of this code to a call that is right. */
export function isCodeOfTools(code: unknown): boolean {
  return Object.hasOwn(STATUSES, String(code))
}

/** The exchange itself where it is of no tool that reads or writes one row. */
export function plainOf(exchange: Exchange): Exchange {
  const call = isMessage(exchange) ? callOf(exchange.request) : undefined
  const request = call === undefined ? undefined : requestOf(call)
  if (call === undefined || request === undefined) return exchange
  const { answer, ...rest } = exchange
  if (answer === undefined) return { ...rest, request }
  const told = toolAnswerOf(answer)
  return { ...rest, request, answer: told === undefined ? answer : plainAnswer(told, call) }
}

/** undefined where the answer is none of a tool: a problem document, or an error of the protocol. */
export function toolAnswerOf({ status, body }: Answer): ToolAnswer | undefined {
  if (status !== 200) return undefined
  const { result } = objectIn(/^data: (.*)$/m.exec(body)?.[1] ?? body)
  if (!isObject(result) || !Array.isArray(result['content'])) return undefined
  const [first, ...more] = result['content'] as readonly unknown[]
  if (!isObject(first) || first['type'] !== 'text' || more.length > 0) return undefined
  const value = objectIn(String(first['text']))
  return { isError: result['isError'] === true, value }
}

function callOf({ body = '' }: Request): ToolCall | undefined {
  const { method, params } = objectIn(body)
  if (method !== 'tools/call' || !isObject(params)) return undefined
  const { name, arguments: sent } = params
  return { name: String(name), sent: isObject(sent) ? sent : {} }
}

function requestOf({ name, sent }: ToolCall): Request | undefined {
  const { resource, id, action, rowVersion, values, idempotencyKey } = sent
  const path = `/${String(resource)}${id === undefined ? '' : `/${cellOf(id)}`}`
  const headers = {
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': cellOf(idempotencyKey) }),
    ...(rowVersion === undefined ? {} : { 'if-match': `W/"${cellOf(rowVersion)}"` })
  }
  const body = JSON.stringify(values ?? {})
  switch (name) {
    case 'create_row':
      return { method: 'POST', target: path, headers, body }
    case 'get_row':
      return { method: 'GET', target: path, headers }
    case 'update_row':
      return { method: 'PATCH', target: path, headers, body }
    case 'run_action':
      return { method: 'PUT', target: `${path}/${String(action)}`, headers, body }
    case 'delete_row':
      return { method: 'DELETE', target: path, headers }
    default:
      return undefined
  }
}

function plainAnswer({ isError, value }: ToolAnswer, { name, sent }: ToolCall): Answer {
  if (isError) {
    const status = STATUSES[String(value['code'])] ?? 400
    // What guards no version is told 409 of a conflict.
    return {
      status: status === 412 && name === 'create_row' ? 409 : status,
      headers: {},
      body: JSON.stringify(value)
    }
  }
  if (name === 'delete_row') return { status: 204, headers: {}, body: '' }
  const { row, replayed } = value
  const { id, rowVersion } = isObject(row) ? row : {}
  const headers = {
    etag: `W/"${String(rowVersion)}"`,
    ...(replayed === true ? { 'idempotent-replayed': 'true' } : {}),
    ...(name === 'create_row' ? { location: `http://gateway/${String(sent['resource'])}/${String(id)}` } : {})
  }
  return { status: name === 'create_row' ? 201 : 200, headers, body: JSON.stringify(row) }
}

/** One without members where the text is no JSON object. */
function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
