import type { Field } from '../entity/field.js'
import type { Operand } from '../entity/value.js'
import { parseDecimal, rescaled } from './decimal.js'
import { RANGES } from './parse-value.js'

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
  return minLength === 0 ? `have at most ${maxLength} characters` : `have ${minLength} to ${maxLength} characters`
}

function outOfRange(value: bigint, { min, max }: { readonly min: bigint; readonly max: bigint }): string | undefined {
  return value < min || value > max ? `be a whole number from ${min} to ${max}` : undefined
}

function badDecimal(text: string, field: Field): string | undefined {
  const { precision, scale } = field
  const value = parseDecimal(text)
  if (value === undefined) return 'be a decimal number such as 19.90'
  if (value.scale > scale)
    return scale === 0 ? 'have no digits after the point' : `have at most ${scale} digits after the point`
  const unscaled = rescaled(value, scale)
  const beyond = 10n ** BigInt(precision)
  if (unscaled >= beyond || unscaled <= -beyond) return `have at most ${precision - scale} digits before the point`
  return outside(text, field)
}

/** Bounds that the entity file sets. */
function outside(text: string, { minimum, maximum }: Field): string | undefined {
  if (minimum !== undefined && compare(text, minimum) < 0) return `be at least ${minimum}`
  return maximum !== undefined && compare(text, maximum) > 0 ? `be at most ${maximum}` : undefined
}

function compare(a: string, b: string): number {
  const [left, right] = [parseDecimal(a), parseDecimal(b)]
  if (left === undefined || right === undefined) throw new TypeError(`${a} and ${b} must be numbers`)
  const scale = Math.max(left.scale, right.scale)
  const difference = rescaled(left, scale) - rescaled(right, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
