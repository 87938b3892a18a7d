import type { Field } from '../fields/field.js'
import { withoutTrailingZeros } from '../fields/numbers.js'
import { instantOf, tooFine, wireDigits } from './date-time.js'
import { inQuotes, isCanonical, parsedOperand, plainCell, short, textOrder, type TypeRules } from './type-rules.js'

export const timeRules: TypeRules = {
  parse: parseTimeOfDay,
  expected: () => 'a time such as 08:00:00',
  fromJson: (json, field) => (typeof json === 'string' ? parseTimeOfDay(json, field) : undefined),
  taken: () => 'a time of the day such as "08:00:00"',
  outOfBounds: (value, field) => tooFine(String(value), field),
  holds: (value, field) => typeof value === 'string' && parseTimeOfDay(value, field) === value,
  form: 'a text such as "08:00:00"',
  isWritten: (value, field) =>
    isCanonical(value, field, parseTimeOfDay) || (typeof value === 'string' && STORED_TIME.test(value)),
  comparable: ['string'],
  operandOf: parsedOperand(parseTimeOfDay),
  difference: (value, operand) =>
    !UNORDERED.test(String(value)) ? textOrder(instantOf(value), instantOf(operand)) : undefined,
  width: short,
  example: (_name, { precision }) => (precision === 0 ? '08:00:00' : `08:00:00.${'0'.repeat(precision)}`),
  json: inQuotes,
  cell: plainCell
}

/** Times as MySQL stores them, of less than 0 and of more than 24 hours too, which no request may send. */
const STORED_TIME = /^-?\d{2,3}:[0-5]\d:[0-5]\d(?:\.\d{1,6})?$/

/** A time of less than 0 or of more than 99 hours is not in the order of its text. */
const UNORDERED = /^(?:-|\d{3}:)/

function parseTimeOfDay(text: string, { precision }: Field): string | undefined {
  return parseTime(text, precision)
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
