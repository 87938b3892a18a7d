import type { ViolationRule } from '../../../shared/errors.js'
import type { Field, Operand, Value } from '../../entity/fields/field.js'
import { schemaViolation } from '../../entity/fields/json-schema.js'
import { GUID } from '../../entity/fields/names.js'
import {
  compareDecimals,
  isWithin,
  parseDecimal,
  parseDouble,
  parseInteger,
  rangeOf,
  unscaledAt,
  withoutTrailingZeros
} from '../../entity/fields/numbers.js'
import { Unmet } from './violations.js'

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
      return parseWholeNumber(text, field)
    case 'decimal':
      return parseDecimal(text) === undefined ? undefined : text
    case 'double':
      return parseDouble(text)
    case 'dateTime':
      return parseDateTime(text, field.precision)
    case 'date':
      return parseDate(text)
    case 'time':
      return parseTime(text, field.precision)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined
    case 'enum':
    case 'set':
      return field.words.includes(text) ? text : undefined
    case 'json':
    case 'binary':
      return undefined
  }
}

/**
 * A date, a date and time or a time as MySQL stores them and no request may send them: a month or day of 0, and a time of
 * less than 0 or more than 24 hours.
 */
const UNUSUAL_DATE = /^\d{4}-(?:00-\d{2}|\d{2}-00)(?:T\d{2}:\d{2}:\d{2}\.\d{3,6}Z)?$/
const UNUSUAL_TIME = /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/

/** Whether this is a value that a row may have in the column, in exactly the form in which rows have it on the wire. */
export function isWritten(value: Operand, field: Field): boolean {
  switch (field.type) {
    case 'bool':
      return typeof value === 'boolean'
    case 'int':
      if (typeof value !== 'number') return false
      return parseValue(String(value), field) === value || (field.storage === 'year' && value === 0)
    case 'double':
      return typeof value === 'number' && Number.isFinite(value)
    case 'decimal':
      return typeof value === 'string' && parseDecimal(value)?.scale === field.scale
    case 'string':
    case 'enum':
      return typeof value === 'string'
    case 'guid':
      return typeof value === 'string' && GUID.test(value.toLowerCase())
    case 'long':
      return typeof value === 'string' && parseValue(value, field) === value
    case 'dateTime':
    case 'date':
      return typeof value === 'string' && (parseValue(value, field) === value || UNUSUAL_DATE.test(value))
    case 'time':
      return typeof value === 'string' && (parseValue(value, field) === value || UNUSUAL_TIME.test(value))
    case 'set':
    case 'json':
    case 'binary':
      return false
  }
}

/**
 * A value of MySQL that no request may write, as rows show it: a date with a month or a day of 0, the year 0, and the
 * empty text of an ENUM, its mark of a word that it did not know. undefined for any other text.
 */
export function parseUnusual(text: string, { type, storage }: Field): Operand | undefined {
  if (type === 'enum') return text === '' ? text : undefined
  if (type === 'date') return text.length === 10 && UNUSUAL_DATE.test(text) ? text : undefined
  return storage === 'year' && text === '0' ? 0 : undefined
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
      return `a whole number from ${rangeOf(field).min} to ${rangeOf(field).max}`
    case 'decimal':
      return 'a decimal number such as 19.90'
    case 'double':
      return 'a number such as 1.5 or -2e-7 that a double of IEEE 754 can hold'
    case 'dateTime':
      return `a date and time such as 2026-01-31T08:00:00Z (RFC 3339, ${fractionInWords(field)}) or a date such as 2026-01-31`
    case 'date':
      return 'a date such as 2026-01-31'
    case 'time':
      return 'a time such as 08:00:00'
    case 'guid':
      return 'a GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff'
    case 'enum':
    case 'set':
      return oneOfWords(field)
    case 'json':
    case 'binary':
      return 'a value that can be compared'
  }
}

/** `one of draft, sent`: the words as a request must write them. */
export function oneOfWords({ words }: Field): string {
  return `one of ${words.join(', ')}`
}

/** The most digits of a second's fraction that a value on the wire has. */
function wireDigits(precision: number): number {
  return Math.max(3, precision)
}

function fractionInWords({ precision }: Field): string {
  return precision > 3 ? `at most ${precision} digits of a second's fraction` : 'at most milliseconds'
}

function parseBool(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

function parseWholeNumber(text: string, field: Field): Operand | undefined {
  const value = parseInteger(text.replace(/^\+(?=\d)/, ''), rangeOf(field))
  return field.type === 'int' && value !== undefined ? Number(value) : value?.toString()
}

/**
 * What is wrong with a value of the column's type, to complete "price must …"; undefined where the column takes it.
 * Nothing is rounded or cut to fit (contract.md section 3).
 */
export function outOfBounds(value: Exclude<Value, null>, field: Field): Unmet | undefined {
  switch (field.type) {
    case 'string':
      return badText(String(value), field)
    case 'int':
    case 'long':
      return outOfRange(BigInt(String(value)), field) ?? outside(String(value), field)
    case 'decimal':
      return badDecimal(String(value), field)
    case 'double':
      return outsideOfDouble(Number(value), field)
    case 'dateTime':
      return tooFine(String(value), field) ?? outsideOfMoments(String(value), field)
    case 'time':
      return tooFine(String(value), field)
    case 'enum':
      return field.words.includes(String(value)) ? undefined : new Unmet(`be ${oneOfWords(field)}`, oneOf(field))
    case 'json':
      return field.schema && unmetSchema(schemaViolation(String(value), field.schema))
    case 'binary':
      return Buffer.isBuffer(value) ? badSize(value.length, field) : undefined
    case 'bool':
    case 'date':
    case 'guid':
    case 'set':
      return undefined
  }
}

function badSize(bytes: number, { minLength, maxLength }: Field): Unmet | undefined {
  if (bytes >= minLength && bytes <= maxLength) return undefined
  return new Unmet(`have ${amount(minLength, maxLength)} bytes`, {
    rule: 'bytes',
    minimum: minLength,
    maximum: maxLength
  })
}

/** `1 to 200`, `at most 200`, `200`. */
function amount(least: number, most: number): string {
  if (least === most) return String(most)
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

/** Of a word that is none of them. Words of more than a kilobyte are left out: the details of an error over gRPC are bounded. */
export function oneOf({ words }: Field): ViolationRule {
  return words.join().length > LONGEST_WORDS ? { rule: 'type', type: 'enum' } : { rule: 'oneOf', words }
}

const LONGEST_WORDS = 1000

function unmetSchema(message: string | undefined): Unmet | undefined {
  return message === undefined ? undefined : new Unmet(message)
}

/** A fraction of a second that the column would round. */
function tooFine(text: string, { precision }: Field): Unmet | undefined {
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  if (!/[1-9]/.test(fraction.slice(precision))) return undefined
  const must =
    precision === 0 ? 'have no fraction of a second' : `have at most ${precision} digits of a second's fraction`
  return new Unmet(must, { rule: 'digits', fraction: precision })
}

/** Moments on the wire, all in UTC, have the order of their texts as far as the seconds. */
function outsideOfMoments(moment: string, { minimum, maximum }: Field): Unmet | undefined {
  const seconds = moment.slice(0, 19)
  const isOutside =
    (minimum !== undefined && seconds < minimum.slice(0, 19)) ||
    (maximum !== undefined && seconds > maximum.slice(0, 19))
  return isOutside ? new Unmet(`be from ${minimum} to ${maximum}`, range(minimum, maximum)) : undefined
}

function outsideOfDouble(value: number, { minimum, maximum }: Field): Unmet | undefined {
  const bounds = range(minimum && Number(minimum), maximum && Number(maximum))
  if (minimum !== undefined && value < Number(minimum)) return new Unmet(`be at least ${minimum}`, bounds)
  return maximum !== undefined && value > Number(maximum) ? new Unmet(`be at most ${maximum}`, bounds) : undefined
}

function badText(text: string, { minLength, maxLength, maxBytes }: Field): Unmet | undefined {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) {
    return new Unmet('be text without U+0000 and half surrogate pairs')
  }
  if (maxBytes !== undefined) {
    // A UTF-16 unit takes up to three bytes.
    const fits = text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
    const rule = { rule: 'bytes', minimum: 0, maximum: maxBytes } as const
    return fits ? undefined : new Unmet(`have at most ${maxBytes} bytes in UTF-8`, rule)
  }
  // Characters are code points, at most as many as UTF-16 units.
  const length = text.length > maxLength ? Array.from(text).length : text.length
  if (length <= maxLength && text.length >= minLength) return undefined
  const rule = { rule: 'length', minimum: minLength, maximum: maxLength } as const
  return new Unmet(`have ${amount(minLength, maxLength)} characters`, rule)
}

function outOfRange(value: bigint, field: Field): Unmet | undefined {
  const { min, max } = rangeOf(field)
  if (isWithin(value, { min, max })) return undefined
  return new Unmet(`be a whole number from ${min} to ${max}`, integerRange(field))
}

function badDecimal(text: string, field: Field): Unmet | undefined {
  const { precision, scale } = field
  const value = parseDecimal(text)
  const digits = { rule: 'digits', whole: precision - scale, fraction: scale } as const
  if (value === undefined) return new Unmet('be a decimal number such as 19.90', { rule: 'type', type: 'decimal' })
  if (value.scale > scale)
    return new Unmet(
      scale === 0 ? 'have no digits after the point' : `have at most ${scale} digits after the point`,
      digits
    )
  const unscaled = unscaledAt(value, scale)
  const beyond = 10n ** BigInt(precision)
  if (unscaled >= beyond || unscaled <= -beyond) {
    return new Unmet(`have at most ${precision - scale} digits before the point`, digits)
  }
  return outside(text, field)
}

/** Bounds that the entity file sets. */
function outside(text: string, field: Field): Unmet | undefined {
  const { type, minimum, maximum } = field
  const rule = (): ViolationRule => (type === 'int' ? integerRange(field) : range(minimum, maximum))
  if (minimum !== undefined && compareDecimals(text, minimum) < 0) return new Unmet(`be at least ${minimum}`, rule())
  return maximum !== undefined && compareDecimals(text, maximum) > 0
    ? new Unmet(`be at most ${maximum}`, rule())
    : undefined
}

/** The bounds of the column, or those of its type. */
export function integerRange(field: Field): ViolationRule {
  const { min, max } = rangeOf(field)
  const [least, most] = [field.minimum ?? String(min), field.maximum ?? String(max)]
  return field.type === 'int' ? range(Number(least), Number(most)) : range(least, most)
}

function range(minimum: number | string | undefined, maximum: number | string | undefined): ViolationRule {
  return {
    rule: 'range',
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum })
  }
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))?)?$/

/**
 * A date-time with any offset, none being UTC, or a date alone, its midnight UTC; out comes UTC with milliseconds, or with
 * `precision` digits of a second's fraction if these are more. undefined for what is no such date (February 30th), is
 * finer than that, or lies outside of the years 0001 to 9999.
 */
export function parseDateTime(text: string, precision = 3): string | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const digits = wireDigits(precision)
  const number = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [number(1), number(2), number(3), number(4), number(5), number(6)]
  const fraction = match[7] ?? ''
  if (hour > 23 || minute > 59 || second > 59 || /[1-9]/.test(fraction.slice(digits))) return undefined
  if (number(9) > 23 || number(10) > 59) return undefined
  const date = new Date(0)
  // Date.UTC takes the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (number(9) * 60 + number(10))
  date.setUTCHours(hour, minute - offset, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const shifted = date.getUTCFullYear()
  if (shifted < 1 || shifted > 9999) return undefined
  const milliseconds = date.toISOString()
  return digits === 3
    ? milliseconds
    : `${milliseconds.slice(0, -1)}${fraction.slice(3, digits).padEnd(digits - 3, '0')}Z`
}

/** A day of the calendar from the year 0001 to 9999; undefined for any other text. */
export function parseDate(text: string): string | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && parseDateTime(text) !== undefined ? text : undefined
}

/**
 * A time of the day with `precision` digits of a second's fraction, or with more where they say more; undefined for any
 * other text, and for more digits than values on the wire have.
 */
export function parseTime(text: string, precision: number): string | undefined {
  const [, whole, fraction = ''] = /^((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const digits = fraction.slice(0, precision).padEnd(precision, '0') + withoutTrailingZeros(fraction.slice(precision))
  if (digits.length > wireDigits(precision)) return undefined
  return digits === '' ? whole : `${whole}.${digits}`
}
