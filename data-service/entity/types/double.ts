import type { Field } from '../fields/field.js'
import { JsonNumber } from '../fields/json-values.js'
import { fitDouble, parseDouble } from '../fields/numbers.js'
import { range, short, type TypeRules, Unmet } from './type-rules.js'

export const doubleRules: TypeRules = {
  parse: (text) => parseDouble(text),
  expected: () => 'a number such as 1.5 or -2e-7 that a double of IEEE 754 can hold',
  fromJson: (json, { storage }) => (json instanceof JsonNumber ? parseDouble(json.text, storage) : undefined),
  taken: ({ storage }) => `a JSON number that ${storage === 'float' ? '32 bits' : 'a double'} can hold (IEEE 754)`,
  outOfBounds: (value, field) => outsideOfDouble(Number(value), field),
  holds: (value, { storage }) => typeof value === 'number' && parseDouble(String(value), storage) !== undefined,
  form: 'a number',
  isWritten: (value) => typeof value === 'number' && Number.isFinite(value),
  comparable: ['number'],
  operandOf: (value, field, rounding) =>
    typeof value === 'number' && Number.isFinite(value) ? fitDouble(value, field, rounding) : undefined,
  // A float has fewer digits than those of its text.
  difference: (value, operand, { storage }) => (storage !== 'float' ? Number(value) - Number(operand) : undefined),
  width: short,
  example: (_name, field) => within(1.5, field),
  // JavaScript writes the shortest digits that read back the same, but for the sign of zero.
  json: (value) => (Object.is(value, -0) ? '-0' : String(value)),
  cell: (value, out) => {
    if (value !== null) out.text(Object.is(value, -0) ? '-0' : String(value))
  }
}

function outsideOfDouble(value: number, { minimum, maximum }: Field): Unmet | undefined {
  const bounds = range(minimum && Number(minimum), maximum && Number(maximum))
  if (minimum !== undefined && value < Number(minimum)) return new Unmet(`be at least ${minimum}`, bounds)
  return maximum !== undefined && value > Number(maximum) ? new Unmet(`be at most ${maximum}`, bounds) : undefined
}

/** The value, or the bound that it is beyond. */
export function within(value: number, { minimum, maximum }: Field): number {
  return Math.min(Math.max(value, Number(minimum ?? value)), Number(maximum ?? Infinity))
}
