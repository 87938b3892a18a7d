import type { Field, Value } from '../fields/field.js'
import {
  inQuotes,
  isCanonical,
  parsedOperand,
  plainCell,
  short,
  range,
  textOrder,
  type TypeRules,
  Unmet
} from './type-rules.js'

export const dateTimeRules: TypeRules = {
  parse: parseMoment,
  expected: (field) =>
    `a date and time such as 2026-01-31T08:00:00Z (RFC 3339, ${fractionInWords(field)}) or a date such as 2026-01-31`,
  parseUnusual: (text) => (text.length > 10 && isUnusualDate(text) ? text : undefined),
  fromJson: (json, field) => (typeof json === 'string' && json.length > 10 ? parseMoment(json, field) : undefined),
  taken: ({ precision }) => {
    const digits = precision > 3 ? `${precision} digits of a second's fraction` : 'milliseconds'
    return `a date and time such as "2026-01-31T08:00:00Z" (RFC 3339, at most ${digits})`
  },
  outOfBounds: (value, field) => tooFine(String(value), field) ?? outsideOfMoments(String(value), field),
  holds: (value, field) => typeof value === 'string' && parseMoment(value, field) === value,
  form: 'a text such as "2026-01-31T08:00:00.000Z"',
  isWritten: (value, field) => isCanonical(value, field, parseMoment) || isUnusualDate(value),
  comparable: ['string'],
  operandOf: parsedOperand(parseMoment),
  difference: (value, operand) => textOrder(instantOf(value), instantOf(operand)),
  width: short,
  example: (name, { precision }) => `${madeDay(name)}T08:00:00.${'0'.repeat(Math.max(3, precision))}Z`,
  json: inQuotes,
  cell: plainCell
}

function parseMoment(text: string, { precision }: Field): string | undefined {
  return parseDateTime(text, precision)
}

/** A date, or a date and time, as MySQL stores them and no request may send them: with a month or a day of 0. */
const UNUSUAL_DATE = /^\d{4}-(?:00-\d{2}|\d{2}-00)(?:T\d{2}:\d{2}:\d{2}\.\d{3,6}Z)?$/

export function isUnusualDate(value: Value): boolean {
  return typeof value === 'string' && UNUSUAL_DATE.test(value)
}

/** The most digits of a second's fraction that a value on the wire has. */
export function wireDigits(precision: number): number {
  return Math.max(3, precision)
}

function fractionInWords({ precision }: Field): string {
  return precision > 3 ? `at most ${precision} digits of a second's fraction` : 'at most milliseconds'
}

/** A fraction of a second that the column would round. */
export function tooFine(text: string, { precision }: Field): Unmet | undefined {
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

/** With as many digits after the point as the longest has, so that texts are in the order of their instants. */
export function instantOf(value: Value): string {
  const [whole = '', fraction = ''] = String(value).replace(/Z$/, '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

/** What ends, is due or is expected lies ahead of what begins. */
export function madeDay(name: string): string {
  return /end|expire|expect|renew|until|due/i.test(name) ? '2030-12-31' : '2026-01-31'
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
