import type { Field, Operand } from '../fields/field.js'
import { integerOf, JsonNumber, LONGEST_NUMBER, numberParts } from '../fields/json-values.js'
import { parseInteger } from '../fields/numbers.js'
import {
  between,
  integerDifference,
  integerOperandOf,
  integerRange,
  madeInteger,
  outOfIntegers,
  wholeNumber,
  wholeNumberFrom
} from './int.js'
import { inQuotes, isCanonical, notTaken, plainCell, short, type TypeRules, Unmet } from './type-rules.js'

export const longRules: TypeRules = {
  parse: parseInt64,
  expected: wholeNumberFrom,
  fromJson: (json, field) => {
    if (typeof json !== 'string' && !(json instanceof JsonNumber)) return undefined
    const value = typeof json === 'string' ? fromText(json) : integerOf(numberParts(json))
    if (value === undefined) return notTaken(field, takenOfLong(field), integerRange(field))
    if (typeof json === 'string' || Number.isSafeInteger(Number(value))) return value.toString()
    return new Unmet('be sent as a string of digits: a JSON number this long may lose some')
  },
  taken: takenOfLong,
  outOfBounds: outOfIntegers,
  holds: (value) => typeof value === 'string' && parseInteger(value) !== undefined,
  form: 'a text of digits',
  isWritten: (value, field) => isCanonical(value, field, parseInt64),
  comparable: ['number', 'bigint', 'string'],
  operandOf: integerOperandOf,
  difference: integerDifference,
  width: short,
  example: (_name, field) => madeInteger(field).toString(),
  json: inQuotes,
  cell: plainCell
}

function takenOfLong(field: Field): string {
  return `a string with a whole number ${between(field)}`
}

function parseInt64(text: string, field: Field): Operand | undefined {
  return wholeNumber(text, field)?.toString()
}

function fromText(text: string): bigint | undefined {
  return text.length <= LONGEST_NUMBER ? parseInteger(text) : undefined
}
