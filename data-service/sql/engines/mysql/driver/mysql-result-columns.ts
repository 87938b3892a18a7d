import type { CsvWriter } from '../../../../entity/fields/csv-text.js'
import type { Field, Value } from '../../../../entity/fields/field.js'
import { JsonWriter, type TextWriter } from '../../../../entity/fields/json-text.js'
import type { ShownStatement } from '../../statement.js'
import {
  asStored,
  readBytes,
  readText,
  writeBytes,
  writeDate,
  writeDateTime,
  writeDecimal,
  writeDouble,
  writeFlag,
  writeFreeTextCell,
  writeInteger,
  writeText,
  writeTextOfBytes,
  writeTextCell
} from './mysql-value-bytes.js'

// How the values of a result's columns are written and read: known from what the server says of each column and from the
// entity's field.

/** What the server says of a column of the result. */
export interface DriverField {
  readonly columnType: number
  readonly flags: number
  /** The driver's name of the character set; `binary` for bytes. */
  readonly encoding: string
  /** Digits of a fraction. */
  readonly decimals: number
}

/**
 * Writes the value at a place of a row, which is not null. false where only the driver's reading and the decoder can say what
 * it is.
 */
type WritePlace<Out> = (buffer: Buffer, at: number, out: Out) => boolean

/** Reads the value at a place of a row, in the form of the service. undefined: as `false` above. */
type ReadPlace = (buffer: Buffer, at: number) => Value | undefined

/** undefined for what has to go through the driver's reading and the decoder of mysql-dialect.ts. */
interface ColumnAccess {
  /** As JSON. */
  readonly write: WritePlace<JsonWriter> | undefined
  /** As a cell of CSV. */
  readonly writeCell: WritePlace<CsvWriter> | undefined
  readonly read: ReadPlace | undefined
}

export interface ResultColumn extends ColumnAccess {
  /** Bytes of a value, LENGTH_BYTE or LENGTH_CODED. */
  readonly size: number
}

/** One byte says how many bytes follow. */
export const LENGTH_BYTE = -1
/** An integer of variable length says how many bytes follow. */
export const LENGTH_CODED = -2

/** The numbers of types in the protocol. */
const TYPE = {
  tiny: 0x01,
  short: 0x02,
  long: 0x03,
  float: 0x04,
  double: 0x05,
  null: 0x06,
  timestamp: 0x07,
  longLong: 0x08,
  int24: 0x09,
  date: 0x0a,
  time: 0x0b,
  dateTime: 0x0c,
  year: 0x0d,
  newDate: 0x0e,
  varChar: 0x0f,
  newDecimal: 0xf6,
  tinyBlob: 0xf9,
  mediumBlob: 0xfa,
  longBlob: 0xfb,
  blob: 0xfc,
  varString: 0xfd,
  string: 0xfe
} as const

const SIZES: ReadonlyMap<number, number> = new Map([
  [TYPE.null, 0],
  [TYPE.tiny, 1],
  [TYPE.short, 2],
  [TYPE.year, 2],
  [TYPE.long, 4],
  [TYPE.int24, 4],
  [TYPE.float, 4],
  [TYPE.longLong, 8],
  [TYPE.double, 8],
  [TYPE.date, LENGTH_BYTE],
  [TYPE.newDate, LENGTH_BYTE],
  [TYPE.dateTime, LENGTH_BYTE],
  [TYPE.timestamp, LENGTH_BYTE],
  [TYPE.time, LENGTH_BYTE]
])

const TEXT_TYPES: ReadonlySet<number> = new Set<number>([
  TYPE.varChar,
  TYPE.varString,
  TYPE.string,
  TYPE.tinyBlob,
  TYPE.blob,
  TYPE.mediumBlob,
  TYPE.longBlob
])

const UNSIGNED = 32

interface CompiledColumns {
  readonly fields: readonly DriverField[]
  readonly columns: readonly ResultColumn[]
}

/** Compiled once for each statement, and again when a column of a table has another type than before. */
const compiledColumns = new WeakMap<ShownStatement, CompiledColumns>()

export function columnsOf(statement: ShownStatement, fields: readonly DriverField[]): readonly ResultColumn[] {
  const known = compiledColumns.get(statement)
  if (known !== undefined && areSame(known.fields, fields)) return known.columns
  const columns = fields.map((field, index) => resultColumn(field, statement.fields[index]))
  const kept = fields.map(({ columnType, flags, encoding, decimals }) => ({ columnType, flags, encoding, decimals }))
  compiledColumns.set(statement, { fields: kept, columns })
  return columns
}

function areSame(some: readonly DriverField[], others: readonly DriverField[]): boolean {
  if (some.length !== others.length) return false
  for (let index = 0; index < some.length; index++) {
    const [one, other] = [some[index], others[index]]
    if (
      one?.columnType !== other?.columnType ||
      one?.flags !== other?.flags ||
      one?.encoding !== other?.encoding ||
      one?.decimals !== other?.decimals
    )
      return false
  }
  return true
}

function resultColumn(driver: DriverField, field: Field | 'rowVersion' | undefined): ResultColumn {
  const size = SIZES.get(driver.columnType) ?? LENGTH_CODED
  return { size, ...(field === undefined ? DECODED_COLUMN : accessTo(driver, field)) }
}

const DECODED_COLUMN: ColumnAccess = { write: undefined, writeCell: undefined, read: undefined }

function accessTo(driver: DriverField, field: Field | 'rowVersion'): ColumnAccess {
  const isText = TEXT_TYPES.has(driver.columnType)
  // An export has no column of bytes.
  if (field === 'rowVersion' || field.type === 'binary') {
    return isText && driver.encoding === 'binary'
      ? { ...DECODED_COLUMN, write: writeBytes, read: readBytes }
      : DECODED_COLUMN
  }
  const { type } = field
  if (type === 'string' || type === 'guid' || type === 'enum') {
    if (isText && driver.encoding === 'binary') return { ...DECODED_COLUMN, write: writeTextOfBytes }
    if (!isText || driver.encoding !== 'utf8') return DECODED_COLUMN
    return { write: writeText, writeCell: type === 'string' ? writeFreeTextCell : writeTextCell, read: readText }
  }
  const plain = plainWriter(driver, field)
  if (plain === undefined) return DECODED_COLUMN
  const isBare = type === 'bool' || type === 'int' || type === 'double'
  return { write: isBare ? plain : quotedWriter(plain), writeCell: plain, read: readerOf(driver, field, plain) }
}

const JSON_QUOTE = '"'.charCodeAt(0)

function quotedWriter(write: WritePlace<TextWriter>): WritePlace<JsonWriter> {
  return (buffer, at, out) => {
    out.byte(JSON_QUOTE)
    if (!write(buffer, at, out)) return false
    out.byte(JSON_QUOTE)
    return true
  }
}

/** How a value is written of whose characters none has a meaning in JSON or CSV. */
function plainWriter(driver: DriverField, field: Field): WritePlace<TextWriter> | undefined {
  const { type, storage, precision, scale } = field
  const { columnType } = driver
  const integer = integerReader(driver)
  switch (type) {
    case 'bool':
      return integer && ((buffer, at, out) => writeFlag(integer(buffer, at), storage, out))
    case 'int':
      return integer && ((buffer, at, out) => writeInteger(integer(buffer, at), out))
    case 'long': {
      const exact = exactReader(driver)
      if (integer === undefined || exact === undefined) {
        return integer && ((buffer, at, out) => writeInteger(integer(buffer, at), out))
      }
      return (buffer, at, out) => {
        if (!writeInteger(integer(buffer, at), out)) out.text(exact(buffer, at))
        return true
      }
    }
    case 'double':
      if (columnType === TYPE.float)
        return (buffer, at, out) => writeDouble(asStored(buffer.readFloatLE(at), storage), out)
      return columnType === TYPE.double
        ? (buffer, at, out) => writeDouble(asStored(buffer.readDoubleLE(at), storage), out)
        : undefined
    case 'decimal': {
      const whole = Math.max(precision - scale, 1)
      return columnType === TYPE.newDecimal ? (buffer, at, out) => writeDecimal(buffer, at, { out, whole }) : undefined
    }
    case 'dateTime': {
      if (columnType !== TYPE.dateTime && columnType !== TYPE.timestamp) return undefined
      const digits = Math.max(3, precision)
      const { decimals } = driver
      return (buffer, at, out) => writeDateTime(buffer, at, { out, digits, decimals })
    }
    case 'date':
      return columnType === TYPE.date || columnType === TYPE.newDate ? writeDate : undefined
    case 'string':
    case 'guid':
    case 'enum':
    case 'time':
    case 'set':
    case 'json':
    case 'binary':
    case 'base64url':
      return undefined
  }
}

const scratch = new JsonWriter(1024)

/** Values have the form of the wire (field.ts), so they can be read from what is written. Most keys are integers. */
function readerOf(driver: DriverField, { type }: Field, write: WritePlace<TextWriter>): ReadPlace {
  const integer = integerReader(driver)
  if (integer !== undefined && (type === 'int' || type === 'long')) {
    const exact = exactReader(driver)
    return (buffer, at) => {
      const value = integer(buffer, at)
      if (!Number.isSafeInteger(value)) return type === 'int' ? undefined : exact?.(buffer, at)
      return type === 'int' ? value : String(value)
    }
  }
  return (buffer, at) => {
    scratch.reset()
    if (!write(buffer, at, scratch)) return undefined
    const text = scratch.bytes.toString('latin1', 0, scratch.at)
    return type === 'bool' ? text === 'true' : type === 'double' ? Number(text) : text
  }
}

/** Reads the digits of an integer of 64 bits. */
function exactReader({ columnType, flags }: DriverField): ((buffer: Buffer, at: number) => string) | undefined {
  if (columnType !== TYPE.longLong) return undefined
  return (flags & UNSIGNED) !== 0
    ? (buffer, at) => String(buffer.readBigUInt64LE(at))
    : (buffer, at) => String(buffer.readBigInt64LE(at))
}

type ReadInteger = (buffer: Buffer, at: number) => number

/** Reads integers as numbers. One that a number cannot hold becomes one that is no safe integer. */
function integerReader({ columnType, flags }: DriverField): ReadInteger | undefined {
  const isUnsigned = (flags & UNSIGNED) !== 0
  switch (columnType) {
    case TYPE.tiny:
      return isUnsigned ? (buffer, at) => buffer[at] ?? 0 : (buffer, at) => ((buffer[at] ?? 0) << 24) >> 24
    case TYPE.short:
      return isUnsigned ? (buffer, at) => buffer.readUInt16LE(at) : (buffer, at) => buffer.readInt16LE(at)
    case TYPE.year:
      return (buffer, at) => buffer.readUInt16LE(at)
    case TYPE.long:
    case TYPE.int24:
      return isUnsigned ? (buffer, at) => buffer.readUInt32LE(at) : (buffer, at) => buffer.readInt32LE(at)
    case TYPE.longLong:
      return isUnsigned
        ? (buffer, at) => buffer.readUInt32LE(at) + 0x1_0000_0000 * buffer.readUInt32LE(at + 4)
        : (buffer, at) => buffer.readUInt32LE(at) + 0x1_0000_0000 * buffer.readInt32LE(at + 4)
    default:
      return undefined
  }
}
