import type { Field, Value } from '../../../entity/fields/field.js'
import { JsonWriter, writeBase64 } from '../../../entity/fields/json-text.js'
import { shortestFloat } from '../../../entity/fields/numbers.js'
import { decodeRow, type FoundRow, type ShownStatement } from '../statement.js'

// Rows of prepared statements as the server sent them, in the binary protocol. Most values of an answer are only shown, so
// their JSON is written from the bytes of the row, without a JavaScript value in between.

/** The driver's command that runs a prepared statement; its types leave this out. */
interface ExecuteCommand {
  /** The driver makes an instance of the class for each result, and asks it for each row. */
  buildParserFromFields(fields: readonly DriverField[], connection: unknown): new () => RowParser
  readonly options: object
}

interface RowParser {
  next(packet: DriverPacket, fields: readonly DriverField[], options: object): unknown
}

/** The bytes of a row. The driver uses one object for all rows. */
interface DriverPacket {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
}

type PacketClass = new (id: number, buffer: Buffer, start: number, end: number) => DriverPacket

/** What the server says of a column of the result. */
interface DriverField {
  readonly columnType: number
  readonly flags: number
  /** The driver's name of the character set; `binary` for bytes. */
  readonly encoding: string
  /** Digits of a fraction. */
  readonly decimals: number
}

/**
 * Makes a command of the driver answer each row as a MysqlRow. A driver without such commands answers arrays. To be called
 * in the turn in which the command was made: the first answer of the server is read in a later one.
 */
export function keepRows(command: unknown, statement: ShownStatement): void {
  if (!isExecuteCommand(command)) return
  const build = command.buildParserFromFields
  command.buildParserFromFields = (fields, connection) => {
    const rows = new RowsOfResult(statement, fields, (packet) => {
      const parser = new (build.call(command, fields, connection))()
      return parser.next(packet, fields, command.options)
    })
    // What a constructor returns is what `new` makes.
    return function parser() {
      return rows
    } as unknown as new () => RowParser
  }
}

function isExecuteCommand(command: unknown): command is ExecuteCommand {
  return (
    typeof command === 'object' &&
    command !== null &&
    'buildParserFromFields' in command &&
    typeof command.buildParserFromFields === 'function'
  )
}

/** The header of a packet, before its payload. */
const PACKET_HEADER = 4

/** The first two bits of a row's bitmap are unused. */
const FIRST_NULL_BIT = 2

/** The rows of one result. */
class RowsOfResult implements RowParser {
  readonly statement: ShownStatement
  readonly columns: readonly ResultColumn[]
  readonly #parse: (packet: DriverPacket) => unknown
  #packetClass: PacketClass | undefined
  /** Where the values of one row begin; -1 for null. */
  readonly #places: Int32Array
  #placed: MysqlRow | undefined

  constructor(statement: ShownStatement, fields: readonly DriverField[], parse: (packet: DriverPacket) => unknown) {
    this.statement = statement
    this.columns = columnsOf(statement, fields)
    this.#parse = parse
    this.#places = new Int32Array(fields.length)
  }

  next(packet: DriverPacket): MysqlRow {
    this.#packetClass ??= packet.constructor as PacketClass
    return new MysqlRow(this, packet)
  }

  /** The values as the driver reads them. */
  decoded({ buffer, start, end }: MysqlRow): Value[] {
    const Packet = this.#packetClass
    const raw = Packet === undefined ? undefined : this.#parse(new Packet(0, buffer, start, end))
    if (!Array.isArray(raw)) throw new TypeError('The driver reads no row')
    return decodeRow(this.statement, raw)
  }

  /** Where the values of a row begin. Valid until it is asked for another row. */
  placesOf(row: MysqlRow): Int32Array {
    if (this.#placed === row) return this.#places
    const { buffer, start } = row
    const bitmap = start + PACKET_HEADER + 1
    let at = bitmap + ((this.columns.length + 7 + FIRST_NULL_BIT) >> 3)
    for (let index = 0; index < this.columns.length; index++) {
      const bit = index + FIRST_NULL_BIT
      const isNull = ((buffer[bitmap + (bit >> 3)] ?? 0) & (1 << (bit & 7))) !== 0
      this.#places[index] = isNull ? -1 : at
      if (isNull) continue
      const size = this.columns[index]?.size ?? 0
      at = size === LENGTH_CODED ? endOfText(buffer, at) : size === LENGTH_BYTE ? at + 1 + (buffer[at] ?? 0) : at + size
    }
    this.#placed = row
    return this.#places
  }
}

/** A row whose values are decoded when they are asked for. */
export class MysqlRow implements FoundRow {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  readonly #of: RowsOfResult
  #values: readonly Value[] | undefined

  constructor(of: RowsOfResult, { buffer, start, end }: DriverPacket) {
    this.#of = of
    this.buffer = buffer
    this.start = start
    this.end = end
  }

  get values(): readonly Value[] {
    return (this.#values ??= this.#of.decoded(this))
  }

  value(at: number): Value {
    if (this.#values !== undefined) return this.#values[at] ?? null
    const place = this.#of.placesOf(this)[at] ?? -1
    if (place < 0) return null
    const value = this.#of.columns[at]?.read?.(this.buffer, place)
    return value === undefined ? (this.values[at] ?? null) : value
  }

  write(at: number, out: JsonWriter): void {
    const place = this.#of.placesOf(this)[at] ?? -1
    if (place < 0) return out.text('null')
    const begin = out.at
    if (this.#of.columns[at]?.write?.(this.buffer, place, out) === true) return
    out.at = begin
    this.#of.statement.write[at]?.(this.values[at] ?? null, out)
  }
}

/** Writes the JSON of the value at a place of a row. false where only the driver's reading and the decoder can say what it is. */
type WritePlace = (buffer: Buffer, at: number, out: JsonWriter) => boolean

/** Reads the value at a place of a row, in the form of the service. undefined: as `false` above. */
type ReadPlace = (buffer: Buffer, at: number) => Value | undefined

interface ResultColumn {
  /** Bytes of a value, LENGTH_BYTE or LENGTH_CODED. */
  readonly size: number
  readonly write: WritePlace | undefined
  readonly read: ReadPlace | undefined
}

/** One byte says how many bytes follow. */
const LENGTH_BYTE = -1
/** An integer of variable length says how many bytes follow. */
const LENGTH_CODED = -2

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

const TEXTS: ReadonlySet<number> = new Set<number>([
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
const compiled = new WeakMap<ShownStatement, CompiledColumns>()

function columnsOf(statement: ShownStatement, fields: readonly DriverField[]): readonly ResultColumn[] {
  const known = compiled.get(statement)
  if (known !== undefined && areSame(known.fields, fields)) return known.columns
  const columns = fields.map((field, index) => columnOf(field, statement.fields[index]))
  const kept = fields.map(({ columnType, flags, encoding, decimals }) => ({ columnType, flags, encoding, decimals }))
  compiled.set(statement, { fields: kept, columns })
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

function columnOf(driver: DriverField, field: Field | 'rowVersion' | undefined): ResultColumn {
  const size = SIZES.get(driver.columnType) ?? LENGTH_CODED
  if (field === undefined) return { size, write: undefined, read: undefined }
  const isBinary = field === 'rowVersion' || field.type === 'binary'
  if (isBinary) {
    const isBytes = TEXTS.has(driver.columnType) && driver.encoding === 'binary'
    return isBytes ? { size, write: writeBytes, read: readBytes } : { size, write: undefined, read: undefined }
  }
  const write = writerOf(driver, field)
  return { size, write, read: write && (keyReader(driver, field) ?? readerOf(write, field)) }
}

/** How a value is written; undefined where the driver's reading and the decoder of mysql-dialect.ts have to do it. */
function writerOf(driver: DriverField, { type, storage, precision, scale }: Field): WritePlace | undefined {
  const { columnType } = driver
  const integer = integerReader(driver)
  switch (type) {
    case 'bool':
      return integer && ((buffer, at, out) => writeFlag(integer(buffer, at), out))
    case 'int':
      return integer && ((buffer, at, out) => writeInteger(integer(buffer, at), out))
    case 'long':
      return integer && ((buffer, at, out) => quoted(out, writeInteger(integer(buffer, at), openQuote(out))))
    case 'double':
      if (columnType === TYPE.float)
        return (buffer, at, out) => writeDouble(asStored(buffer.readFloatLE(at), storage), out)
      return columnType === TYPE.double
        ? (buffer, at, out) => writeDouble(asStored(buffer.readDoubleLE(at), storage), out)
        : undefined
    case 'decimal': {
      const whole = Math.max(precision - scale, 1)
      return columnType === TYPE.newDecimal
        ? (buffer, at, out) => quoted(out, writeDecimal(buffer, at, { out: openQuote(out), whole }))
        : undefined
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
      return TEXTS.has(columnType) && driver.encoding === 'utf8' ? writeText : undefined
    case 'time':
    case 'set':
    case 'json':
    case 'binary':
      return undefined
  }
}

/** Most keys are integers. */
function keyReader(driver: DriverField, { type }: Field): ReadPlace | undefined {
  const integer = integerReader(driver)
  if (integer === undefined || (type !== 'int' && type !== 'long')) return undefined
  return (buffer, at) => {
    const value = integer(buffer, at)
    if (!Number.isSafeInteger(value)) return undefined
    return type === 'int' ? value : String(value)
  }
}

const scratch = new JsonWriter(1024)

/** Values have the form of the wire (field.ts), so they can be read from their JSON. */
function readerOf(write: WritePlace, { type }: Field): ReadPlace {
  return (buffer, at) => {
    scratch.reset()
    if (!write(buffer, at, scratch)) return undefined
    const json = scratch.bytes.toString('utf8', 0, scratch.at)
    if (type === 'int' || type === 'double') return Number(json)
    if (type === 'bool') return json === 'true'
    const text: unknown = JSON.parse(json)
    return typeof text === 'string' ? text : undefined
  }
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

const ZERO = '0'.charCodeAt(0)
const NINE = '9'.charCodeAt(0)
const MINUS = '-'.charCodeAt(0)
const POINT = '.'.charCodeAt(0)
const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const COLON = ':'.charCodeAt(0)
const SPACE = ' '.charCodeAt(0)

function openQuote(out: JsonWriter): JsonWriter {
  out.byte(QUOTE)
  return out
}

/** Closes the quote of what was written, if it could be written. */
function quoted(out: JsonWriter, isWritten: boolean): boolean {
  out.byte(QUOTE)
  return isWritten
}

function writeFlag(value: number, out: JsonWriter): boolean {
  out.text(value === 1 ? 'true' : 'false')
  return value === 0 || value === 1
}

function writeInteger(value: number, out: JsonWriter): boolean {
  if (!Number.isSafeInteger(value)) return false
  out.text(String(value))
  return true
}

function writeDouble(value: number, out: JsonWriter): boolean {
  out.text(Object.is(value, -0) ? '-0' : String(value))
  return true
}

function asStored(value: number, storage: Field['storage']): number {
  return storage === 'float' ? shortestFloat(value) : value
}

/**
 * Copies digits. A number with zeros in front, as a ZEROFILL column has, and one with more than `whole` digits before the
 * point are left to the decoder.
 */
function writeDecimal(
  buffer: Buffer,
  place: number,
  { out, whole }: { readonly out: JsonWriter; readonly whole: number }
): boolean {
  let at = startOfText(buffer, place)
  const end = endOfText(buffer, place)
  out.reserve(end - at + 1)
  const { bytes } = out
  if (buffer[at] === MINUS) bytes[out.at++] = buffer[at++] ?? 0
  const first = at
  if (buffer[at] === ZERO && at + 1 < end && buffer[at + 1] !== POINT) return false
  let beforePoint = end - first
  let to = out.at
  for (; at < end; at++) {
    const byte = buffer[at] ?? 0
    if (byte === POINT) beforePoint = at - first
    else if (byte < ZERO || byte > NINE) return false
    bytes[to++] = byte
  }
  out.at = to
  return beforePoint <= whole
}

/** Writes the last digits of a number that is not negative. */
function writeDigits(bytes: Buffer, at: number, { value, digits }: { value: number; readonly digits: number }): number {
  for (let index = at + digits - 1; index >= at; index--) {
    bytes[index] = ZERO + (value % 10)
    value = (value / 10) | 0
  }
  return at + digits
}

/** The day of a date or a moment, after a quote. */
function writeDay(buffer: Buffer, at: number, out: JsonWriter): void {
  out.reserve(LONGEST_MOMENT)
  const { bytes } = out
  let to = out.at
  const length = buffer[at] ?? 0
  const year = length === 0 ? 0 : buffer.readUInt16LE(at + 1)
  const month = length === 0 ? 0 : (buffer[at + 3] ?? 0)
  const day = length === 0 ? 0 : (buffer[at + 4] ?? 0)
  bytes[to++] = QUOTE
  to = writeDigits(bytes, to, { value: year, digits: 4 })
  bytes[to++] = MINUS
  to = writeDigits(bytes, to, { value: month, digits: 2 })
  bytes[to++] = MINUS
  out.at = writeDigits(bytes, to, { value: day, digits: 2 })
}

const T = 'T'.charCodeAt(0)
const Z = 'Z'.charCodeAt(0)

/** Bytes of a date alone, and of a moment without and with a fraction. */
const [OF_DATE, OF_SECONDS, OF_FRACTION] = [4, 7, 11]

/** More than any JSON text of a date or a moment. */
const LONGEST_MOMENT = 40

function writeDate(buffer: Buffer, at: number, out: JsonWriter): boolean {
  const length = buffer[at] ?? 0
  if (length !== 0 && length !== OF_DATE) return false
  writeDay(buffer, at, out)
  out.byte(QUOTE)
  return true
}

/** With `digits` digits of a fraction; with as many as the column has, `decimals`, where these are more and not all zero. */
function writeDateTime(
  buffer: Buffer,
  at: number,
  { out, digits, decimals }: { readonly out: JsonWriter; readonly digits: number; readonly decimals: number }
): boolean {
  const length = buffer[at] ?? 0
  const hasTime = length >= OF_SECONDS
  const hasFraction = length === OF_FRACTION
  if (length !== 0 && length !== OF_DATE && length !== OF_SECONDS && !hasFraction) return false
  // A fraction of a column that has none: the driver's reading decides.
  if (hasFraction && (decimals === 0 || decimals > 6)) return false
  writeDay(buffer, at, out)
  const { bytes } = out
  let to = out.at
  bytes[to++] = T
  for (const part of [5, 6, 7]) {
    to = writeDigits(bytes, to, { value: hasTime ? (buffer[at + part] ?? 0) : 0, digits: 2 })
    bytes[to++] = part === 7 ? POINT : COLON
  }
  const stored = hasFraction ? decimals : 0
  const micros = hasFraction ? buffer.readUInt32LE(at + 8) : 0
  // Digits behind those that are shown are cut: the server has rounded before.
  writeDigits(bytes, to, { value: micros, digits: 6 })
  to += stored
  for (let index = stored; index < digits; index++) bytes[to++] = ZERO
  bytes[to++] = Z
  bytes[to++] = QUOTE
  out.at = to
  return true
}

/** Where a text begins behind the integer that says its length. */
function startOfText(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0
  return first < 0xfb ? at + 1 : first === 0xfc ? at + 3 : first === 0xfd ? at + 4 : at + 9
}

function endOfText(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0
  if (first < 0xfb) return at + 1 + first
  if (first === 0xfc) return at + 3 + buffer.readUInt16LE(at + 1)
  if (first === 0xfd) return at + 4 + buffer.readUIntLE(at + 1, 3)
  return at + 9 + buffer.readUIntLE(at + 1, 6)
}

/** ASCII that needs no escape is copied. Any other text is decoded and written again, as it may need one. */
function writeText(buffer: Buffer, place: number, out: JsonWriter): boolean {
  const start = startOfText(buffer, place)
  const end = endOfText(buffer, place)
  out.reserve(end - start + 2)
  const { bytes } = out
  let to = out.at
  bytes[to++] = QUOTE
  for (let at = start; at < end; at++) {
    const byte = buffer[at] ?? 0
    if (byte < SPACE || byte > 0x7f || byte === QUOTE || byte === BACKSLASH) {
      out.string(buffer.toString('utf8', start, end))
      return true
    }
    bytes[to++] = byte
  }
  bytes[to++] = QUOTE
  out.at = to
  return true
}

function writeBytes(buffer: Buffer, place: number, out: JsonWriter): boolean {
  writeBase64(buffer, { start: startOfText(buffer, place), end: endOfText(buffer, place) }, out)
  return true
}

function readBytes(buffer: Buffer, place: number): Buffer {
  return buffer.subarray(startOfText(buffer, place), endOfText(buffer, place))
}
