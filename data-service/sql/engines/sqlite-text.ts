import type { Field, FieldType, Operand, Value } from '../../entity/field.js'
import { formatDecimal, INT64, parseDecimal, unscaledAt } from '../../entity/numbers.js'
import type { SqlDialect } from './engine.js'
import { type BoundValue, undecodable } from './statement.js'

/**
 * ASCII in the order of utf8mb4_uca1400_nopad_as_ci, taken from a MariaDB server (a test compares both databases): white
 * space, punctuation, digits, letters without case. The missing characters are control characters, which it ignores.
 */
const ASCII_ORDER = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz'

/** The key of the first character. In match keys the one below it stands for every ignored character. */
const FIRST_KEY = 0x21
const IGNORED_KEY = String.fromCharCode(FIRST_KEY - 1)

const sortKeys = asciiKeys('')
const matchKeys = asciiKeys(IGNORED_KEY)

/**
 * A key whose code points have the order of the text: it ignores letter case, accents and trailing spaces count, ASCII
 * is ordered as on MariaDB, and all other letters follow by code point.
 */
export function sortKey(text: string): string {
  return keyOf(text, sortKeys)
}

/** As sortKey, but with one character for each character of the text, as LIKE compares them. For `contains` and the like. */
export function matchKey(text: string): string {
  return keyOf(text, matchKeys)
}

function asciiKeys(ignored: string): readonly string[] {
  return Array.from({ length: 128 }, (_, code) => {
    const rank = ASCII_ORDER.indexOf(String.fromCharCode(code).toLowerCase())
    return rank < 0 ? ignored : String.fromCharCode(FIRST_KEY + rank)
  })
}

function keyOf(text: string, keys: readonly string[]): string {
  const folded = isAscii(text) ? text : text.normalize('NFC').toLowerCase().normalize('NFC')
  let key = ''
  for (let index = 0; index < folded.length; index++) key += keys[folded.charCodeAt(index)] ?? folded.charAt(index)
  return key
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false
  return true
}

const MATCH_FUNCTIONS = {
  contains: 'text_contains',
  startsWith: 'text_starts_with',
  endsWith: 'text_ends_with'
} as const

/** The embedded database compares text by its sort key and stores decimals as integers in units of their last digit. */
export const sqliteDialect: SqlDialect = {
  keyFunction: (type) => (type === 'string' ? 'sort_key' : undefined),
  operand: (name) => `$${name}`,
  bind: boundOperand,
  matchFunction: (match) => MATCH_FUNCTIONS[match],
  bindMatch: (operand) => matchKey(operand),
  readsRangesOfOr: false,
  isIndexMissing: () => false,
  decode: (type, scale) => (raw) => (raw === null ? null : decoded(type, scale, raw)),
  insertOrKeep: (insert, key) => `${insert} ON CONFLICT (${key}) DO NOTHING`,
  insertOrUpdate: (insert, key, update) => `${insert} ON CONFLICT (${key}) DO UPDATE SET ${update}`,
  // sqlite-connection.ts defines the function: SQLite itself reads no number out of bytes.
  nextVersion: (column) => `next_row_version(${column})`,
  forUpdate: ''
}

function boundOperand(operand: Operand, { type, scale }: Field): BoundValue {
  switch (type) {
    case 'string':
      return sortKey(String(operand))
    case 'bool':
      return operand === true ? 1n : 0n
    case 'int':
    case 'long':
      return BigInt(String(operand))
    case 'decimal':
      return unitsOf(String(operand), scale)
    case 'dateTime':
    case 'guid':
      return String(operand)
  }
}

/** `-19.90` with scale 2 as -1990. No column holds more than 64 bits: a value beyond them becomes the nearest limit. */
function unitsOf(decimal: string, scale: number): bigint {
  const value = parseDecimal(decimal)
  if (value === undefined) throw new TypeError(`${decimal} is not a decimal number`)
  const units = unscaledAt(value, scale)
  return units < INT64.min ? INT64.min : units > INT64.max ? INT64.max : units
}

function decoded(type: FieldType, scale: number, raw: unknown): Value {
  switch (type) {
    case 'bool':
      return Number(raw) !== 0
    case 'int':
      return Number(raw)
    case 'long':
      if (typeof raw !== 'bigint') throw undecodable(type, raw)
      return raw.toString()
    case 'decimal':
      if (typeof raw !== 'bigint') throw undecodable(type, raw)
      return formatDecimal(raw, scale)
    case 'string':
    case 'dateTime':
    case 'guid':
      if (typeof raw !== 'string') throw undecodable(type, raw)
      return raw
  }
}
