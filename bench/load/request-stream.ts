import type { Creates, GuardedWrites, Mix, ProductToWrite, Reads, Requests } from './load.js'
import { changedProductBody, newProductBody } from './product-body.js'

/** The requests of one connection, one after the other. */
export interface RequestStream {
  /** Of every answer that is none of a rejection. */
  readonly status: number
  /** Whether the last request that `next` made is a write. */
  readonly writing: boolean
  next(): string
  /** The head of the answer to the last one. */
  answered(head: string): void
}

/** One of the connections of a round. */
interface Connection {
  readonly host: string
  readonly number: number
  /** How many there are. */
  readonly of: number
}

/** The streams of a round, given the host of every connection. */
export function requestStreams(requests: Requests, hosts: readonly string[]): RequestStream[] {
  const connections = hosts.map((host, number) => ({ host, number, of: hosts.length }))
  switch (requests.kind) {
    case 'read':
      return connections.map((to) => reads(requests, to))
    case 'create': {
      const count = { of: 0 }
      return connections.map((to) => creates(requests, to, count))
    }
    case 'update':
    case 'action':
      return connections.map((to) => guardedWrites(requests, to))
    case 'mix':
      return connections.map((to) => mix(requests, to))
  }
}

function reads({ clients, paths: shared }: Reads, { host, number, of }: Connection): RequestStream {
  const client = clients[number % clients.length]
  const paths = client?.paths ?? shared
  const head = `Host: ${host}\r\n${(client?.headers ?? []).map((line) => `${line}\r\n`).join('')}\r\n`
  let at = Math.floor((number * paths.length) / of)
  return {
    status: 200,
    writing: false,
    next() {
      const path = paths[at++ % paths.length]
      if (path === undefined) throw new Error('A load without paths.')
      return `GET ${path} HTTP/1.1\r\n${head}`
    },
    answered() {}
  }
}

/** `count` is that of the whole round, in which no key comes twice. */
function creates({ token, round, categories }: Creates, { host }: Connection, count: { of: number }): RequestStream {
  return {
    status: 201,
    writing: true,
    next() {
      count.of += 1
      const name = `${round}-${count.of}`
      const categoryId = categories[count.of % categories.length] ?? 0
      const body = newProductBody({ sku: name, categoryId, number: count.of })
      return write('POST /products', { host, token, condition: `Idempotency-Key: ${name}`, body })
    },
    answered() {}
  }
}

function guardedWrites(
  { kind, token, rows, categories }: GuardedWrites,
  { host, number, of }: Connection
): RequestStream {
  const own = rows.filter((_row, index) => index % of === number).map((row) => ({ ...row }))
  let count = 0
  const current = (): { -readonly [Key in keyof ProductToWrite]: ProductToWrite[Key] } => {
    const row = own[count % own.length]
    if (row === undefined) throw new Error('More connections than rows to write.')
    return row
  }
  return {
    status: 200,
    writing: true,
    next() {
      count += 1
      const { id, etag, ...row } = current()
      const to = { host, token, condition: `If-Match: ${etag}` }
      if (kind === 'update')
        return write(`PUT /products/${id}`, { ...to, body: changedProductBody({ ...row, number: count }) })
      const body = JSON.stringify({ categoryId: categories[count % categories.length] ?? 0 })
      return write(`PUT /products/${id}/change-category`, { ...to, body })
    },
    answered(head) {
      current().etag = /\r\netag: *([^\r]+)/i.exec(head)?.[1] ?? 'none'
    }
  }
}

/** Every tenth request is a write. The connections are at different places of these ten. */
const WRITE_EVERY = 10

function mix({ reads: read, writes: written }: Mix, to: Connection): RequestStream {
  const streams = { read: reads(read, to), write: guardedWrites(written, to) }
  let count = to.number
  const current = (): RequestStream => (count % WRITE_EVERY === 0 ? streams.write : streams.read)
  return {
    status: 200,
    get writing() {
      return current().writing
    },
    next() {
      count += 1
      return current().next()
    },
    answered: (head) => current().answered(head)
  }
}

function write(
  what: string,
  {
    host,
    token,
    condition,
    body
  }: { readonly host: string; readonly token: string; readonly condition: string; readonly body: string }
): string {
  return (
    `${what} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n${condition}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
