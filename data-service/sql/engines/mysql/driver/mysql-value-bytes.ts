import { isUtf8 } from 'node:buffer'
import type { CsvWriter } from '../../../../entity/fields/csv-text.js'
import type { Field } from '../../../../entity/fields/field.js'
import { type JsonWriter, type TextWriter, writeBase64 } from '../../../../entity/fields/json-text.js'
import { shortestFloat } from '../../../../entity/fields/numbers.js'

// The values of a row in the binary protocol, each written from its bytes. Numbers and moments are the same in JSON and in CSV,
// but for quotes, and texts are not. A writer returns false where only the driver's reading and the decoder can say what the
// value is; what it has written by then is to be taken back.

const ZERO_BYTE = '0'.charCodeAt(0)
const NINE_BYTE = '9'.charCodeAt(0)
const MINUS_BYTE = '-'.charCodeAt(0)
const POINT_BYTE = '.'.charCodeAt(0)
const QUOTE_BYTE = '"'.charCodeAt(0)
const BACKSLASH_BYTE = '\\'.charCodeAt(0)
const COLON_BYTE = ':'.charCodeAt(0)
const SPACE_BYTE = ' '.charCodeAt(0)

export function writeFlag(value: number, storage: Field['storage'], out: TextWriter): boolean {
  if (storage === 'flag' && value !== 0 && value !== 1) return false
  out.text(value === 0 ? 'false' : 'true')
  return true
}

export function writeInteger(value: number, out: TextWriter): boolean {
  if (!Number.isSafeInteger(value)) return false
  out.integer(value)
  return true
}

export function writeDouble(value: number, out: TextWriter): boolean {
  out.text(Object.is(value, -0) ? '-0' : String(value))
  return true
}

export function asStored(value: number, storage: Field['storage']): number {
  return storage === 'float' ? shortestFloat(value) : value
}

/**
 * Copies digits. A number with zeros in front, as a ZEROFILL column has, and one with more than `whole` digits before the
 * point are left to the decoder.
 */
export function writeDecimal(
  buffer: Buffer,
  place: number,
  { out, whole }: { readonly out: TextWriter; readonly whole: number }
): boolean {
  let at = startOfText(buffer, place)
  const end = endOfText(buffer, place)
  out.reserve(end - at)
  const { bytes } = out
  if (buffer[at] === MINUS_BYTE) bytes[out.at++] = buffer[at++] ?? 0
  const first = at
  if (buffer[at] === ZERO_BYTE && at + 1 < end && buffer[at + 1] !== POINT_BYTE) return false
  let beforePoint = end - first
  let to = out.at
  for (; at < end; at++) {
    const byte = buffer[at] ?? 0
    if (byte === POINT_BYTE) beforePoint = at - first
    else if (byte < ZERO_BYTE || byte > NINE_BYTE) return false
    bytes[to++] = byte
  }
  out.at = to
  return beforePoint <= whole
}

/** Writes the last digits of a number that is not negative. */
function writeDigits(bytes: Buffer, at: number, { value, digits }: { value: number; readonly digits: number }): number {
  for (let index = at + digits - 1; index >= at; index--) {
    bytes[index] = ZERO_BYTE + (value % 10)
    value = (value / 10) | 0
  }
  return at + digits
}

/** The day of a date or a moment. */
function writeDay(buffer: Buffer, at: number, out: TextWriter): void {
  out.reserve(LONGEST_MOMENT)
  const { bytes } = out
  let to = out.at
  const length = buffer[at] ?? 0
  const year = length === 0 ? 0 : buffer.readUInt16LE(at + 1)
  const month = length === 0 ? 0 : (buffer[at + 3] ?? 0)
  const day = length === 0 ? 0 : (buffer[at + 4] ?? 0)
  to = writeDigits(bytes, to, { value: year, digits: 4 })
  bytes[to++] = MINUS_BYTE
  to = writeDigits(bytes, to, { value: month, digits: 2 })
  bytes[to++] = MINUS_BYTE
  out.at = writeDigits(bytes, to, { value: day, digits: 2 })
}

const T = 'T'.charCodeAt(0)
const Z = 'Z'.charCodeAt(0)

/** Bytes of a date alone, and of a moment without and with a fraction. */
const [OF_DATE, OF_SECONDS, OF_FRACTION] = [4, 7, 11]

/** More bytes than any date or moment has. */
const LONGEST_MOMENT = 40

export function writeDate(buffer: Buffer, at: number, out: TextWriter): boolean {
  const length = buffer[at] ?? 0
  if (length !== 0 && length !== OF_DATE) return false
  writeDay(buffer, at, out)
  return true
}

/** With `digits` digits of a fraction; with as many as the column has, `decimals`, where these are more and not all zero. */
export function writeDateTime(
  buffer: Buffer,
  at: number,
  { out, digits, decimals }: { readonly out: TextWriter; readonly digits: number; readonly decimals: number }
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
    bytes[to++] = part === 7 ? POINT_BYTE : COLON_BYTE
  }
  const stored = hasFraction ? decimals : 0
  const micros = hasFraction ? buffer.readUInt32LE(at + 8) : 0
  // Digits behind those that are shown are cut: the server has rounded before.
  writeDigits(bytes, to, { value: micros, digits: 6 })
  to += stored
  for (let index = stored; index < digits; index++) bytes[to++] = ZERO_BYTE
  bytes[to++] = Z
  out.at = to
  return true
}

/** Where a text begins behind the integer that says its length. */
function startOfText(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0
  return first < 0xfb ? at + 1 : first === 0xfc ? at + 3 : first === 0xfd ? at + 4 : at + 9
}

export function endOfText(buffer: Buffer, at: number): number {
  const first = buffer[at] ?? 0
  if (first < 0xfb) return at + 1 + first
  if (first === 0xfc) return at + 3 + buffer.readUInt16LE(at + 1)
  if (first === 0xfd) return at + 4 + buffer.readUIntLE(at + 1, 3)
  return at + 9 + buffer.readUIntLE(at + 1, 6)
}

/** In JSON. ASCII that needs no escape is copied. Any other text is decoded and written again, as it may need one. */
export function writeText(buffer: Buffer, place: number, out: JsonWriter): boolean {
  const start = startOfText(buffer, place)
  const end = endOfText(buffer, place)
  out.reserve(end - start + 2)
  const { bytes } = out
  let to = out.at
  bytes[to++] = QUOTE_BYTE
  for (let at = start; at < end; at++) {
    const byte = buffer[at] ?? 0
    if (byte < SPACE_BYTE || byte > 0x7f || byte === QUOTE_BYTE || byte === BACKSLASH_BYTE) {
      out.string(buffer.toString('utf8', start, end))
      return true
    }
    bytes[to++] = byte
  }
  bytes[to++] = QUOTE_BYTE
  out.at = to
  return true
}

/** The same of a column of bytes, which may be no text. */
export function writeTextOfBytes(buffer: Buffer, place: number, out: JsonWriter): boolean {
  return isUtf8(readBytes(buffer, place)) && writeText(buffer, place, out)
}

export function writeBytes(buffer: Buffer, place: number, out: JsonWriter): boolean {
  writeBase64(buffer, { start: startOfText(buffer, place), end: endOfText(buffer, place) }, out)
  return true
}

export function readText(buffer: Buffer, place: number): string {
  return buffer.toString('utf8', startOfText(buffer, place), endOfText(buffer, place))
}

export function readBytes(buffer: Buffer, place: number): Buffer {
  return buffer.subarray(startOfText(buffer, place), endOfText(buffer, place))
}

/** A text in CSV: a word of the entity file or a guid. */
export function writeTextCell(buffer: Buffer, place: number, out: CsvWriter): boolean {
  out.cellOfBytes(buffer, startOfText(buffer, place), endOfText(buffer, place))
  return true
}

/** A text in CSV that anybody may have written. */
export function writeFreeTextCell(buffer: Buffer, place: number, out: CsvWriter): boolean {
  out.freeCellOfBytes(buffer, startOfText(buffer, place), endOfText(buffer, place))
  return true
}
