import type { ViolationRule } from '../../../shared/errors.js'
import type { Field, Operand } from '../fields/field.js'
import { integerOf, JsonNumber, numberParts } from '../fields/json-values.js'
import { isWithin, parseInteger, rangeOf } from '../fields/numbers.js'
import {
  notTaken,
  outsideOfBounds,
  parseCustom,
  plainCell,
  short,
  range,
  type StoredValue,
  type TypeRules,
  Unmet
} from './type-rules.js'

export const intRules: TypeRules = {
  parse: parseInt32,
  expected: wholeNumberFrom,
  // A YEAR has 0 for a year that MySQL did not know.
  parseUnusual: (text, { storage }) => (storage === 'year' && text === '0' ? 0 : undefined),
  fromJson: (json, field) => {
    if (!(json instanceof JsonNumber)) return undefined
    const value = integerOf(numberParts(json))
    if (value !== undefined && isWithin(value, rangeOf(field))) return Number(value)
    return notTaken(field, taken(field), integerRange(field))
  },
  taken,
  outOfBounds: outOfIntegers,
  holds: (value) => typeof value === 'number' && Number.isInteger(value),
  form: 'a number',
  isWritten: (value, field) => {
    if (typeof value !== 'number') return false
    const parsed = parseInt32(String(value), field)
    return (parsed !== undefined && parseCustom(parsed, field) === value) || (field.storage === 'year' && value === 0)
  },
  comparable: ['number', 'bigint'],
  operandOf: integerOperandOf,
  difference: integerDifference,
  width: short,
  example: (_name, field) => Number(madeInteger(field)),
  json: String,
  cell: plainCell
}

function taken(field: Field): string {
  return `a whole number ${between(field)}`
}

function parseInt32(text: string, field: Field): Operand | undefined {
  const value = wholeNumber(text, field)
  return value === undefined ? undefined : Number(value)
}

export function wholeNumber(text: string, field: Field): bigint | undefined {
  return parseInteger(text.replace(/^\+(?=\d)/, ''), rangeOf(field))
}

export function wholeNumberFrom(field: Field): string {
  return `a whole number from ${rangeOf(field).min} to ${rangeOf(field).max}`
}

export function between(field: Field): string {
  return `from ${field.minimum ?? rangeOf(field).min} to ${field.maximum ?? rangeOf(field).max}`
}

export function outOfIntegers(value: StoredValue, field: Field): Unmet | undefined {
  const { min, max } = rangeOf(field)
  if (!isWithin(BigInt(String(value)), { min, max })) {
    return new Unmet(`be a whole number from ${min} to ${max}`, integerRange(field))
  }
  const { type, minimum, maximum } = field
  return outsideOfBounds(String(value), field, type === 'int' ? integerRange(field) : range(minimum, maximum))
}

/** The bounds of the column, or those of its type. */
export function integerRange(field: Field): ViolationRule {
  const { min, max } = rangeOf(field)
  const [least, most] = [field.minimum ?? String(min), field.maximum ?? String(max)]
  return field.type === 'int' ? range(Number(least), Number(most)) : range(least, most)
}

/** An integer beyond an int column becomes the number just beyond it, which orders like it and equals nothing. */
export function integerOperand(value: bigint, field: Field): Operand | undefined {
  const { min, max } = rangeOf(field)
  if (field.type === 'long') return isWithin(value, { min, max }) ? value.toString() : undefined
  return Number(value < min ? min - 1n : value > max ? max + 1n : value)
}

export function integerOperandOf(value: unknown, field: Field): Operand | undefined {
  const digits = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value
  return typeof digits === 'string' && /^-?\d{1,40}$/.test(digits) ? integerOperand(BigInt(digits), field) : undefined
}

export function integerDifference(value: StoredValue, operand: Operand): number {
  const difference = BigInt(String(value)) - BigInt(String(operand))
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

/** 1, or the bound that is nearest to it. */
export function madeInteger(field: Field): bigint {
  const { min, max } = rangeOf(field)
  const least = field.minimum === undefined ? min : BigInt(field.minimum)
  const most = field.maximum === undefined ? max : BigInt(field.maximum)
  return least > 1n ? least : most < 1n ? most : 1n
}
