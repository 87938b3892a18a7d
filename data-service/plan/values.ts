import type { Field, Operand } from '../entity/field.js'
import { GUID } from '../entity/names.js'
import {
  compareDecimals,
  INT32,
  INT64,
  type IntegerRange,
  isWithin,
  parseDecimal,
  parseInteger,
  unscaledAt
} from '../entity/numbers.js'

/** The integer types of columns. */
export const RANGES = { int: INT32, long: INT64 } as const

/**
 * The text of a query or path as an operand of the column's type (contract.md section 3); undefined where it does not
 * parse. A decimal keeps all of its digits: how it is fitted to the scale of a column depends on the comparison.
 */
export function parseValue(text: string, field: Field): Operand | undefined {
  const value = parseBase(text, field)
  return value === undefined ? undefined : parseCustom(value, field)
}

/** A value of the base type as one of the application's own type, if the field has one; undefined where it is none. */
export function parseCustom(value: Operand, { custom }: Field): Operand | undefined {
  return custom === undefined ? value : custom.parse(value)
}

/** The field of the operands of a comparison that looks inside a text: a part of a value is no value of an own type. */
export function fieldOfParts(field: Field): Field {
  return field.custom === undefined ? field : { ...field, custom: undefined }
}

function parseBase(text: string, field: Field): Operand | undefined {
  switch (field.type) {
    case 'string':
      // No column holds U+0000, and on SQLite a pattern of LIKE ends at it.
      return text.includes('\0') ? undefined : text
    case 'bool':
      return parseBool(text)
    case 'int':
    case 'long':
      return parseWholeNumber(text, field.type)
    case 'decimal':
      return parseDecimal(text) === undefined ? undefined : text
    case 'dateTime':
      return parseDateTime(text)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined
  }
}

/** Whether this is a value that a row may have in the column, in exactly the form in which rows have it on the wire. */
export function isWritten(value: Operand, field: Field): boolean {
  switch (field.type) {
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      return typeof value === 'number' && parseValue(String(value), field) === value
    case 'decimal':
      return typeof value === 'string' && parseDecimal(value)?.scale === field.scale
    case 'string':
      return typeof value === 'string'
    case 'guid':
      return typeof value === 'string' && GUID.test(value.toLowerCase())
    case 'long':
    case 'dateTime':
      return typeof value === 'string' && parseValue(value, field) === value
  }
}

/** What a value of the type looks like, to complete "… is not …". */
export function expected(field: Field): string {
  if (field.custom !== undefined) return field.custom.expected
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

function parseWholeNumber(text: string, type: 'int' | 'long'): Operand | undefined {
  const value = parseInteger(text.replace(/^\+(?=\d)/, ''), RANGES[type])
  return type === 'int' && value !== undefined ? Number(value) : value?.toString()
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
  if (minLength === maxLength) return `have ${maxLength} characters`
  return minLength === 0 ? `have at most ${maxLength} characters` : `have ${minLength} to ${maxLength} characters`
}

function outOfRange(value: bigint, range: IntegerRange): string | undefined {
  return isWithin(value, range) ? undefined : `be a whole number from ${range.min} to ${range.max}`
}

function badDecimal(text: string, field: Field): string | undefined {
  const { precision, scale } = field
  const value = parseDecimal(text)
  if (value === undefined) return 'be a decimal number such as 19.90'
  if (value.scale > scale)
    return scale === 0 ? 'have no digits after the point' : `have at most ${scale} digits after the point`
  const unscaled = unscaledAt(value, scale)
  const beyond = 10n ** BigInt(precision)
  if (unscaled >= beyond || unscaled <= -beyond) return `have at most ${precision - scale} digits before the point`
  return outside(text, field)
}

/** Bounds that the entity file sets. */
function outside(text: string, { minimum, maximum }: Field): string | undefined {
  if (minimum !== undefined && compareDecimals(text, minimum) < 0) return `be at least ${minimum}`
  return maximum !== undefined && compareDecimals(text, maximum) > 0 ? `be at most ${maximum}` : undefined
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
