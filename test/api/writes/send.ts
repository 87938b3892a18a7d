import type { ApiStore } from '../api-store.js'
import { call, type Answer, type CallOptions } from '../http-call.js'

export interface Write {
  /** An object is sent as its JSON; text and bytes as they are. */
  readonly body?: object | string | Buffer
  readonly ifMatch?: string
  readonly key?: string
  /** Further ones, or others in place of those that a write has anyway; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>
}

/** `clerk POST /products`: a write of a sample account as an ordinary client sends it; `- POST /products` has no token. */
export async function send(store: ApiStore, line: string, write: Write = {}): Promise<Answer> {
  const [account = '', method = '', target = ''] = line.split(' ')
  const options = { method, ...written(write) }
  return account === '-' ? store.call(target, options) : store.as(account, target, options)
}

/** The same with a token and a gateway of one's own choice, on a connection of its own unless there is an agent. */
export function sendTo(
  base: string,
  { agent, ...request }: Pick<CallOptions, 'agent'> & Readonly<Record<'method' | 'target' | 'token', string>>,
  write: Write = {}
): Promise<Answer> {
  const { method, target, token } = request
  return call(base, target, {
    method,
    token,
    ...(agent === undefined ? { alone: true } : { agent }),
    ...written(write)
  })
}

function written({ body: content, ifMatch, key, headers = {} }: Write): CallOptions {
  const body = typeof content === 'object' && !Buffer.isBuffer(content) ? JSON.stringify(content) : content
  const all: Readonly<Record<string, string | string[] | number | undefined>> = {
    // Node sends no length by itself with methods that seldom have a body.
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...headers
  }
  return {
    headers: Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
    ),
    ...(body === undefined ? {} : { body })
  }
}

/** The weak tag of a version as JSON shows it. */
export function tagOf(rowVersion: unknown): string {
  return `W/"${String(rowVersion)}"`
}

/** The `ETag` of an answer that must have one. */
export function etagOf({ headers, text }: Answer): string {
  if (headers.etag === undefined) throw new Error(`no ETag: ${text.slice(0, 500)}`)
  return headers.etag
}

/** A row's body as an object. */
export function rowIn(answer: Answer): Readonly<Record<string, unknown>> {
  const body: unknown = JSON.parse(answer.text)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new Error(`no row: ${answer.text}`)
  return { ...body }
}
