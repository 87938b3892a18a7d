import { fn, literal } from 'sequelize'
import type { Field, FieldType, Operand, Value } from '../../../entity/fields/field.js'
import {
  formatDecimal,
  INT64,
  isWithin,
  parseDecimal,
  shortestFloat,
  unscaledAt
} from '../../../entity/fields/numbers.js'
import {
  type BoundValue,
  bytes,
  flag,
  jsonOfColumn,
  type SqlDialect,
  undecodable,
  Unstorable,
  type ViolatedKey
} from '../statement.js'
import { matchKey, sortKey } from './text-keys.js'

const MATCH_FUNCTIONS = {
  contains: 'text_contains',
  startsWith: 'text_starts_with',
  endsWith: 'text_ends_with'
} as const

/**
 * The embedded database compares text by its sort key, stores decimals as integers in units of their last digit, and
 * unsigned integers of 64 bits, which it has no type for, as 20 digits of text, whose order is that of the numbers.
 */
export const sqliteDialect: SqlDialect = {
  keyFunction: (type) => (type === 'string' || type === 'enum' ? 'sort_key' : undefined),
  operand: (name, field) => {
    if (field.type === 'double') return `CAST($${name} AS REAL)`
    return isWide(field) ? `CAST($${name} AS NUMERIC)` : `$${name}`
  },
  bindOperand: sqliteOperand,
  bind: sqliteOperand,
  store: sqliteValue,
  textOperand: () => undefined,
  isTextOfWords: () => false,
  // A set is stored as MySQL writes it: its words with commas between.
  hasWord: (column, operand) => fn('set_has', column, literal(operand)),
  // A column of a table that others made may have a collation of its own.
  exactText: (text) => `${text} COLLATE BINARY`,
  hasExactly: (match, text, part) => {
    if (match === 'endsWith') return `(substr(${text}, -length(${part})) = ${part} OR length(${part}) = 0)`
    return `instr(${text}, ${part}) ${match === 'startsWith' ? '= 1' : '> 0'}`
  },
  isOneOfTuples: (columns, tuples) =>
    `(${columns.join(', ')}) IN (VALUES ${tuples.map((tuple) => `(${tuple.join(', ')})`).join(', ')})`,
  matchFunction: (match) => MATCH_FUNCTIONS[match],
  bindMatch: (operand) => matchKey(operand),
  readsRangesOfOr: false,
  joinInOrder: 'CROSS JOIN',
  isServer: false,
  isIndexMissing: () => false,
  columnWithoutCharacter: () => undefined,
  violatedKey: sqliteViolatedKey,
  decode: (field) => {
    const decode = sqliteDecoder(field)
    return (raw) => (raw === null ? null : decode(raw))
  },
  insertOrKeep: (insert, key) => `${insert} ON CONFLICT (${key}) DO NOTHING`,
  // Each statement of a batch has its answer before the next is sent, and a failed one ends the batch.
  insertAfterChange: (into, values) => `${into} VALUES (${values})`,
  guards: undefined,
  insertOrUpdate: (insert, key, update) => `${insert} ON CONFLICT (${key}) DO UPDATE SET ${update}`,
  // sqlite-connection.ts defines the function: SQLite itself reads no number out of bytes.
  nextVersion: (column) => `next_row_version(${column})`,
  forUpdate: '',
  forUpdateNow: undefined
}

function sqliteOperand(operand: Operand, field: Field): BoundValue {
  const { type, unsigned, scale } = field
  switch (type) {
    case 'string':
    case 'enum':
      return sortKey(String(operand))
    case 'bool':
      return operand === true ? 1n : 0n
    case 'int':
      return BigInt(String(operand))
    case 'long':
      return unsigned ? paddedDigits(String(operand)) : BigInt(String(operand))
    case 'decimal': {
      const units = unitsOf(String(operand), scale)
      if (isWithin(units, INT64)) return isWide(field) ? String(units) : units
      // Beyond all that a column holds. Equal to none of them, which the nearest limit might be.
      return units < 0n ? '-1e70' : '1e70'
    }
    case 'double':
      // As text, since the driver binds a number below 2.2e-16 as 0.
      return String(operand)
    case 'dateTime':
    case 'date':
    case 'time':
    case 'guid':
    case 'set':
    case 'json':
    case 'binary':
      return String(operand)
  }
}

/**
 * In a column of numbers, such as a key that the database numbers, SQLite reads these digits as the number, in comparisons
 * and when it stores them. A negative operand comes before all numbers.
 */
function paddedDigits(digits: string): string {
  return digits.startsWith('-') ? digits : digits.padStart(20, '0')
}

function sqliteValue(value: Exclude<Value, null>, field: Field): BoundValue {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'object') return value.join()
  if (field.type === 'decimal') {
    const units = unitsOf(String(value), field.scale)
    if (isWithin(units, INT64)) return units
    throw new Unstorable(
      `has more digits than SQLite stores: its decimals are whole numbers of 64 bits, ${field.scale} digits of which stand after the point`
    )
  }
  return field.type === 'string' || field.type === 'enum' ? String(value) : sqliteOperand(value, field)
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

/** A column may hold values of any type in SQLite: one that is not of the field's type is an error. */
function sqliteDecoder({ type, storage, unsigned, precision, scale }: Field): (raw: unknown) => Value {
  switch (type) {
    case 'bool':
      return (raw) => {
        if (typeof raw !== 'number' && typeof raw !== 'bigint') throw undecodable(type, raw)
        return flag(raw)
      }
    case 'int':
      return (raw) => {
        const value = typeof raw === 'bigint' ? Number(raw) : raw
        if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw undecodable(type, raw)
        return value
      }
    case 'long':
      return unsigned ? unsignedDigits : (raw) => bigintOf(raw, type).toString()
    case 'decimal': {
      const beyond = 10n ** BigInt(precision)
      return (raw) => {
        const units = bigintOf(raw, type)
        if (units >= beyond || units <= -beyond) throw undecodable(type, raw)
        return formatDecimal(units, scale)
      }
    }
    case 'double':
      return (raw) => {
        const value = typeof raw === 'bigint' ? Number(raw) : raw
        if (typeof value !== 'number' || !Number.isFinite(value)) throw undecodable(type, raw)
        if (typeof raw === 'bigint' && BigInt(value) !== raw) throw undecodable(type, raw)
        return storage === 'float' ? shortestFloat(value) : value
      }
    case 'dateTime': {
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
    case 'date':
      return textDecoder(type, /^\d{4}-\d{2}-\d{2}$/, beginsWithDay)
    case 'time':
      return textDecoder(type, /^\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/, hasTimeOfDay)
    case 'string':
    case 'guid':
    case 'enum':
      return (raw) => {
        if (typeof raw !== 'string') throw undecodable(type, raw)
        return raw
      }
    case 'set':
      return (raw) => {
        if (typeof raw !== 'string') throw undecodable(type, raw)
        return raw === '' ? [] : raw.split(',')
      }
    case 'json':
      return jsonOfColumn
    case 'binary':
      return bytes
  }
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

/** As `SqlDialect.violatedKey`. An index of expressions is named, and of another one its columns. */
function sqliteViolatedKey(error: unknown): ViolatedKey | undefined {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('FOREIGN KEY constraint failed')) return { kind: 'foreign' }
  const [, index, columns] = /UNIQUE constraint failed: (?:index '(.+)'|(.+))$/.exec(message) ?? []
  if (index !== undefined) return { kind: 'unique', index }
  if (columns === undefined) return undefined
  return { kind: 'unique', columns: columns.split(', ').map((one) => one.slice(one.indexOf('.') + 1)) }
}
