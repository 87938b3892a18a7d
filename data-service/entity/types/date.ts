import { isUnusualDate, madeDay, parseDateTime } from './date-time.js'
import {
  inQuotes,
  isCanonical,
  never,
  short,
  parsedOperand,
  plainCell,
  textOrder,
  type TypeRules
} from './type-rules.js'

export const dateRules: TypeRules = {
  parse: parseDate,
  expected: () => 'a date such as 2026-01-31',
  parseUnusual: (text) => (text.length === 10 && isUnusualDate(text) ? text : undefined),
  fromJson: (json) => (typeof json === 'string' ? parseDate(json) : undefined),
  taken: () => 'a date such as "2026-01-31"',
  outOfBounds: never,
  holds: (value) => typeof value === 'string' && parseDate(value) === value,
  form: 'a text such as "2026-01-31"',
  isWritten: (value, field) => isCanonical(value, field, parseDate) || isUnusualDate(value),
  comparable: ['string'],
  operandOf: parsedOperand(parseDate),
  difference: (value, operand) => textOrder(String(value), String(operand)),
  width: short,
  example: (name) => madeDay(name),
  json: inQuotes,
  cell: plainCell
}

/** A day of the calendar from the year 0001 to 9999; undefined for any other text. */
export function parseDate(text: string): string | undefined {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && parseDateTime(text) !== undefined ? text : undefined
}
