import type { Value } from './field.js'
import type { UnshownValues } from './unshown.js'

/** A value as JSON text. */
export type ValueEncoder = (value: Value) => string

/** The same, written at once. */
export type ValueWriter = (value: Value, out: JsonWriter) => void

/** Bytes of the memory that all answers are written in, one after another. It grows for a larger answer. */
const ROOM = 256 * 1024

/** Larger memory is given back after the answer that needed it. */
const MAX_ROOM = 1024 * 1024

/** Characters of a text that are written one by one. A native call takes longer up to about this length. */
const SHORT_TEXT = 48

const QUOTE = '"'.charCodeAt(0)
const BACKSLASH = '\\'.charCodeAt(0)
const SPACE = ' '.charCodeAt(0)
const DELETE = 0x7f
const ZERO = '0'.charCodeAt(0)
const MINUS = '-'.charCodeAt(0)

/** Of a safe integer, with its sign. */
const MAX_DIGITS = 17
const BILLION = 1_000_000_000

/** Writes text as UTF-8 into memory that grows. */
export class TextWriter {
  /** What is written is at the beginning, up to `at`. Whoever writes here makes room first. */
  bytes: Buffer
  at = 0
  /** Where values that cannot be shown are named; undefined for an answer that has no place for them. */
  unshown: UnshownValues | undefined

  /** `memory`: to begin with. */
  constructor(memory: Buffer) {
    this.bytes = memory
  }

  /** Makes room for so many bytes after `at`. */
  reserve(count: number): void {
    if (this.at + count <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, this.at + count))
    this.bytes.copy(larger, 0, 0, this.at)
    this.bytes = larger
  }

  byte(byte: number): void {
    this.reserve(1)
    this.bytes[this.at++] = byte
  }

  /** Writes text as it is. */
  text(text: string): void {
    const { length } = text
    this.reserve(3 * length)
    const { bytes } = this
    if (length <= SHORT_TEXT) {
      let { at } = this
      let index = 0
      for (; index < length; index++) {
        const character = text.charCodeAt(index)
        if (character > DELETE) break
        bytes[at++] = character
      }
      if (index === length) {
        this.at = at
        return
      }
    }
    this.at += bytes.write(text, this.at, 'utf8')
  }

  /** Takes back what was written from `at` on of a value that cannot be shown. Throws where the answer has no place to say so. */
  hide(error: unknown, { property, at }: { readonly property: string; readonly at: number }): void {
    if (this.unshown === undefined) throw error
    this.unshown.add(error, property)
    this.at = at
  }

  /** Writes the digits of a safe integer. */
  integer(value: number): void {
    this.reserve(MAX_DIGITS)
    let left = value
    if (left < 0) {
      this.bytes[this.at++] = MINUS
      left = -left
    }
    if (left < BILLION) return this.#digits(left, digitsOf(left))
    const high = Math.floor(left / BILLION)
    this.#digits(high, digitsOf(high))
    this.#digits(left - high * BILLION, 9)
  }

  /** Writes the last `count` digits of an integer of at most 31 bits. */
  #digits(value: number, count: number): void {
    const { bytes, at } = this
    let left = value | 0
    for (let to = at + count - 1; to >= at; to--) {
      const tenth = (left / 10) | 0
      bytes[to] = ZERO + left - 10 * tenth
      left = tenth
    }
    this.at = at + count
  }
}

/** How many digits an integer from 0 to 999,999,999 has. */
function digitsOf(value: number): number {
  if (value < 10_000) return value < 100 ? (value < 10 ? 1 : 2) : value < 1000 ? 3 : 4
  if (value < 1_000_000) return value < 100_000 ? 5 : 6
  return value < 10_000_000 ? 7 : value < 100_000_000 ? 8 : 9
}

/** Writes JSON text. `jsonBytes` hands one out. */
export class JsonWriter extends TextWriter {
  /** Where the first array of items begins. */
  arraysFrom: number | undefined

  /** `room`: bytes to begin with. */
  constructor(room = ROOM) {
    super(Buffer.allocUnsafeSlow(room))
  }

  /** Writes text as a JSON string. */
  string(text: string): void {
    const { length } = text
    if (length <= SHORT_TEXT) {
      this.reserve(length + 2)
      const { bytes } = this
      let { at } = this
      bytes[at++] = QUOTE
      let index = 0
      for (; index < length; index++) {
        const character = text.charCodeAt(index)
        if (character < SPACE || character > DELETE || character === QUOTE || character === BACKSLASH) break
        bytes[at++] = character
      }
      if (index === length) {
        bytes[at++] = QUOTE
        this.at = at
        return
      }
    }
    this.text(JSON.stringify(text))
  }

  /** Begins the next answer, after one that may have been left unfinished by an error. */
  reset(): void {
    this.at = 0
    if (this.bytes.length > MAX_ROOM) this.bytes = Buffer.allocUnsafeSlow(ROOM)
  }
}

const DIGITS = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
const PADDING = '='.charCodeAt(0)

/** Writes some bytes of a buffer as a JSON string of padded standard base64 (RFC 4648 section 4). */
export function writeBase64(
  buffer: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  out: JsonWriter
): void {
  if (end - start > SHORT_TEXT) {
    out.text(`"${buffer.toString('base64', start, end)}"`)
    return
  }
  out.reserve(2 * (end - start) + 6)
  const { bytes } = out
  let to = out.at
  bytes[to++] = QUOTE
  for (let at = start; at < end; at += 3) {
    const left = end - at
    const bits =
      ((buffer[at] ?? 0) << 16) | (left > 1 ? (buffer[at + 1] ?? 0) << 8 : 0) | (left > 2 ? (buffer[at + 2] ?? 0) : 0)
    bytes[to++] = DIGITS[bits >> 18] ?? 0
    bytes[to++] = DIGITS[(bits >> 12) & 63] ?? 0
    bytes[to++] = left > 1 ? (DIGITS[(bits >> 6) & 63] ?? 0) : PADDING
    bytes[to++] = left > 2 ? (DIGITS[bits & 63] ?? 0) : PADDING
  }
  bytes[to++] = QUOTE
  out.at = to
}

const shared = new JsonWriter()
let isWriting = false

/** The bytes that `write` writes, which has to be synchronous. Not within another call of this function. */
export function jsonBytes(write: (out: JsonWriter) => void, unshown?: UnshownValues): Buffer {
  if (isWriting) throw new TypeError('Another JSON text is being written')
  isWriting = true
  shared.unshown = unshown
  shared.arraysFrom = undefined
  try {
    write(shared)
    return Buffer.from(shared.bytes.subarray(0, shared.at))
  } finally {
    shared.reset()
    isWriting = false
  }
}
