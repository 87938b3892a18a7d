import type { Field, Operand } from '../entity/field.js'
import type { Rounding } from '../entity/operators.js'

export const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const RANGES = {
  int: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  long: { min: -(2n ** 63n), max: 2n ** 63n - 1n }
} as const

/**
 * A client's text as an operand of the column's type (contract.md section 3); undefined where it does not parse.
 * Decimals keep all digits they came with: fitting them to a column's scale depends on the comparison.
 */
export function parseValue(text: string, field: Field): Operand | undefined {
  switch (field.type) {
    case 'string':
      // No column holds it, and a pattern of LIKE ends at it on SQLite.
      return text.includes('\0') ? undefined : text
    case 'bool':
      return parseBool(text)
    case 'int':
    case 'long':
      return parseInteger(text, field.type)
    case 'decimal':
      return parseDecimal(text) === undefined ? undefined : text
    case 'dateTime':
      return parseDateTime(text)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined
  }
}

/** What a value of the type looks like, to complete "… is not". */
export function expected(field: Field): string {
  switch (field.type) {
    case 'string':
      return 'text without U+0000'
    case 'bool':
      return 'true or false'
    case 'int':
    case 'long':
      return `a whole number from ${RANGES[field.type].min} to ${RANGES[field.type].max}`
    case 'decimal':
      return 'a decimal number such as 19.90'
    case 'dateTime':
      return 'a date and time such as 2026-01-31T08:00:00Z (RFC 3339, at most milliseconds) or a date such as 2026-01-31'
    case 'guid':
      return 'a GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff'
  }
}

function parseBool(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

function parseInteger(text: string, type: 'int' | 'long'): Operand | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  if (value < RANGES[type].min || value > RANGES[type].max) return undefined
  return type === 'int' ? Number(value) : value.toString()
}

/**
 * What is wrong with a value of the column's type, to complete "price must …"; undefined where the column takes it.
 * Nothing is rounded or cut to fit (contract.md section 3).
 */
export function outOfBounds(value: Operand, field: Field): string | undefined {
  switch (field.type) {
    case 'string':
      return badText(String(value), field)
    case 'int':
    case 'long':
      return outOfRange(BigInt(String(value)), RANGES[field.type]) ?? outside(String(value), field)
    case 'decimal':
      return badDecimal(String(value), field)
    case 'bool':
    case 'dateTime':
    case 'guid':
      return undefined
  }
}

function badText(text: string, { minLength, maxLength }: Field): string | undefined {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) return 'be text without U+0000 and half surrogate pairs'
  // Characters are code points, at most as many as UTF-16 units.
  const length = text.length > maxLength ? Array.from(text).length : text.length
  if (length <= maxLength && text.length >= minLength) return undefined
  return minLength === 0 ? `have at most ${maxLength} characters` : `have ${minLength} to ${maxLength} characters`
}

function outOfRange(value: bigint, { min, max }: { readonly min: bigint; readonly max: bigint }): string | undefined {
  return value < min || value > max ? `be a whole number from ${min} to ${max}` : undefined
}

function badDecimal(text: string, field: Field): string | undefined {
  const { precision, scale } = field
  const value = parseDecimal(text)
  if (value === undefined) return 'be a decimal number such as 19.90'
  if (value.scale > scale)
    return scale === 0 ? 'have no digits after the point' : `have at most ${scale} digits after the point`
  const unscaled = rescaled(value, scale)
  const beyond = 10n ** BigInt(precision)
  if (unscaled >= beyond || unscaled <= -beyond) return `have at most ${precision - scale} digits before the point`
  return outside(text, field)
}

/** Bounds that the entity file sets. */
function outside(text: string, { minimum, maximum }: Field): string | undefined {
  if (minimum !== undefined && compare(text, minimum) < 0) return `be at least ${minimum}`
  return maximum !== undefined && compare(text, maximum) > 0 ? `be at most ${maximum}` : undefined
}

function compare(a: string, b: string): number {
  const [left, right] = [parseDecimal(a), parseDecimal(b)]
  if (left === undefined || right === undefined) throw new TypeError(`${a} and ${b} must be numbers`)
  const scale = Math.max(left.scale, right.scale)
  const difference = rescaled(left, scale) - rescaled(right, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** An exact decimal: `unscaled` / 10^`scale`. */
export interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

/** Digits with an optional sign and fraction; no exponent. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const magnitude = BigInt(whole + fraction)
  return { unscaled: sign === '-' ? -magnitude : magnitude, scale: fraction.length }
}

/**
 * The value in exactly the column's scale. What the column cannot hold becomes the number just beyond all that it can,
 * ±10^(precision-scale), which orders like the value itself and equals nothing; so does, for `exact`, a value with more
 * digits than the scale.
 */
export function fitDecimal(value: Decimal, { precision, scale }: Field, rounding: Rounding): string {
  const beyond = 10n ** BigInt(precision)
  const fitted = rescale(value, scale, rounding) ?? beyond
  return format(fitted > beyond ? beyond : fitted < -beyond ? -beyond : fitted, scale)
}

/** The digits of a value at a scale no smaller than its own. */
export function rescaled({ unscaled, scale }: Decimal, to: number): bigint {
  return unscaled * 10n ** BigInt(to - scale)
}

function rescale(value: Decimal, scale: number, rounding: Rounding): bigint | undefined {
  if (value.scale <= scale) return rescaled(value, scale)
  const divisor = 10n ** BigInt(value.scale - scale)
  const truncated = value.unscaled / divisor
  const remainder = value.unscaled % divisor
  if (remainder === 0n) return truncated
  if (rounding === 'exact') return undefined
  if (rounding === 'floor') return remainder < 0n ? truncated - 1n : truncated
  return remainder > 0n ? truncated + 1n : truncated
}

function format(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))?)?$/

/**
 * A date-time with any offset, none being UTC, or a date alone, its midnight UTC; out comes UTC with milliseconds.
 * undefined for what is no such date (February 30th), is finer than milliseconds, or lies outside of the years 0001 to
 * 9999.
 */
export function parseDateTime(text: string): string | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const number = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [number(1), number(2), number(3), number(4), number(5), number(6)]
  const fraction = match[7] ?? ''
  if (hour > 23 || minute > 59 || second > 59 || /[1-9]/.test(fraction.slice(3))) return undefined
  if (number(9) > 23 || number(10) > 59) return undefined
  const date = new Date(0)
  // Date.UTC takes the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (number(9) * 60 + number(10))
  date.setUTCHours(hour, minute - offset, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const shifted = date.getUTCFullYear()
  return shifted >= 1 && shifted <= 9999 ? date.toISOString() : undefined
}
