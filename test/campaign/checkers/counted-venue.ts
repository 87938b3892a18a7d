import type { Written } from './written-history.js'

const keyed = { 'idempotency-key': 'k-1' }

/** Version n of a row, and its tag. */
export const version = (n: number): string => Buffer.from([0, 0, 0, 0, 0, 0, 0, n]).toString('base64')
export const tag = (n: number): string => `W/"${version(n)}"`

/** A venue that was created and updated once, by `r-3`. */
export const venue = (n: number) => ({ id: 7, name: `counters-0.1 #${n}`, capacity: n, rowVersion: version(n) })
export const born: Written = {
  call: 'POST /venues',
  headers: keyed,
  body: { name: venue(0).name },
  status: 201,
  answer: venue(0)
}
export const read = (n: number, more: Partial<Written> = {}): Written => ({
  call: 'GET /venues/7',
  status: 200,
  answer: venue(n),
  ...more
})
export const update = (from: number, more: Partial<Written> = {}): Written => ({
  call: 'PUT /venues/7',
  headers: { 'if-match': tag(from) },
  body: {},
  status: 200,
  answer: venue(from + 1),
  got: { etag: tag(from + 1) },
  ...more
})
const { status: _status, ...lost } = update(1)
/** Nobody was told whether it was done. */
export const lostUpdate: Written = lost
export const gone: Written = { call: 'DELETE /venues/7', status: 204 }
