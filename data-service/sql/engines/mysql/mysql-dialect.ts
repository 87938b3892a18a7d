import { fn, literal } from 'sequelize'
import type { Field, Operand, Value } from '../../../entity/fields/field.js'
import { shortestFloat } from '../../../entity/fields/numbers.js'
import {
  anyOfTuples,
  type BoundValue,
  bytes,
  flag,
  jsonOfColumn,
  type SqlDialect,
  type TextMatch,
  undecodable
} from '../statement.js'
import { mysqlColumnWithoutCharacter } from './mysql-collations.js'
import { errnoOf, mysqlViolatedKey } from './driver/mysql-errors.js'

/** ER_KEY_DOES_NOT_EXITS */
const NO_SUCH_INDEX = 1176

/**
 * The collation of the columns compares text. Casts prevent the server from comparing bound digits as doubles. Integers are
 * bound as numbers: a condition that an index has met already is left out of the reading of each row only if its operand is
 * a plain value, and a count of many rows takes twice as long with the condition.
 */
export const mysqlDialect: SqlDialect = {
  // The server orders an enum by the places of its words. CONCAT makes it text.
  keyFunction: (type, use) => (type === 'enum' && use === 'order' ? 'CONCAT' : undefined),
  operand: (name, field, isAlone) => {
    // The session takes no date with a month or day of 0, which a cast would make NULL of. A cursor may hold one. A server
    // reads a text that is compared with a column of moments as a moment, but not one of a list.
    const type = (field.type === 'dateTime' && isAlone) || isNumber(field, isAlone) ? undefined : castType(field)
    return type === undefined ? `$${name}` : `CAST($${name} AS ${type})`
  },
  bindOperand,
  bind: boundOperand,
  store: mysqlValue,
  textOperand: () => undefined,
  isTextOfWords: () => false,
  hasWord: (column, operand) => fn('SIGN', fn('FIND_IN_SET', literal(operand), column)),
  // No collation equates bytes. Those of a column of any character set and those of an operand are UTF-8 then.
  exactText: (text) => `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`,
  hasExactly: (match, text, part) => {
    if (match === 'endsWith') return `RIGHT(${text}, LENGTH(${part})) = ${part}`
    return `LOCATE(${part}, ${text}) ${match === 'startsWith' ? '= 1' : '> 0'}`
  },
  isOneOfTuples: anyOfTuples,
  matchFunction: () => undefined,
  bindMatch: likePattern,
  readsRangesOfOr: true,
  joinInOrder: 'STRAIGHT_JOIN',
  isServer: true,
  isIndexMissing: (error) => errnoOf(error) === NO_SUCH_INDEX,
  columnWithoutCharacter: mysqlColumnWithoutCharacter,
  violatedKey: mysqlViolatedKey,
  decode: decoderOf,
  insertOrKeep: (insert, key) => `${insert} ON DUPLICATE KEY UPDATE ${key} = ${key}`,
  // ROW_COUNT() is -1 after a statement that failed or read, and 0 after one that changed no row. MySQL 9 takes it for a
  // constant of the time at which the statement was prepared, unless the comparison has to be made anew for each row.
  insertAfterChange: (into, values) => `${into} SELECT ${values} FROM DUAL WHERE ROW_COUNT() > FLOOR(RAND())`,
  guards: {
    inTransaction: '@@in_transaction = 1',
    // ROW_COUNT() is -1 after a statement that failed or answered rows.
    afterOneRow: 'ROW_COUNT() = 1 AND @@in_transaction = 1',
    // In strict mode a text that is no number is an error in a column of numbers. An INSERT … SELECT with a condition would lock
    // the counter of the table for as long as it waits for another transaction.
    numberIf: (condition) => `IF(${condition}, NULL, 'not in its transaction')`,
    lastNumber: 'LAST_INSERT_ID()'
  },
  insertOrUpdate: (insert, _key, update) => `${insert} ON DUPLICATE KEY UPDATE ${update}`,
  nextVersion,
  forUpdate: ' FOR UPDATE',
  forUpdateNow: ' FOR UPDATE NOWAIT'
}

/** An unsigned number beyond the highest would be an error. The texts of statements hold no quotes, so LPAD fills with 0. */
function nextVersion(column: string): string {
  const next = `CAST(CONV(HEX(${column}), 16, 10) AS UNSIGNED) + 1`
  return `IF(${column} = 0x${'FF'.repeat(8)}, 0x${'00'.repeat(8)}, UNHEX(LPAD(HEX(${next}), 16, 0)))`
}

function castType({ type, storage, unsigned, precision, scale }: Field): string | undefined {
  switch (type) {
    case 'bool':
    case 'int':
      return 'SIGNED'
    case 'long':
      if (storage === 'bits') return 'UNSIGNED'
      // An unsigned cast would make a great number of a negative operand.
      return unsigned ? 'DECIMAL(20,0)' : 'SIGNED'
    case 'decimal':
      // Two digits more than the column has, so that operands beyond its range stay beyond it.
      return `DECIMAL(${Math.min(precision + 2, 65)},${scale})`
    case 'double':
      return 'DOUBLE'
    case 'dateTime':
      return precision > 3 ? 'DATETIME(6)' : 'DATETIME(3)'
    case 'time':
      return 'TIME(6)'
    // A cast would make another date of one with a month or day of 0.
    case 'date':
    case 'string':
    case 'guid':
    case 'enum':
    case 'set':
    case 'json':
    case 'binary':
      return undefined
  }
}

/**
 * Whether operands are bound as numbers, which the driver sends as doubles. A safe integer is compared exactly with integers
 * of every size: one that no double holds becomes a double that is beyond all safe integers. A long that is no safe integer
 * is bound as a decimal (`parametersOf` in mysql-connection.ts). Between a double and a decimal the server would compare a
 * column as a double, so longs are numbers only where the comparison has no other operand.
 */
function isNumber({ type, storage }: Field, isAlone: boolean): boolean {
  return storage !== 'bits' && (type === 'int' || type === 'bool' || (type === 'long' && isAlone))
}

function bindOperand(operand: Operand, field: Field, isAlone: boolean): BoundValue {
  if (!isNumber(field, isAlone)) return boundOperand(operand, field)
  const value = Number(operand)
  return Number.isSafeInteger(value) ? value : BigInt(operand)
}

function boundOperand(operand: Operand, { type, storage }: Field): string {
  if (type === 'bool') return operand === true ? '1' : '0'
  // 2026-01-31T08:00:00.000Z in the form that the server parses. The session's time zone is UTC.
  if (type === 'dateTime') return String(operand).replace('T', ' ').replace('Z', '')
  if (type === 'double' && storage === 'float') return String(asFloat(Number(operand)))
  return String(operand)
}

/** The number of 32 bits that is shown as this one. An operand that is none is compared as it is. */
function asFloat(value: number): number {
  const float = Math.fround(value)
  return shortestFloat(float) === value ? float : value
}

function mysqlValue(value: Exclude<Value, null>, field: Field): BoundValue {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'object') return value.join()
  // A BIT column takes the bytes of a text as its bits.
  if (field.storage === 'bits') return bytesOfBits(BigInt(value), field.precision)
  return boundOperand(value, field)
}

function bytesOfBits(value: bigint, count: number): Buffer {
  const all = Buffer.alloc(8)
  all.writeBigUInt64BE(value)
  return all.subarray(8 - Math.ceil(count / 8))
}

/** The escape character is `!`, which unlike the backslash means the same in every sql_mode. */
function likePattern(operand: string, match: TextMatch): string {
  const plain = operand.replace(/[!%_]/g, '!$&')
  return `${match === 'startsWith' ? '' : '%'}${plain}${match === 'endsWith' ? '' : '%'}`
}

/** The decoder of a column. Values that are not of the field's type are errors. */
function decoderOf(field: Field): (raw: unknown) => Value {
  const decode = decoderOfType(field)
  return (raw) => (raw === null ? null : decode(raw))
}

function decoderOfType({ type, storage, precision, scale }: Field): (raw: unknown) => Value {
  switch (type) {
    case 'bool':
      return (raw) => flag(typeof raw === 'number' ? raw : Buffer.isBuffer(raw) ? bitsOf(raw) : Number(raw))
    case 'int':
      return (raw) => {
        const value = typeof raw === 'number' ? raw : Number(Buffer.isBuffer(raw) ? bitsOf(raw) : raw)
        if (!Number.isSafeInteger(value)) throw undecodable(type, raw)
        return value
      }
    case 'long':
      return (raw) => (Buffer.isBuffer(raw) ? bitsOf(raw).toString() : withoutZerofill(String(raw)))
    case 'double':
      return (raw) => {
        if (typeof raw !== 'number') throw undecodable(type, raw)
        return storage === 'float' ? shortestFloat(raw) : raw
      }
    case 'dateTime': {
      const digits = Math.max(3, precision)
      return (raw) => {
        if (typeof raw !== 'string' || raw.length < 19) throw undecodable(type, raw)
        return isoTime(raw, digits)
      }
    }
    case 'date':
      return (raw) => {
        if (typeof raw !== 'string' || raw.length !== 10) throw undecodable(type, raw)
        return raw
      }
    case 'time':
      return (raw) => {
        if (typeof raw !== 'string') throw undecodable(type, raw)
        return paddedTime(raw, precision)
      }
    case 'decimal':
      return (raw) => {
        if (typeof raw !== 'string' && !Number.isSafeInteger(raw)) throw undecodable(type, raw)
        const digits = withoutZerofill(String(raw))
        // A comparison with an operand between the limits of the field and such a value would be wrong.
        if (digitsBeforePoint(digits) > Math.max(precision - scale, 1)) throw undecodable(type, raw)
        return digits
      }
    case 'string':
    case 'guid':
    case 'enum':
      return (raw) => {
        if (typeof raw === 'string') return raw
        // What a statement of an application computes. A number with a fraction may not be the one that is stored.
        if (!Number.isSafeInteger(raw)) throw undecodable(type, raw)
        return String(raw)
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

/** The number of a BIT column's bytes. */
function bitsOf(raw: Buffer): bigint {
  return raw.length === 0 ? 0n : BigInt(`0x${raw.toString('hex')}`)
}

/**
 * `2026-01-31 08:00:00`, with or without a fraction, as `2026-01-31T08:00:00.000Z`. A fraction of more digits than the
 * entity file says keeps them.
 */
function isoTime(text: string, digits: number): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20).padEnd(digits, '0')}Z`
}

/** The driver leaves out the zeros at the end of a time's fraction. */
function paddedTime(text: string, digits: number): string {
  const [whole = '', fraction = ''] = text.split('.')
  return digits === 0 && fraction === '' ? whole : `${whole}.${fraction.padEnd(digits, '0')}`
}

/** The digits of a number as every other column has them: a ZEROFILL column pads them, `0052.50`. */
function withoutZerofill(digits: string): string {
  if (digits.charAt(0) !== '0') return digits
  let at = 0
  while (at < digits.length - 1 && digits.charAt(at) === '0' && digits.charAt(at + 1) !== '.') at++
  return at === 0 ? digits : digits.slice(at)
}

function digitsBeforePoint(decimal: string): number {
  const point = decimal.indexOf('.')
  const end = point < 0 ? decimal.length : point
  return decimal.startsWith('-') ? end - 1 : end
}
