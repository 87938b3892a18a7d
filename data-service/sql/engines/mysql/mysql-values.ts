import { isUtf8 } from 'node:buffer'
import type { Field, FieldType, Operand, Value } from '../../../entity/fields/field.js'
import { shortestFloat } from '../../../entity/fields/numbers.js'
import {
  base64urlOfBytes,
  type BoundValue,
  bytes,
  bytesOfBase64url,
  flag,
  jsonOfColumn,
  setOfColumn,
  undecodable
} from '../statement.js'

/** What MySQL and MariaDB do with the values of a type. */
interface MysqlType {
  /** The type that an operand is cast to, so that the server does not compare bound digits as doubles. */
  readonly cast?: (field: Field) => string | undefined
  /**
   * Whether operands are bound as numbers, which the driver sends as doubles. A safe integer is compared exactly with
   * integers of every size: one that no double holds becomes a double that is beyond all safe integers. A long that is no
   * safe integer is bound as a decimal (`parametersOf` in mysql-connection.ts). Between a double and a decimal the server
   * would compare a column as a double, so longs are numbers only where the comparison has no other operand.
   */
  readonly isNumber?: (isAlone: boolean) => boolean
  /** An operand or a value as text. Default: its own. */
  readonly text?: (value: Operand, field: Field) => string
  /** The bound form of an operand or a value. Default: its text. */
  readonly bind?: (value: Operand) => BoundValue
  /** Decodes a value of the driver that is not NULL. */
  readonly decode: (field: Field) => (raw: unknown) => Value
}

const words: MysqlType = {
  decode:
    ({ type }) =>
    (raw) => {
      if (typeof raw === 'string') return raw
      // A text that is kept as bytes.
      if (Buffer.isBuffer(raw) && isUtf8(raw)) return raw.toString()
      // What a statement of an application computes. A number with a fraction may not be the one that is stored.
      if (!Number.isSafeInteger(raw)) throw undecodable(type, raw)
      return String(raw)
    }
}

const MYSQL_TYPES: Readonly<Record<FieldType, MysqlType>> = {
  string: words,
  guid: words,
  enum: words,
  bool: {
    cast: () => 'SIGNED',
    isNumber: () => true,
    text: (value) => (value === true ? '1' : '0'),
    decode: (field) => (raw) =>
      flag(typeof raw === 'number' ? raw : Buffer.isBuffer(raw) ? bitsOf(raw) : Number(raw), field)
  },
  int: {
    cast: () => 'SIGNED',
    isNumber: () => true,
    decode:
      ({ type }) =>
      (raw) => {
        const value = typeof raw === 'number' ? raw : Number(Buffer.isBuffer(raw) ? bitsOf(raw) : raw)
        if (!Number.isSafeInteger(value)) throw undecodable(type, raw)
        return value
      }
  },
  long: {
    cast: ({ storage, unsigned }) => {
      if (storage === 'bits') return 'UNSIGNED'
      // An unsigned cast would make a great number of a negative operand.
      return unsigned ? 'DECIMAL(20,0)' : 'SIGNED'
    },
    isNumber: (isAlone) => isAlone,
    decode: () => (raw) => (Buffer.isBuffer(raw) ? bitsOf(raw).toString() : withoutZerofill(String(raw)))
  },
  decimal: {
    // Two digits more than the column has, so that operands beyond its range stay beyond it.
    cast: ({ precision, scale }) => `DECIMAL(${Math.min(precision + 2, 65)},${scale})`,
    decode:
      ({ type, precision, scale }) =>
      (raw) => {
        if (typeof raw !== 'string' && !Number.isSafeInteger(raw)) throw undecodable(type, raw)
        const digits = withoutZerofill(String(raw))
        // A comparison with an operand between the limits of the field and such a value would be wrong.
        if (digitsBeforePoint(digits) > Math.max(precision - scale, 1)) throw undecodable(type, raw)
        return digits
      }
  },
  double: {
    cast: () => 'DOUBLE',
    text: (value, { storage }) => (storage === 'float' ? String(asFloat(Number(value))) : String(value)),
    decode:
      ({ type, storage }) =>
      (raw) => {
        if (typeof raw !== 'number') throw undecodable(type, raw)
        return storage === 'float' ? shortestFloat(raw) : raw
      }
  },
  dateTime: {
    cast: ({ precision }) => (precision > 3 ? 'DATETIME(6)' : 'DATETIME(3)'),
    // 2026-01-31T08:00:00.000Z in the form that the server parses. The session's time zone is UTC.
    text: (value) => String(value).replace('T', ' ').replace('Z', ''),
    decode: ({ type, precision }) => {
      const digits = Math.max(3, precision)
      return (raw) => {
        if (typeof raw !== 'string' || raw.length < 19) throw undecodable(type, raw)
        return isoTime(raw, digits)
      }
    }
  },
  date: {
    // A cast would make another date of one with a month or day of 0.
    decode:
      ({ type }) =>
      (raw) => {
        if (typeof raw !== 'string' || raw.length !== 10) throw undecodable(type, raw)
        return raw
      }
  },
  time: {
    cast: () => 'TIME(6)',
    decode:
      ({ type, precision }) =>
      (raw) => {
        if (typeof raw !== 'string') throw undecodable(type, raw)
        return paddedTime(raw, precision)
      }
  },
  set: { decode: () => (raw) => setOfColumn(textOfWords(raw)) },
  json: { decode: () => jsonOfColumn },
  binary: { decode: () => bytes },
  base64url: { bind: bytesOfBase64url, decode: () => base64urlOfBytes }
}

/** The driver answers words of a table in CHARSET=binary as bytes. */
function textOfWords(raw: unknown): unknown {
  return Buffer.isBuffer(raw) ? raw.toString() : raw
}

/** The SQL of an operand that is bound under a name (`SqlDialect.operand`). */
export function mysqlOperand(name: string, field: Field, isAlone: boolean): string {
  // The session takes no date with a month or day of 0, which a cast would make NULL of. A cursor may hold one. A server
  // reads a text that is compared with a column of moments as a moment, but not one of a list.
  const isPlain = (field.type === 'dateTime' && isAlone) || isBoundAsNumber(field, isAlone)
  const type = isPlain ? undefined : MYSQL_TYPES[field.type].cast?.(field)
  return type === undefined ? `$${name}` : `CAST($${name} AS ${type})`
}

export function mysqlBoundOperand(operand: Operand, field: Field, isAlone: boolean): BoundValue {
  if (!isBoundAsNumber(field, isAlone)) return mysqlBoundText(operand, field)
  const value = Number(operand)
  return Number.isSafeInteger(value) ? value : BigInt(operand)
}

function isBoundAsNumber({ type, storage }: Field, isAlone: boolean): boolean {
  return storage !== 'bits' && MYSQL_TYPES[type].isNumber?.(isAlone) === true
}

function mysqlText(operand: Operand, field: Field): string {
  return MYSQL_TYPES[field.type].text?.(operand, field) ?? String(operand)
}

/** The bound form of a value that is written into a column. */
export function mysqlValue(value: Exclude<Value, null>, field: Field): BoundValue {
  if (Buffer.isBuffer(value)) return value
  if (typeof value === 'object') return value.join()
  // A BIT column takes the bytes of a text as its bits.
  if (field.storage === 'bits') return bytesOfBits(BigInt(value), field.precision)
  return mysqlBoundText(value, field)
}

/** The bound form of a value as the column has it. */
export function mysqlBoundText(value: Operand, field: Field): BoundValue {
  return MYSQL_TYPES[field.type].bind?.(value) ?? mysqlText(value, field)
}

/** The decoder of a column. Values that are not of the field's type are errors. */
export function mysqlDecoder(field: Field): (raw: unknown) => Value {
  const decode = MYSQL_TYPES[field.type].decode(field)
  return (raw) => (raw === null ? null : decode(raw))
}

function bytesOfBits(value: bigint, count: number): Buffer {
  const all = Buffer.alloc(8)
  all.writeBigUInt64BE(value)
  return all.subarray(8 - Math.ceil(count / 8))
}

/** The number of 32 bits that is shown as this one. An operand that is none is compared as it is. */
function asFloat(value: number): number {
  const float = Math.fround(value)
  return shortestFloat(float) === value ? float : value
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
