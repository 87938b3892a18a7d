import { DomainError, rejectionAt } from '../errors.js'
import { BODY_TOO_DEEP, MAX_BODY_DEPTH } from './wire.js'

/** Values of a body: objects, arrays, texts, numbers, booleans and nulls. Each costs the event loop microseconds here and there. */
export const MAX_BODY_VALUES = 50_000

/**
 * Whether all arrays, objects and strings of a JSON text are closed. Throws `body.too-large` if it holds too many values, and
 * `body.invalid` if it is nested too deeply. It is for both transports, before a parser builds anything.
 */
export function isWithinBounds(body: Uint8Array): boolean {
  const { deepest, balanced, values } = scan(body)
  if (!balanced) return false
  if (deepest > MAX_BODY_DEPTH) {
    throw rejectionAt('body.invalid', BODY_TOO_DEEP, { place: { in: 'pointer', name: '' } })
  }
  if (values > MAX_BODY_VALUES) {
    throw new DomainError('body.too-large', `The body holds more than ${MAX_BODY_VALUES} values. Send it in parts.`)
  }
  return true
}

/** Whether a JSON text holds more values than a body may. */
export function hasTooManyValues(text: string): boolean {
  return text.length > MAX_BODY_VALUES && scan(Buffer.from(text)).values > MAX_BODY_VALUES
}

/** How many values a JSON text holds. */
export function countValues(body: Uint8Array): number {
  return scan(body).values
}

const QUOTATION_MARK = 0x22
const REVERSE_SOLIDUS = 0x5c
/** `[` and `{`, and `]` and `}`, differ in this bit only. */
const BRACE_BIT = 0x20
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d
const COMMA_BYTE = 0x2c
/** The greatest of the bytes that JSON has between its tokens. */
const LAST_WHITE_SPACE = 0x20

interface Scan {
  /** The largest number of arrays and objects that are open at once. */
  readonly deepest: number
  /** Whether all of them and all strings are closed. */
  readonly balanced: boolean
  readonly values: number
}

/** Looks at each byte once and keeps nothing. */
function scan(body: Uint8Array): Scan {
  let depth = 0
  let deepest = 0
  let values = 1
  let inString = false
  let isFirst = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at] ?? 0
    if (inString) {
      if (byte === QUOTATION_MARK) inString = false
      else if (byte === REVERSE_SOLIDUS) at++
      continue
    }
    if (byte <= LAST_WHITE_SPACE) continue
    const closes = (byte | BRACE_BIT) === CLOSING_BRACE
    // The first value of an array or object has no comma before it; each of the others has one.
    if (byte === COMMA_BYTE || (isFirst && !closes)) values++
    isFirst = (byte | BRACE_BIT) === OPENING_BRACE
    if (isFirst) deepest = Math.max(deepest, ++depth)
    else if (byte === QUOTATION_MARK) inString = true
    else if (closes && --depth < 0) break
  }
  return { deepest, balanced: depth === 0 && !inString, values }
}
