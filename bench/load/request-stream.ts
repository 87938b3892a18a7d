import { changedProductBody, newProductBody } from '../product-body.js'
import type { Creates, ProductToUpdate, Reads, Requests, Updates } from './requests.js'

/** The requests of one connection, one after the other. */
export interface RequestStream {
  /** Of every answer that is none of a rejection. */
  readonly status: number
  next(): string
  /** The head of the answer to the last one. */
  answered(head: string): void
}

interface Sending {
  readonly host: string
  readonly connections: number
}

/** A stream for every connection. */
export function requestStreams(requests: Requests, sending: Sending): RequestStream[] {
  switch (requests.kind) {
    case 'read':
      return reads(requests, sending)
    case 'create':
      return creates(requests, sending)
    case 'update':
      return updates(requests, sending)
  }
}

function reads({ paths }: Reads, { host, connections }: Sending): RequestStream[] {
  const texts = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  let count = 0
  const next = (): string => {
    const text = texts[count++ % texts.length]
    if (text === undefined) throw new Error('A load without paths.')
    return text
  }
  return Array.from({ length: connections }, () => ({ status: 200, next, answered() {} }))
}

function creates({ token, round, categories }: Creates, { host, connections }: Sending): RequestStream[] {
  let number = 0
  const next = (): string => {
    number += 1
    const name = `${round}-${number}`
    const body = newProductBody({ sku: name, categoryId: categories[number % categories.length] ?? 0, number })
    return write('POST /products', { host, token, condition: `Idempotency-Key: ${name}`, body })
  }
  return Array.from({ length: connections }, () => ({ status: 201, next, answered() {} }))
}

function updates({ token, rows }: Updates, { host, connections }: Sending): RequestStream[] {
  return Array.from({ length: connections }, (_, connection) => {
    const own = rows.filter((_row, index) => index % connections === connection).map((row) => ({ ...row }))
    return updatesOf(own, { host, token })
  })
}

function updatesOf(
  rows: { -readonly [Key in keyof ProductToUpdate]: ProductToUpdate[Key] }[],
  to: Addressed
): RequestStream {
  let number = 0
  const current = () => {
    const row = rows[number % rows.length]
    if (row === undefined) throw new Error('More connections than rows to update.')
    return row
  }
  return {
    status: 200,
    next() {
      number += 1
      const { id, etag, ...row } = current()
      const body = changedProductBody({ ...row, number })
      return write(`PUT /products/${id}`, { ...to, condition: `If-Match: ${etag}`, body })
    },
    answered(head) {
      current().etag = /\r\netag: *([^\r]+)/i.exec(head)?.[1] ?? 'none'
    }
  }
}

interface Addressed {
  readonly host: string
  readonly token: string
}

function write(
  what: string,
  { host, token, condition, body }: Addressed & { condition: string; body: string }
): string {
  return (
    `${what} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n${condition}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  )
}
