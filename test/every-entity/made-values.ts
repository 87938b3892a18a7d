import type { Column } from '../../data-service/entity/fields/columns.js'
import { rangeOf } from '../../data-service/entity/fields/numbers.js'
import type { WireValue } from '../oracle/wire-value.js'

/** Values of a row by property. */
export type Values = Readonly<Record<string, WireValue>>

/** Something fixed, or made of a number that no other row and no other body was made with. */
export type Made<T> = T | ((n: number) => T)

/** What rows and bodies of an entity need that cannot be told from the types of its fields. */
export interface EntityValues {
  /** Columns of every row that the tests insert, by property; hidden and read-only ones too. */
  readonly rows?: Made<Values>
  /** Of an entity over a view: the resource whose rows the view shows, by the same id. */
  readonly madeOf?: string
  /** That the tests insert no row, and take those in turn that came with `makeTables`: of a view that shows sums, for example. */
  readonly given?: boolean
  /** Columns that a row needs and the resource does not have, as SQL: `{ location: "x'00'" }`. */
  readonly columns?: Readonly<Record<string, string>>
  /** Columns of the first rows: others refer to these. */
  readonly firstRows?: readonly Values[]
  /** Columns of each child, by the name of the children; of their own children by `acts.scenes`. */
  readonly children?: Readonly<Record<string, Made<Values>>>
  /** A foreign key that needs a row of its own with these values: `{ venueId: { isOpen: true } }`. */
  readonly references?: Readonly<Record<string, Values>>
  /** Members of the body of a create, in place of made ones. */
  readonly create?: Made<Members>
  /** Members of the body of a PUT; the tests of PATCH take theirs from it. */
  readonly update?: Made<Members>
  /** Members of the body of an action, by its name. */
  readonly actions?: Readonly<Record<string, Made<Members>>>
}

/** Members of a body, as JSON values. */
export type Members = Readonly<Record<string, unknown>>

/** What was stated, for the row or body of this number. */
export function madeOf<T extends object>(made: Made<T> | undefined, n: number): T | undefined {
  return typeof made === 'function' ? made(n) : made
}

/** A hidden value, so that one that gets out is known by sight. */
export const SECRET = 'hidden-secret'

/**
 * A value that a column takes, another for each `n` as far as its type allows. Amounts leave room in both directions,
 * periods are under way: most rules of a domain are content with it.
 */
export function madeValue({ name, field }: Column, n: number): WireValue {
  if (field.hidden && field.type === 'string') return `${SECRET}-${n}`.slice(0, field.maxLength)
  const { custom } = field
  if (custom !== undefined) return custom.examples[n % custom.examples.length] ?? null
  switch (field.type) {
    case 'string':
      return madeText(name, field.maxLength, n)
    case 'bool':
      return true
    case 'int':
      return within(field, n)
    case 'long':
      return madeLong(field, n)
    case 'decimal':
      return amountOf(field, leastAmount(field) + (n % 10))
    case 'double':
      return Number(field.minimum ?? 0) + n + 0.5
    case 'dateTime':
      return inPrecision(madeMoment(name, n), field.precision, n)
    case 'date':
      return madeMoment(name, n * 86_400).slice(0, 10)
    case 'time':
      return madeTime(field.precision, n)
    case 'guid':
      return guidOf(n)
    case 'enum':
      return field.words[n % field.words.length] ?? null
    case 'set':
      // Some of the words, in their order.
      return field.words.filter((_, index) => ((n >> index) & 1) === 1)
    case 'json':
      return `{"made": ${n}, "name": "${name} \\"${n}\\", and more", "parts": [true, null, 1.50]}`
    case 'binary':
      return Buffer.alloc(Math.max(field.minLength, Math.min(field.maxLength, 8)), n).toString('base64')
    case 'base64url':
      return madeBytes(field, n).toString('base64url')
  }
}

/** The number at the end: the first bytes of most values are alike. */
function madeBytes({ minLength, maxLength }: Column['field'], n: number): Buffer {
  const bytes = Buffer.alloc(Math.max(minLength, Math.min(maxLength, 8)), 0xfb)
  const count = Math.min(bytes.length, 4)
  bytes.writeUIntBE(n % 256 ** count, bytes.length - count, count)
  return bytes
}

/** Digits of a decimal that SQLite keeps whatever they are: it has them in 64 bits. */
const SQLITE_DIGITS = 18

/** A hundred, or less where a column has fewer digits before the point. */
function leastAmount({ precision, scale }: Column['field']): number {
  const digits = Math.min(precision, SQLITE_DIGITS) - scale
  return digits >= 3 ? 100 : digits === 2 ? 10 : 0
}

/** So many, or so many units of the last digit where the column has none before the point. */
function amountOf({ precision, scale }: Column['field'], amount: number): string {
  const hasWhole = Math.min(precision, SQLITE_DIGITS) > scale
  return hasWhole ? amount.toFixed(scale) : `0.${String(amount).padStart(scale, '0')}`
}

export function guidOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** What an input takes: small beside what rows hold, and later. */
export function madeInput(column: Column, n: number): WireValue {
  const { field, name } = column
  if (field.custom !== undefined) return madeValue(column, n)
  if (field.type === 'int' && field.storage === 'usual') return Math.max(1, Number(field.minimum ?? 1))
  if (field.type === 'decimal') return amountOf(field, 1)
  if (field.type === 'dateTime') return `${/start/i.test(name) ? 2051 : 2052}-01-01T00:00:00.000Z`
  return madeValue(column, n)
}

function madeText(name: string, maxLength: number, n: number): string {
  const text = `${name} ${n}`
  if (text.length <= maxLength) return text
  const digits = String(n)
  return digits.length <= maxLength ? digits : n.toString(36).slice(-maxLength)
}

function within(field: Column['field'], n: number): number {
  const { min, max } = rangeOf(field)
  const least = Math.max(Number(field.minimum ?? 0), Number(min))
  const most = Math.min(Number(field.maximum ?? 1_000_000), Number(max))
  return Math.min(most, least + 10 + (n % Math.max(1, Math.min(1000, most - least - 10))))
}

/** Beyond 2^53, and of an unsigned column beyond 2^63, as far as the column goes. */
function madeLong(field: Column['field'], n: number): string {
  const { max } = rangeOf(field)
  const base = field.unsigned ? 2n ** 63n + 1n : 9_007_199_254_740_993n
  return String(base + BigInt(n) <= max ? base + BigInt(n) : max - BigInt(n % 1000))
}

function madeTime(precision: number, n: number): string {
  const whole = new Date(Date.UTC(2020, 0, 1) + (n % 86_400) * 1000).toISOString().slice(11, 19)
  return precision === 0 ? whole : `${whole}.${String(n).slice(-precision).padStart(precision, '0')}`
}

/** With as many digits of a second's fraction as the column has, of the three or more that the wire has. */
function inPrecision(moment: string, precision: number, n: number): string {
  const digits = `${moment.slice(20, 23)}${String(n).slice(-3).padStart(3, '0')}`.slice(0, precision)
  return `${moment.slice(0, 19)}.${digits.padEnd(3, '0')}Z`
}

/** Ends and due dates lie ahead. */
function madeMoment(name: string, n: number): string {
  const year = /end|expire|expect|renew/i.test(name) ? 2050 : 2020
  return new Date(Date.UTC(year, 0, 1) + n * 1001).toISOString()
}
