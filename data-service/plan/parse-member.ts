import type { Field } from '../entity/field.js'
import type { Value } from '../entity/value.js'
import { outOfBounds } from './check-bounds.js'
import { fitDecimal, parseDecimal } from './decimal.js'
import { integerOf, type JsonNumber, partsOf } from './json-number.js'
import { isArray, isObject, type JsonValue } from './json-value.js'
import { parseDateTime } from './parse-date-time.js'
import { GUID, RANGES } from './parse-value.js'

/** Digits that every double keeps. */
const SAFE_DIGITS = 15
const LONGEST_NUMBER = 100

/**
 * A member of a body as a value of the column (contract.md section 3), or an Error whose message completes "price
 * must …".
 */
export function parseMember(json: JsonValue, field: Field): Value | Error {
  if (json === null) return field.nullable ? null : new Error('not be null')
  const value = typeof json === 'string' ? fromText(json, field) : fromOther(json, field)
  if (value instanceof Error || typeof value === 'boolean') return value
  const fault = outOfBounds(value, field)
  if (fault !== undefined) return new Error(fault)
  const decimal = field.type === 'decimal' ? parseDecimal(String(value)) : undefined
  return decimal === undefined ? value : fitDecimal(decimal, field, 'exact')
}

function fromText(text: string, field: Field): string | Error {
  const { type } = field
  switch (type) {
    case 'string':
      return text
    case 'long':
      return /^-?\d+$/.test(text) && text.length <= LONGEST_NUMBER ? BigInt(text).toString() : wanted(field)
    case 'decimal':
      return /^-?\d+(\.\d+)?$/.test(text) && text.length <= LONGEST_NUMBER ? text : wanted(field)
    case 'dateTime':
      return (text.length > 10 ? parseDateTime(text) : undefined) ?? wanted(field)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : wanted(field)
    case 'bool':
    case 'int':
      return wanted(field)
  }
}

function fromOther(json: Exclude<JsonValue, string | null>, field: Field): number | string | boolean | Error {
  if (typeof json === 'boolean') return field.type === 'bool' ? json : wanted(field)
  if (isArray(json) || isObject(json)) return wanted(field)
  return fromNumber(json, field)
}

function fromNumber(number: JsonNumber, field: Field): number | string | Error {
  const parts = partsOf(number)
  if (field.type === 'int') {
    const value = integerOf(parts)
    return value !== undefined && value >= RANGES.int.min && value <= RANGES.int.max ? Number(value) : wanted(field)
  }
  if (field.type === 'long') {
    const value = integerOf(parts)
    if (value === undefined) return wanted(field)
    const safe = value >= -BigInt(Number.MAX_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
    return safe ? value.toString() : new Error('be sent as a string of digits: a JSON number this long may lose some')
  }
  if (field.type !== 'decimal') return wanted(field)
  if (parts.significant > SAFE_DIGITS) {
    return new Error(`be sent as a string of digits: a JSON number of more than ${SAFE_DIGITS} digits may lose some`)
  }
  return decimalText(parts) ?? wanted(field)
}

/** With the scale it was written in, which may be more than the column has. */
function decimalText({ negative, digits, exponent, scale }: ReturnType<typeof partsOf>): string | undefined {
  if (digits === '') return scale > LONGEST_NUMBER ? '0' : `0${scale > 0 ? `.${'0'.repeat(scale)}` : ''}`
  if (Math.abs(exponent) > LONGEST_NUMBER || scale > LONGEST_NUMBER) return undefined
  const unscaled = (BigInt(digits) * 10n ** BigInt(exponent + scale)).toString().padStart(scale + 1, '0')
  const whole = scale === 0 ? unscaled : `${unscaled.slice(0, -scale)}.${unscaled.slice(-scale)}`
  return negative ? `-${whole}` : whole
}

/** What the column takes. */
function wanted({ type, minimum, maximum }: Field): Error {
  const between = (range: { readonly min: bigint; readonly max: bigint }): string =>
    `from ${minimum ?? range.min} to ${maximum ?? range.max}`
  switch (type) {
    case 'string':
      return new Error('be a string')
    case 'bool':
      return new Error('be true or false')
    case 'int':
      return new Error(`be a whole number ${between(RANGES.int)}`)
    case 'long':
      return new Error(`be a string with a whole number ${between(RANGES.long)}`)
    case 'decimal':
      return new Error('be a string with a decimal number such as "19.90"')
    case 'dateTime':
      return new Error('be a date and time such as "2026-01-31T08:00:00Z" (RFC 3339, at most milliseconds)')
    case 'guid':
      return new Error('be a GUID such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"')
  }
}
