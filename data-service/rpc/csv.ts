import type { CsvOptions__Output } from '../../shared/gen/entity/v1/CsvOptions.js'
import type { ExportRows } from '../../shared/gen/entity/v1/ExportRows.js'
import type { Value } from '../entity/fields/field.js'
import type { Projection } from '../plan/model/plans.js'
import type { BatchWriter } from '../plan/model/stores.js'
import { typeOf, type ValueProperty, valueReader } from './json.js'

// The rows of an export as CSV (RFC 4180, contract.md section 4). The gateway has csv-stringify write the header row, and
// the rows of a data service that sends JSON. Here each value is text already, and all that is left of the library's work
// is the question whether it needs quotes: asked by the library, it took more time than everything else of an export
// together. A test over random values holds these bytes to those of csv-stringify.

/** Bytes of a message: large enough to be cheap, small enough for slow readers and for other calls of the process. */
const MESSAGE_BYTES = 64 * 1024

/** Room behind them for a row that is begun before the message is cut. A longer row makes the buffer grow. */
const ROW_BYTES = 4096

/** The bytes that a UTF-16 code unit may take as UTF-8. */
const MAX_BYTES_OF_UNIT = 3

/** Characters of the texts that are written one by one. For longer ones the calls into Node are faster. */
const SHORT = 100

const COMMA = 0x2c
const CR = 0x0d
const LF = 0x0a
const QUOTE = 0x22

/** The bytes of one message. */
class CsvBuffer {
  #bytes = Buffer.allocUnsafe(MESSAGE_BYTES + ROW_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  /** The bytes so far. The next message gets a buffer of its own. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = Buffer.allocUnsafe(MESSAGE_BYTES + ROW_BYTES)
    this.#length = 0
    return taken
  }

  comma(): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = COMMA
  }

  endRow(): void {
    this.#reserve(2)
    this.#bytes[this.#length++] = CR
    this.#bytes[this.#length++] = LF
  }

  /** A text that needs no quotes. */
  plain(value: string): void {
    this.#reserve(value.length * MAX_BYTES_OF_UNIT)
    this.#length += this.#bytes.write(value, this.#length)
  }

  /** A text, quoted if it needs to be. Most texts are short ASCII: they are looked at and written in one pass. */
  text(value: string): void {
    const { length } = value
    if (length === 0 || length > SHORT || value.charCodeAt(0) === HASH) return this.plain(quoted(value))
    this.#reserve(length)
    const bytes = this.#bytes
    let at = this.#length
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index)
      if (unit > 0x7f || unit === COMMA || unit === QUOTE || unit === CR || unit === LF)
        return this.plain(quoted(value))
      bytes[at++] = unit
    }
    this.#length = at
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

/** The empty text has quotes because NULL has none, and what begins as the remark of a file that is cut, which has none. */
function quoted(value: string): string {
  const isPlain = value !== '' && !SPECIAL.test(value) && !value.startsWith(REMARK)
  return isPlain ? value : `"${value.replaceAll('"', '""')}"`
}

const SPECIAL = /[",\r\n]/
const HASH = 0x23
const REMARK = '# export '

/** Writes rows in messages of bounded size, each row with its CRLF. */
export function csvWriter(
  shown: readonly ValueProperty[],
  projection: Projection,
  options: CsvOptions__Output
): () => BatchWriter<ExportRows> {
  const [first, ...others] = shown.map((property) => cellOf(property, projection, options))
  if (first === undefined) throw new TypeError('an export without columns')
  return () => {
    const messages: ExportRows[] = []
    const buffer = new CsvBuffer()
    let cut = 0
    let count = 0
    const cutMessage = (): void => {
      cut += buffer.length
      messages.push({ csv: buffer.take(), count })
      count = 0
    }
    return {
      add(values) {
        first(values, buffer)
        for (const cell of others) {
          buffer.comma()
          cell(values, buffer)
        }
        buffer.endRow()
        count += 1
        if (buffer.length >= MESSAGE_BYTES) cutMessage()
      },
      get bytes() {
        return cut + buffer.length
      },
      finish() {
        if (count > 0) cutMessage()
        return messages
      }
    }
  }
}

/** Writes a cell of a row. NULL is an empty cell. */
type Cell = (values: readonly Value[], to: CsvBuffer) => void

function cellOf(property: ValueProperty, projection: Projection, { escapeFormulas }: CsvOptions__Output): Cell {
  const { read, encode } = valueReader(property, projection)
  const type = typeOf(property)
  if (type === 'string' && escapeFormulas) {
    return (values, to) => {
      const value = read(values)
      if (value === null) return
      const text = String(value)
      to.text(isFormula(text) ? `'${text}` : text)
    }
  }
  const textOf: (value: Exclude<Value, null>) => string = type === 'double' ? encode : String
  return (values, to) => {
    const value = read(values)
    if (value !== null) to.text(typeof value === 'string' ? value : textOf(value))
  }
}

/** Whether a spreadsheet would take the text for a formula by its first character (OWASP, CSV injection). */
function isFormula(value: string): boolean {
  switch (value.charCodeAt(0)) {
    case 0x3d: // =
    case 0x2b: // +
    case 0x2d: // -
    case 0x40: // @
    case 0x09: // tab
    case 0x0d: // CR
      return true
    default:
      return false
  }
}
