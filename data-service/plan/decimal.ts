import type { Field } from '../entity/field.js'

/** An exact decimal: `unscaled` / 10^`scale`. */
export interface Decimal {
  readonly unscaled: bigint
  readonly scale: number
}

export type Rounding = 'floor' | 'ceiling' | 'exact'

/** Digits with an optional sign and fraction; no exponent. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const magnitude = BigInt(whole + fraction)
  return { unscaled: sign === '-' ? -magnitude : magnitude, scale: fraction.length }
}

/**
 * The value in exactly the column's scale. What the column cannot hold becomes the number just beyond all that it can,
 * ±10^(precision-scale), which orders like the value itself and equals nothing; so does, for `exact`, a value with more
 * digits than the scale.
 */
export function fitDecimal(value: Decimal, { precision, scale }: Field, rounding: Rounding): string {
  const beyond = 10n ** BigInt(precision)
  const fitted = rescale(value, scale, rounding) ?? beyond
  return format(fitted > beyond ? beyond : fitted < -beyond ? -beyond : fitted, scale)
}

/** The digits of a value at a scale no smaller than its own. */
export function rescaled({ unscaled, scale }: Decimal, to: number): bigint {
  return unscaled * 10n ** BigInt(to - scale)
}

function rescale(value: Decimal, scale: number, rounding: Rounding): bigint | undefined {
  if (value.scale <= scale) return rescaled(value, scale)
  const divisor = 10n ** BigInt(value.scale - scale)
  const truncated = value.unscaled / divisor
  const remainder = value.unscaled % divisor
  if (remainder === 0n) return truncated
  if (rounding === 'exact') return undefined
  if (rounding === 'floor') return remainder < 0n ? truncated - 1n : truncated
  return remainder > 0n ? truncated + 1n : truncated
}

function format(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  const sign = unscaled < 0n ? '-' : ''
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
