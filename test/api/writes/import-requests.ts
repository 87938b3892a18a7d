import { expect } from 'chai'
import type { ApiStore } from '../api-store.js'
import { type Answer, json } from '../http-call.js'
import { send, type Write } from './send.js'
import { count } from './stored.js'

export const CSV = 'text/csv'
export const NDJSON = 'application/x-ndjson'

interface Import extends Write {
  readonly query?: string
  readonly type?: string
}

let keys = 0

/** An import of products by the clerk, under a key of its own unless it names one. */
export function importOf(store: ApiStore, body: string | Buffer, { query = '', type = CSV, ...write }: Import = {}) {
  const headers = { 'content-type': type, ...write.headers }
  return send(store, `clerk POST /products/import${query}`, { body, key: `import-${++keys}`, ...write, headers })
}

interface Counts {
  readonly rows: number
  readonly created: number
  readonly existing?: number
  readonly failed: number
  readonly replayed: number
  readonly errors: readonly Readonly<Record<'code' | 'detail' | 'pointer', string> & Record<'row', number>>[]
}

export function countsIn(answer: Answer): Counts {
  expect(answer.status, answer.text.slice(0, 1000)).to.equal(200)
  return json(answer) as Counts
}

/** NDJSON. */
export const lines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

export const product = (sku: string, more: object = {}): object => ({
  name: `N ${sku}`,
  sku,
  categoryId: 1,
  price: '1.50',
  ...more
})

export const many = (length: number, prefix: string): object[] =>
  Array.from({ length }, (_, index) => product(`${prefix}-${index}`))

export const csvOf = (rows: number, prefix: string): string =>
  ['name,sku,categoryId,price', ...Array.from({ length: rows }, (_, at) => `N,${prefix}-${at},1,1.50`)].join('\r\n')

/** How many products have a sku of the prefix. */
export const stored = (store: ApiStore, prefix: string): Promise<number> =>
  count(store, 'products WHERE sku LIKE ?', [`${prefix}-%`])
