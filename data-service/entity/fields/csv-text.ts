import type { Value } from './field.js'
import { TextWriter } from './json-text.js'

// Values as cells of CSV (RFC 4180, contract.md section 4). The gateway has csv-stringify write the header row, and the rows of a
// data service that sends JSON. Here each value is text already, and all that is left of the library's work is the question
// whether it needs quotes: asked by the library, it took more time than everything else of an export together. A test over
// random values holds these bytes to those of csv-stringify.

// Of this module, since the loops over bytes take a third longer with constants of another one.
const COMMA = ','.charCodeAt(0)
const DOUBLE_QUOTE = '"'.charCodeAt(0)
const LAST_ASCII = 0x7f
const HASH = '#'.charCodeAt(0)
const SEMICOLON = ';'.charCodeAt(0)
const TAB = '\t'.charCodeAt(0)
const LF = '\n'.charCodeAt(0)
const CR = '\r'.charCodeAt(0)

/**
 * Bytes that only begin characters beyond U+D000, or that are in no UTF-8 text at all. A database may store half of a pair of
 * surrogates, so a text with one of these bytes is decoded, which replaces what is no character.
 */
const MAYBE_SURROGATE = 0xed
const LAST_FIRST_BYTE = 0xf3

/** A cell that begins as the remark of a file that is cut is quoted, which no remark is. */
const REMARK = '# export '

/** RFC 4180 quotes the first four. Programs of some countries end cells at semicolons, others at tabs. */
const SPECIAL = /[",\r\n;\t]/

/** Characters of the texts that are written one by one. For longer ones the calls into Node are faster. */
const SHORT = 100

/** Writes rows of CSV. */
export class CsvWriter extends TextWriter {
  /** Whether a text that a spreadsheet would take for a formula begins with an apostrophe. */
  readonly #escapesFormulas: boolean

  constructor(memory: Buffer, { escapeFormulas }: { readonly escapeFormulas: boolean }) {
    super(memory)
    this.#escapesFormulas = escapeFormulas
  }

  comma(): void {
    this.byte(COMMA)
  }

  endRow(): void {
    this.byte(CR)
    this.byte(LF)
  }

  /** The bytes so far. What follows is written into other memory. */
  take(next: Buffer): Buffer {
    const taken = this.bytes.subarray(0, this.at)
    this.bytes = next
    this.at = 0
    return taken
  }

  /** A cell with a text, quoted if it needs to be. Most texts are short ASCII: they are looked at and written in one pass. */
  cell(text: string): void {
    const { length } = text
    if (length === 0 || length > SHORT || text.charCodeAt(0) === HASH) return this.text(quotedCell(text))
    this.reserve(length)
    const { bytes } = this
    let { at } = this
    for (let index = 0; index < length; index++) {
      const unit = text.charCodeAt(index)
      if (unit > LAST_ASCII || isSpecial(unit)) return this.text(quotedCell(text))
      bytes[at++] = unit
    }
    this.at = at
  }

  /** The same for a text that anybody may have written. */
  freeCell(text: string): void {
    this.cell(this.#escapesFormulas && isFormula(text.charCodeAt(0)) ? `'${text}` : text)
  }

  /** The same as `cell` for UTF-8. */
  cellOfBytes(buffer: Buffer, start: number, end: number): void {
    // Each byte may become two, and two quotes stand around them.
    this.reserve(2 * (end - start) + 2)
    const { bytes, at: from } = this
    if (start === end || buffer[start] === HASH) return this.cell(buffer.toString('utf8', start, end))
    let to = from
    for (let at = start; at < end; at++) {
      const byte = buffer[at] ?? 0
      if (isSpecial(byte)) return this.#quotedBytes(buffer, start, end)
      if (byte === MAYBE_SURROGATE || byte > LAST_FIRST_BYTE) return this.cell(buffer.toString('utf8', start, end))
      bytes[to++] = byte
    }
    this.at = to
  }

  /** The same as `freeCell` for UTF-8. */
  freeCellOfBytes(buffer: Buffer, start: number, end: number): void {
    const first = end > start ? (buffer[start] ?? 0) : 0
    if (this.#escapesFormulas && (isFormula(first) || first === FULL_WIDTH))
      this.freeCell(buffer.toString('utf8', start, end))
    else this.cellOfBytes(buffer, start, end)
  }

  #quotedBytes(buffer: Buffer, start: number, end: number): void {
    const { bytes } = this
    let to = this.at
    bytes[to++] = DOUBLE_QUOTE
    for (let at = start; at < end; at++) {
      const byte = buffer[at] ?? 0
      if (byte === MAYBE_SURROGATE || byte > LAST_FIRST_BYTE) return this.cell(buffer.toString('utf8', start, end))
      if (byte === DOUBLE_QUOTE) bytes[to++] = DOUBLE_QUOTE
      bytes[to++] = byte
    }
    bytes[to++] = DOUBLE_QUOTE
    this.at = to
  }
}

/** The empty text has quotes because NULL has none. */
function quotedCell(text: string): string {
  const isPlain = text !== '' && !SPECIAL.test(text) && !text.startsWith(REMARK)
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`
}

/** Whether a byte or a character of ASCII makes a cell need quotes. */
function isSpecial(unit: number): boolean {
  return unit === COMMA || unit === DOUBLE_QUOTE || unit === CR || unit === LF || unit === SEMICOLON || unit === TAB
}

/** The first byte of the full-width signs in UTF-8, and of other characters. */
const FULL_WIDTH = 0xef

/** Whether a spreadsheet would take a text for a formula by its first character (OWASP, CSV injection). */
function isFormula(first: number): boolean {
  switch (first) {
    case 0x3d: // =
    case 0x2b: // +
    case 0x2d: // -
    case 0x40: // @
    case 0xff1d: // ＝, which some spreadsheets take for =, as the next ones
    case 0xff0b: // ＋
    case 0xff0d: // －
    case 0xff20: // ＠
    case TAB:
    case CR:
    case LF:
      return true
    default:
      return false
  }
}

/** Writes a decoded value as a cell. NULL is an empty cell. */
export type CellWriter = (value: Value, out: CsvWriter) => void
