import { decodeBase64url } from '../../shared/base64url.js'
import type { Entity } from './entity.js'
import type { Column, KeyColumns } from './fields/columns.js'
import type { Operand, Value } from './fields/field.js'
import { READ_SEGMENTS } from './operations.js'

// Keys of rows: what identifies a row in plans, and the text of it in paths and JSON (contract.md section 3).

/** The key of a row: a value for each column of the key, in their order. A key of one column is the property `id`. */
export type RowKey = readonly [Operand, ...Operand[]]

/** What has a key: an entity, or one of its child collections. */
export interface Keyed {
  readonly key: KeyColumns
}

/** Whether rows have a key. Those of other entities cannot be named: they have no reads by id, no cursors and no writes. */
export function isKeyed<One extends { readonly key: readonly Column[] }>(one: One): one is One & Keyed {
  return isKey(one.key)
}

export function isKey(columns: readonly Column[]): columns is KeyColumns {
  return columns.length > 0
}

/** For code that a plan of named rows alone leads to. */
export function keyed<One extends Pick<Entity, 'name' | 'key'>>(one: One): One & Keyed {
  if (isKeyed(one)) return one
  throw new TypeError(`${one.name} has no key`)
}

export function isComposite({ key }: Keyed): boolean {
  return key.length > 1
}

/** Characters of a part that stand for something else in the text of a composite key. */
const ENCODED: Readonly<Record<string, string>> = { '%': '%25', ',': '%2C', '/': '%2F' }

/**
 * The `id` of a row with a composite key: its parts in the order of the key with commas between them. `%`, `,` and `/` of
 * a part are percent-encoded as `%25`, `%2C` and `%2F`. This is the text in JSON; a path encodes it once more.
 */
export function compositeId(...parts: readonly Operand[]): string {
  return parts.map((part) => String(part).replace(/[%,/]/g, (one) => ENCODED[one] ?? one)).join(',')
}

/** A part as compositeId writes it, and no other spelling: one row has one id. */
const PART = /^(?:[^%,/]|%25|%2C|%2F)*$/

/** The parts of a composite `id`; undefined for a text that compositeId does not write for so many parts. */
export function compositeParts(id: string, count: number): readonly string[] | undefined {
  const parts = id.split(',')
  if (parts.length !== count || !parts.every((part) => PART.test(part))) return undefined
  return parts.map((part) => part.replace(/%2[5CF]/g, decodeURIComponent))
}

/** The key as the `id` of JSON has it: the value itself, or the text of a composite key. */
export function idOf(key: RowKey): Operand {
  return key.length === 1 ? key[0] : compositeId(...key)
}

/** The text of the `id`, as it stands in a path that is not percent-encoded yet. */
export function idText(key: RowKey): string {
  return key.length === 1 ? String(key[0]) : compositeId(...key)
}

/** The values of a row's key columns as its key; undefined if one is missing, null, or of a type that no key has. */
export function keyOfValues(values: readonly (Value | undefined)[]): RowKey | undefined {
  const [first, ...others] = values.flatMap((one) => (one === undefined || typeof one === 'object' ? [] : [one]))
  return first === undefined || others.length + 1 < values.length ? undefined : [first, ...others]
}

/**
 * Ids of texts that no path can name: the fixed segments of the resource at the place of an id, and what a client's URL
 * parser takes for a step of the path. Other keys than single texts and bytes have no such ids.
 */
export function unreachableIds({ key, customReads }: Pick<Entity, 'key' | 'customReads'>): readonly string[] {
  const [first, second] = key
  if (first === undefined || second !== undefined) return []
  const { type } = first.field
  if (type !== 'string' && type !== 'enum' && type !== 'base64url') return []
  const segments = ['', '.', '..', ...READ_SEGMENTS, 'batch', ...customReads.keys()]
  return type === 'base64url' ? segments.filter((one) => decodeBase64url(one) !== undefined) : segments
}

/** Who gives a new row its `id`, or a part of a composite key its value. */
type KeyMaker = 'request' | 'rule' | 'service' | 'database'

/**
 * `onCreate(…)` says that the request that creates a row names the value. Without it the database numbers a single int or
 * long, and the service makes a random guid. Everything else is set by `creates.prepare`, as any column that is read-only.
 */
export function keyMaker({ field: { type, writability } }: Column, keyed: Keyed): KeyMaker {
  if (writability === 'onCreate') return 'request'
  if (type === 'guid') return 'service'
  return (type === 'int' || type === 'long') && !isComposite(keyed) ? 'database' : 'rule'
}
