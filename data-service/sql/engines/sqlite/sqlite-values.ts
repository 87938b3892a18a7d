import type { Field, FieldType, Operand, Value } from '../../../entity/fields/field.js'
import {
  formatDecimal,
  INT64_RANGE,
  isWithin,
  parseDecimal,
  shortestFloat,
  unscaledAt
} from '../../../entity/fields/numbers.js'
import {
  base64urlOfBytes,
  type BoundValue,
  bytes,
  bytesOfBase64url,
  flag,
  jsonOfColumn,
  setOfColumn,
  undecodable,
  Unstorable
} from '../statement.js'
import { sortKey } from './text-keys.js'

/** What SQLite does with the values of a type. */
interface SqliteType {
  /** The bound form of an operand. Default: its text. */
  readonly bind?: (operand: Operand, field: Field) => BoundValue
  /** The bound form of a value that is written. Default: that of an operand. Throws an Unstorable. */
  readonly store?: (value: Operand, field: Field) => BoundValue
  /** The type that an operand is cast to. */
  readonly cast?: (field: Field) => string | undefined
  /** Decodes a value that is not NULL. A column may hold values of any type: one that is not of the field's is an error. */
  readonly decode: (field: Field) => (raw: unknown) => Value
}

const plainText: SqliteType['decode'] =
  ({ type }) =>
  (raw) => {
    if (typeof raw !== 'string') throw undecodable(type, raw)
    return raw
  }

const words: SqliteType = {
  bind: (operand) => sortKey(String(operand)),
  store: String,
  decode: plainText
}

const SQLITE_TYPES: Readonly<Record<FieldType, SqliteType>> = {
  string: words,
  enum: words,
  guid: { decode: plainText },
  bool: {
    bind: (operand) => (operand === true ? 1n : 0n),
    decode: (field) => (raw) => {
      if (typeof raw !== 'number' && typeof raw !== 'bigint') throw undecodable(field.type, raw)
      return flag(raw, field)
    }
  },
  int: {
    bind: (operand) => BigInt(String(operand)),
    decode:
      ({ type }) =>
      (raw) => {
        const value = typeof raw === 'bigint' ? Number(raw) : raw
        if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw undecodable(type, raw)
        return value
      }
  },
  // There is no type for unsigned integers of 64 bits. As 20 digits of text they have the order of the numbers.
  long: {
    bind: (operand, { unsigned }) => (unsigned ? paddedDigits(String(operand)) : BigInt(String(operand))),
    decode: ({ type, unsigned }) => (unsigned ? unsignedDigits : (raw) => bigintOf(raw, type).toString())
  },
  // An integer in units of the last digit.
  decimal: {
    bind: (operand, field) => {
      const units = unitsOf(String(operand), field.scale)
      if (isWithin(units, INT64_RANGE)) return isWide(field) ? String(units) : units
      // Beyond all that a column holds. Equal to none of them, which the nearest limit might be.
      return units < 0n ? '-1e70' : '1e70'
    },
    store: (value, { scale }) => {
      const units = unitsOf(String(value), scale)
      if (isWithin(units, INT64_RANGE)) return units
      throw new Unstorable(
        `has more digits than SQLite stores: its decimals are whole numbers of 64 bits, ${scale} digits of which stand after the point`
      )
    },
    cast: (field) => (isWide(field) ? 'NUMERIC' : undefined),
    decode: ({ type, precision, scale }) => {
      const beyond = 10n ** BigInt(precision)
      return (raw) => {
        const units = bigintOf(raw, type)
        if (units >= beyond || units <= -beyond) throw undecodable(type, raw)
        return formatDecimal(units, scale)
      }
    }
  },
  double: {
    // Bound as text, since the driver binds a number below 2.2e-16 as 0.
    cast: () => 'REAL',
    decode:
      ({ type, storage }) =>
      (raw) => {
        const value = typeof raw === 'bigint' ? Number(raw) : raw
        if (typeof value !== 'number' || !Number.isFinite(value)) throw undecodable(type, raw)
        if (typeof raw === 'bigint' && BigInt(value) !== raw) throw undecodable(type, raw)
        return storage === 'float' ? shortestFloat(value) : value
      }
  },
  dateTime: {
    decode: ({ type, precision }) => {
      // The digits of the fraction, the point, and the Z.
      const length = 19 + Math.max(3, precision) + 2
      return (raw) => {
        if (typeof raw !== 'string' || raw.length !== length || raw[10] !== 'T' || !raw.endsWith('Z')) {
          throw undecodable(type, raw)
        }
        if (!beginsWithDay(raw) || !hasTimeOfDay(raw, 11)) throw undecodable(type, raw)
        return raw
      }
    }
  },
  date: { decode: ({ type }) => textDecoder(type, /^\d{4}-\d{2}-\d{2}$/, beginsWithDay) },
  time: { decode: ({ type }) => textDecoder(type, /^\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/, hasTimeOfDay) },
  set: { decode: () => setOfColumn },
  json: { decode: () => jsonOfColumn },
  binary: { decode: () => bytes },
  base64url: { bind: bytesOfBase64url, decode: () => base64urlOfBytes }
}

/** The SQL of an operand that is bound under a name (`SqlDialect.operand`). */
export function sqliteOperand(name: string, field: Field): string {
  const type = SQLITE_TYPES[field.type].cast?.(field)
  return type === undefined ? `$${name}` : `CAST($${name} AS ${type})`
}

export function sqliteBoundOperand(operand: Operand, field: Field): BoundValue {
  return SQLITE_TYPES[field.type].bind?.(operand, field) ?? String(operand)
}

/** The bound form of a value that is written into a column. */
export function sqliteValue(value: Exclude<Value, null>, field: Field): BoundValue {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'object') return value.join()
  return SQLITE_TYPES[field.type].store?.(value, field) ?? sqliteBoundOperand(value, field)
}

/** The decoder of a column. */
export function sqliteDecoder(field: Field): (raw: unknown) => Value {
  const decode = SQLITE_TYPES[field.type].decode(field)
  return (raw) => (raw === null ? null : decode(raw))
}

/**
 * In a column of numbers, such as a key that the database numbers, SQLite reads these digits as the number, in comparisons
 * and when it stores them. A negative operand comes before all numbers.
 */
function paddedDigits(digits: string): string {
  return digits.startsWith('-') ? digits : digits.padStart(20, '0')
}

/** A decimal whose operands may be beyond the 64 bits of a column. */
function isWide({ type, precision }: Field): boolean {
  return type === 'decimal' && precision > 18
}

/** `-19.90` with scale 2 as -1990. */
function unitsOf(decimal: string, scale: number): bigint {
  const value = parseDecimal(decimal)
  if (value === undefined) throw new TypeError(`${decimal} is not a decimal number`)
  return unscaledAt(value, scale)
}

function textDecoder(type: FieldType, pattern: RegExp, isValid: (text: string) => boolean): (raw: unknown) => string {
  return (raw) => {
    if (typeof raw !== 'string' || !pattern.test(raw) || !isValid(raw)) throw undecodable(type, raw)
    return raw
  }
}

function bigintOf(raw: unknown, type: FieldType): bigint {
  if (typeof raw !== 'bigint') throw undecodable(type, raw)
  return raw
}

function unsignedDigits(raw: unknown): string {
  if (typeof raw === 'bigint' && raw >= 0n) return raw.toString()
  if (typeof raw !== 'string' || !/^\d{20}$/.test(raw)) throw undecodable('long', raw)
  return raw.replace(/^0+(?=\d)/, '')
}

/** Whether a text that begins with `YYYY-MM-DD` begins with a day of the calendar. */
function beginsWithDay(text: string): boolean {
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)]
  if (!(month >= 1 && month <= 12 && day >= 1)) return false
  if (day > 28 && !(day <= daysOf(Number(text.slice(0, 4)), month))) return false
  return !text.startsWith('0000')
}

/** Whether there is a time of the day, `HH:MM:SS`, at this place of a text. */
function hasTimeOfDay(text: string, at = 0): boolean {
  return twoDigits(text, at) <= 23 && twoDigits(text, at + 3) <= 59 && twoDigits(text, at + 6) <= 59
}

const ZERO_DIGIT = '0'.charCodeAt(0)

/** The number of two digits; NaN for other characters. */
function twoDigits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - ZERO_DIGIT, text.charCodeAt(at + 1) - ZERO_DIGIT]
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN
}

function daysOf(year: number, month: number): number {
  if (month !== 2) return [4, 6, 9, 11].includes(month) ? 30 : 31
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28
}
