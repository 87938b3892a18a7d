import type { OracleProperty } from './resource.js'
import { scalar, type WireValue } from './wire-value.js'

/** A value in a form that compares exactly: strings folded, doubles, all else a number without end. */
export type Comparable = string | bigint | number

const INT = { min: -(2n ** 31n), max: 2n ** 31n - 1n }
const LONG = { min: -(2n ** 63n), max: 2n ** 63n - 1n }
const FRACTION_DIGITS = 40
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const DATE_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?([Zz]|[+-]\d{2}:\d{2})?)?$/

/** undefined where the text is no value of the type. */
export function parseOperand(property: OracleProperty, text: string): Comparable | undefined {
  switch (property.type) {
    case 'string':
      return comparableText(property, text)
    case 'bool':
      return text === 'true' ? 1n : text === 'false' ? 0n : undefined
    case 'int':
      return within(text, property.range ?? INT)
    case 'long':
      return within(text, property.range ?? LONG)
    case 'decimal':
      return decimal(text)
    case 'double':
      return double(text)
    case 'dateTime':
      return instant(text, Math.max(3, property.fraction ?? 3))
    case 'date':
      return /^\d{4}-\d{2}-\d{2}$/.test(text) && instant(text, 3) !== undefined ? text : undefined
    case 'time':
      return timeOfDay(text, Math.max(3, property.fraction ?? 0))
    case 'enum':
      return property.words?.includes(text) === true ? comparableText(property, text) : undefined
    case 'set':
      return property.words?.includes(text) === true ? text : undefined
    case 'json':
    case 'binary':
      return undefined
    case 'guid':
      return GUID.test(text) ? text.toLowerCase() : undefined
    case 'base64url': {
      const bytes = Buffer.from(text, 'base64url')
      // Bytes have the order of their digits.
      return bytes.toString('base64url') === text ? bytes.toString('hex') : undefined
    }
  }
}

/** A value of a row in the same form. */
export function comparable(property: OracleProperty, value: NonNullable<WireValue>): Comparable {
  if (property.type === 'bool') return value === true ? 1n : 0n
  const text = scalar(value)
  // MySQL has an enum without a word, and times that are none of a day.
  if (property.type === 'enum') return comparableText(property, text)
  const parsed = parseOperand(property, text)
  if (parsed === undefined) throw new Error(`${property.name} holds ${text}, which is no ${property.type}`)
  return parsed
}

function comparableText({ exact }: OracleProperty, text: string): string {
  return exact === true ? text : foldCase(text)
}

/** ASCII letters only: beyond them the embedded database folds its own way, and the tests ask for none. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/** Contract section 4: commas split, items are trimmed unless double-quoted, `""` inside quotes is a quote. */
export function splitList(text: string): string[] | undefined {
  const items: string[] = []
  let rest = text
  for (;;) {
    const quoted = /^\s*"((?:[^"]|"")*)"\s*(?:,|$)/.exec(rest)
    const plain = /^([^,"]*)(?:,|$)/.exec(rest)
    const found = quoted ?? plain
    if (found === null) return undefined
    const item = found[1] ?? ''
    items.push(quoted === null ? item.trim() : item.replaceAll('""', '"'))
    if (!found[0].endsWith(',')) return items
    rest = rest.slice(found[0].length)
  }
}

function within(text: string, range: { min: bigint; max: bigint }): bigint | undefined {
  if (!/^-?\d{1,30}$/.test(text)) return undefined
  const value = BigInt(text)
  return value >= range.min && value <= range.max ? value : undefined
}

/** Exact, in units far below the smallest of any column. */
function decimal(text: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === '' || fraction.length > FRACTION_DIGITS) return undefined
  return BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction.padEnd(FRACTION_DIGITS, '0')}`)
}

/** Nanoseconds since the epoch; undefined for a fraction of more than so many digits. */
function instant(text: string, digits: number): bigint | undefined {
  const [found, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] =
    DATE_TIME.exec(text) ?? []
  if (found === undefined || /[1-9]/.test(fraction.slice(digits))) return undefined
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0')
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`
  const at = Date.parse(local)
  if (Number.isNaN(at) || new Date(at).toISOString() !== local) return undefined
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):(\d{2})$/.exec(zone) ?? []
  const offset = (Number(hours) * 60 + Number(minutes)) * 60_000 * (sign === '-' ? -1 : 1)
  return BigInt(at - offset) * 1_000_000n + BigInt(fraction.slice(3, digits).padEnd(6, '0'))
}

/** Nanoseconds since midnight. */
function timeOfDay(text: string, digits: number): bigint | undefined {
  return /^\d{2}:\d{2}:\d{2}(?:\.\d+)?$/.test(text) ? instant(`1970-01-01T${text}Z`, digits) : undefined
}

/** The tests ask for numbers alone that a double has. */
function double(text: string): number | undefined {
  const value = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}
