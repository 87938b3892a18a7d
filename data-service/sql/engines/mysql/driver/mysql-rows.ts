import type { CsvWriter } from '../../../../entity/fields/csv-text.js'
import type { Value } from '../../../../entity/fields/field.js'
import type { JsonWriter } from '../../../../entity/fields/json-text.js'
import type { UnshownValue } from '../../../../entity/fields/unshown.js'
import type { AnswerBytes } from '../../answer-bytes.js'
import { allShown, type CsvRow, decodeParts, shownAt, type ShownStatement } from '../../statement.js'
import { EXECUTE, type RowPacket, type RowParser } from './mysql-inner.js'
import { columnsOf, type DriverField, LENGTH_BYTE, LENGTH_CODED, type ResultColumn } from './mysql-result-columns.js'
import { endOfText } from './mysql-value-bytes.js'

// Rows of prepared statements as the server sent them, in the binary protocol. Most values of an answer are only shown, so
// their JSON or CSV is written from the bytes of the row, without a JavaScript value in between.

type PacketClass = new (id: number, buffer: Buffer, start: number, end: number) => RowPacket

/**
 * Makes a command of the driver answer each row as a MysqlRow. To be called in the turn in which the command was made: the
 * first answer of the server is read in a later one. A row that `bytes` does not hold is not kept.
 */
export function keepRows(command: object, statement: ShownStatement, bytes?: AnswerBytes): void {
  const driver = EXECUTE.of(command)
  const build = driver.buildParserFromFields
  driver.buildParserFromFields = (fields, connection) => {
    const rows = new RowsOfResult(statement, fields, (packet, options) => {
      const parser = new (build.call(command, fields, connection))()
      return parser.next(packet, fields, options)
    })
    built = bytes === undefined ? rows : countedIn(bytes, rows)
    return BuiltParser
  }
}

/** The parser that was built last. The driver makes its instance of the class at once. */
let built: RowParser | undefined

function countedIn(bytes: AnswerBytes, rows: RowParser): RowParser {
  return {
    next: (packet, ...others) => (bytes.holds(packet.end - packet.start) ? rows.next(packet, ...others) : undefined)
  }
}

/** What a constructor returns is what `new` makes. A class for each result would take V8 longer to make than a row to read. */
const BuiltParser = function () {
  return built
} as unknown as new () => RowParser

/** The header of a packet, before its payload. */
const PACKET_HEADER = 4

/** The first two bits of a row's bitmap are unused. */
const FIRST_NULL_BIT = 2

type ParseRow = (packet: RowPacket, options: object) => unknown

/** The rows of one result. */
class RowsOfResult implements RowParser {
  readonly statement: ShownStatement
  readonly columns: readonly ResultColumn[]
  readonly #parse: ParseRow
  #packetClass: PacketClass | undefined
  /** Of the driver's command. */
  #options: object = {}
  /** Where the values of one row begin; -1 for null. */
  readonly #places: Int32Array
  #placed: MysqlRow | undefined

  constructor(statement: ShownStatement, fields: readonly DriverField[], parse: ParseRow) {
    this.statement = statement
    this.columns = columnsOf(statement, fields)
    this.#parse = parse
    this.#places = new Int32Array(fields.length)
  }

  next(packet: RowPacket, _fields: unknown, options: object): MysqlRow {
    this.#packetClass ??= packet.constructor as PacketClass
    this.#options = options
    return new MysqlRow(this, packet)
  }

  /** The values as the driver reads them. */
  decoded({ buffer, start, end }: MysqlRow): (Value | UnshownValue)[] {
    const Packet = this.#packetClass
    const raw = Packet === undefined ? undefined : this.#parse(new Packet(0, buffer, start, end), this.#options)
    if (!Array.isArray(raw)) throw new TypeError('The driver reads no row')
    return decodeParts(this.statement, raw)
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
export class MysqlRow implements CsvRow {
  readonly buffer: Buffer
  readonly start: number
  readonly end: number
  readonly #of: RowsOfResult
  #parts: (Value | UnshownValue)[] | undefined

  constructor(of: RowsOfResult, { buffer, start, end }: RowPacket) {
    this.#of = of
    this.buffer = buffer
    this.start = start
    this.end = end
  }

  get values(): readonly Value[] {
    return allShown((this.#parts ??= this.#of.decoded(this)))
  }

  get bytes(): number {
    return this.end - this.start
  }

  value(at: number): Value {
    if (this.#parts !== undefined) return shownAt(this.#parts, at)
    const place = this.#of.placesOf(this)[at] ?? -1
    if (place < 0) return null
    const value = this.#of.columns[at]?.read?.(this.buffer, place)
    return value === undefined ? this.#decodedAt(at) : value
  }

  #decodedAt(at: number): Value {
    return shownAt((this.#parts ??= this.#of.decoded(this)), at)
  }

  write(at: number, out: JsonWriter): void {
    const place = this.#of.placesOf(this)[at] ?? -1
    if (place < 0) return out.text('null')
    const begin = out.at
    if (this.#of.columns[at]?.write?.(this.buffer, place, out) === true) return
    out.at = begin
    this.#of.statement.write[at]?.(this.#decodedAt(at), out)
  }

  writeCells(some: readonly number[], out: CsvWriter): void {
    const { buffer } = this
    const { columns, statement } = this.#of
    const places = this.#of.placesOf(this)
    for (let index = 0; index < some.length; index++) {
      if (index > 0) out.comma()
      const at = some[index] ?? 0
      const place = places[at] ?? -1
      if (place < 0) continue
      const begin = out.at
      if (columns[at]?.writeCell?.(buffer, place, out) === true) continue
      out.at = begin
      statement.writeCell[at]?.(this.#decodedAt(at), out)
    }
  }
}
