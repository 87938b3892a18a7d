import { hash } from 'node:crypto'
import { decodeBase64url } from '../../../shared/base64url.js'
import type { Operand } from '../../entity/fields/field.js'
import { type Condition, type Path, type Position, type SortKey, stepsOf } from '../model/plans.js'
import { isWritten } from '../../entity/types/types.js'

// Cursors: places in the order of a query's rows, as texts that clients send back (contract.md section 4). A cursor
// holds no secret and gives no right: it says after which keys to go on, and everything else is decided anew.

/** What a cursor belongs to: one resource, its filters and search, and the order of its rows. */
interface CursorQuery {
  readonly resource: string
  readonly conditions: readonly Condition[]
  readonly sort: readonly SortKey[]
}

/** Characters of a cursor. One that would be longer is left out of the response. */
const MAX_CURSOR = 1024
const CHECKSUM_BYTES = 9
const FINGERPRINT_BYTES = 9

/** Reads and writes the cursors of one query. */
export class CursorCodec {
  readonly #query: CursorQuery
  #fingerprint: string | undefined

  constructor(query: CursorQuery) {
    this.#query = query
  }

  /** Canonical base64url of a checksum and of the JSON of fingerprint and keys; undefined if it would be too long. */
  encode({ keys, includesRow }: Position): string | undefined {
    const payload = Buffer.from(JSON.stringify([this.#queryFingerprint(), includesRow, ...keys]))
    const cursor = Buffer.concat([checksum(payload), payload]).toString('base64url')
    return cursor.length > MAX_CURSOR ? undefined : cursor
  }

  /** undefined for a text that is no cursor, that was changed, or that belongs to another query. */
  decode(cursor: string): Position | undefined {
    const [fingerprint, includesRow, ...keys] = membersOf(cursor) ?? []
    const { sort } = this.#query
    if (fingerprint !== this.#queryFingerprint() || typeof includesRow !== 'boolean') return undefined
    if (keys.length !== sort.length) return undefined
    const position = sort.flatMap(({ path }, index) => {
      const key = keys[index]
      return isCursorValue(key, path) ? [key] : []
    })
    return position.length === sort.length ? { keys: position, includesRow } : undefined
  }

  /** A digest of the query. Clients may name the same filters in another order. */
  #queryFingerprint(): string {
    if (this.#fingerprint !== undefined) return this.#fingerprint
    const { resource, conditions, sort } = this.#query
    const order = sort.map(({ path, descending }) => [pathName(path), descending])
    const parts = [resource, order, conditions.map(conditionText).toSorted()]
    this.#fingerprint = digest(JSON.stringify(parts)).subarray(0, FINGERPRINT_BYTES).toString('base64url')
    return this.#fingerprint
  }
}

/** Whether a text looks like a cursor of some query: its form and its checksum. */
export function isCursor(text: string): boolean {
  return membersOf(text) !== undefined
}

/** The members of the JSON array in a cursor; undefined for what encode has not written. */
function membersOf(cursor: string): readonly unknown[] | undefined {
  if (cursor.length > MAX_CURSOR || !/^[\w-]+$/.test(cursor)) return undefined
  const bytes = decodeBase64url(cursor)
  if (bytes === undefined) return undefined
  const payload = bytes.subarray(CHECKSUM_BYTES)
  if (!checksum(payload).equals(bytes.subarray(0, CHECKSUM_BYTES))) return undefined
  try {
    const members: unknown = JSON.parse(payload.toString('utf8'))
    return Array.isArray(members) && JSON.stringify(members) === payload.toString('utf8') ? members : undefined
  } catch {
    return undefined
  }
}

/** Whether a member of a cursor is a value of the column, as the column stores it. Anybody can compute a checksum. */
function isCursorValue(key: unknown, { through, column: { field } }: Path): key is Operand | null {
  if (key === null) return through !== null || field.nullable
  return (typeof key === 'string' || typeof key === 'number' || typeof key === 'boolean') && isWritten(key, field)
}

function conditionText(condition: Condition): string {
  if ('anyOf' in condition) return JSON.stringify(['any', ...condition.anyOf.map(conditionText)])
  if ('allOf' in condition) return JSON.stringify(['all', ...condition.allOf.map(conditionText)])
  return JSON.stringify([pathName(condition.path), condition.comparison, ...condition.operands])
}

function pathName({ through, column }: Path): string {
  const steps = through === null ? [''] : stepsOf(through).map(({ name }) => name)
  return [...steps, column.name].join('.')
}

function checksum(payload: Buffer): Buffer {
  return digest(payload).subarray(0, CHECKSUM_BYTES)
}

function digest(of: string | Buffer): Buffer {
  return hash('sha256', of, 'buffer')
}
