import type { Field } from '../fields/field.js'
import { JsonNumber, LONGEST_NUMBER, numberParts } from '../fields/json-values.js'
import { compareDecimals, fitDecimal, formatDecimal, parseDecimal, unscaledAt } from '../fields/numbers.js'
import { within } from './double.js'
import { inQuotes, outsideOfBounds, plainCell, short, type TypeRules, Unmet } from './type-rules.js'

export const decimalRules: TypeRules = {
  parse: (text) => (parseDecimal(text) === undefined ? undefined : text),
  expected: () => 'a decimal number such as 19.90',
  fromJson: (json) => {
    if (json instanceof JsonNumber) return fromNumber(json)
    const isDecimal = typeof json === 'string' && /^-?\d+(\.\d+)?$/.test(json) && json.length <= LONGEST_NUMBER
    return isDecimal ? json : undefined
  },
  taken: () => 'a string with a decimal number such as "19.90"',
  outOfBounds: (value, field) => badDecimal(String(value), field),
  holds: (value) => typeof value === 'string',
  form: 'a text of digits such as "19.90"',
  isWritten: (value, { scale }) => typeof value === 'string' && parseDecimal(value)?.scale === scale,
  comparable: ['string'],
  operandOf: (value, field, rounding) => {
    const parsed = typeof value === 'string' ? parseDecimal(value) : undefined
    return parsed && fitDecimal(parsed, field, rounding)
  },
  difference: (value, operand) => compareDecimals(String(value), String(operand)),
  width: short,
  example: (_name, field) => madeDecimal(field),
  json: inQuotes,
  cell: plainCell
}

/** A JSON number with no more digits survives a reader or writer that uses doubles. */
const SAFE_DIGITS = 15

/** A number in the scale that it was written in, which may be more than that of the column. undefined where it is too long. */
function fromNumber(json: JsonNumber): string | Unmet | undefined {
  const { negative, digits, exponent, scale, significant } = numberParts(json)
  if (significant > SAFE_DIGITS) {
    return new Unmet(`be sent as a string of digits: a JSON number of more than ${SAFE_DIGITS} digits may lose some`)
  }
  if (digits === '') return scale > LONGEST_NUMBER ? '0' : `0${scale > 0 ? `.${'0'.repeat(scale)}` : ''}`
  if (Math.abs(exponent) > LONGEST_NUMBER || scale > LONGEST_NUMBER) return undefined
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent + scale)
  return formatDecimal(negative ? -magnitude : magnitude, scale)
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
  return outsideOfBounds(text, field)
}

/** 10 where the column has two digits before the point, 1 or 0 where it has fewer, and no less or more than the bounds. */
function madeDecimal(field: Field): string {
  const { precision, scale } = field
  // Of a computed decimal nothing is known.
  const digits = precision === 0 ? 2 : precision - scale
  return within(digits >= 2 ? 10 : digits, field).toFixed(Math.min(scale, 20))
}
