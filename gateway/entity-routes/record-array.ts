import type { EntityRecord } from '../data-calls.js'

const OPENING = '['.charCodeAt(0)
const COMMA = ','.charCodeAt(0)
const CLOSING = ']'.charCodeAt(0)

/** The JSON array of records, their bytes copied once and never parsed. */
export function recordArray(records: readonly EntityRecord[]): Buffer {
  const separators = Math.max(2, records.length + 1)
  const body = Buffer.allocUnsafe(records.reduce((sum, { json }) => sum + json.length, separators))
  body[0] = OPENING
  let at = 1
  for (const [index, { json }] of records.entries()) {
    if (index > 0) body[at++] = COMMA
    at += json.copy(body, at)
  }
  body[at] = CLOSING
  return body
}

export const JSON_TYPE = 'application/json; charset=utf-8'
