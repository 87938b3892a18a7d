import type { Field } from './field.js'
import type { Rounding } from './operators.js'

/**
 * Exact numbers as digits in text: integers of up to 64 bits, and decimals (contract.md section 3). None of them passes
 * through a double. The functions for doubles are at the end of the file. Decimals are a BigInt and a scale, not `big.js`:
 * that library takes other spellings (`1e5`, `.5`), has no rounding toward floor or ceiling, and took three to four times
 * as long for a value as it is read here.
 */

export interface IntegerRange {
  readonly min: bigint
  readonly max: bigint
}

export const INT32_RANGE: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n }
export const INT64_RANGE: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** Bits of the storage of an int. */
const INT_BITS = { tinyInt: 8, smallInt: 16, mediumInt: 24 } as const

/** The integers that an int or long column can hold. */
export function rangeOf({ type, storage, unsigned, precision }: Field): IntegerRange {
  switch (storage) {
    case 'year':
      // A YEAR column also has 0, and takes numbers of two digits for years of a century.
      return { min: 1901n, max: 2155n }
    case 'bits':
      return { min: 0n, max: 2n ** BigInt(precision) - 1n }
    case 'usual':
      if (!unsigned) return type === 'int' ? INT32_RANGE : INT64_RANGE
      return { min: 0n, max: 2n ** (type === 'int' ? 32n : 64n) - 1n }
    case 'float':
    case 'flag':
      return INT32_RANGE
    case 'tinyInt':
    case 'smallInt':
    case 'mediumInt': {
      const count = BigInt(INT_BITS[storage])
      return unsigned
        ? { min: 0n, max: 2n ** count - 1n }
        : { min: -(2n ** (count - 1n)), max: 2n ** (count - 1n) - 1n }
    }
  }
}

export function isWithin(value: bigint, { min, max }: IntegerRange): boolean {
  return value >= min && value <= max
}

/** Characters of the longest number of 64 bits without leading zeros, `-9223372036854775808`. */
const LONGEST_INT64 = 20

/**
 * Digits after an optional minus as an integer; undefined for any other text, and for a number outside of the range.
 * BigInt takes more than linear time for long texts: with a range it gets none, without one the caller bounds the text.
 */
export function parseInteger(text: string, range?: IntegerRange): bigint | undefined {
  if (!/^-?\d+$/.test(text)) return undefined
  if (range === undefined) return BigInt(text)
  const digits = text.length > LONGEST_INT64 ? text.replace(/^(-?)0+(?=\d)/, '$1') : text
  if (digits.length > LONGEST_INT64) return undefined
  const value = BigInt(digits)
  return isWithin(value, range) ? value : undefined
}

/** An exact decimal: `unscaled` / 10^`scale`. */
interface Decimal {
  readonly unscaled: bigint
  /** Digits after the point. */
  readonly scale: number
}

/** Digits with an optional sign and fraction and no exponent; undefined for any other text. */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign = '', whole, fraction = ''] = /^([+-]?)(\d+)(?:\.(\d+))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const magnitude = BigInt(whole + fraction)
  return { unscaled: sign === '-' ? -magnitude : magnitude, scale: fraction.length }
}

/** `-19.90` of -1990 and scale 2. */
export function formatDecimal(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? '-' : ''
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0')
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** The `unscaled` of the same value at a scale that is no smaller than its own. */
export function unscaledAt(value: Decimal, scale: number): bigint {
  return value.unscaled * 10n ** BigInt(scale - value.scale)
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: string, b: string): number {
  const [left, right] = [decimalOf(a), decimalOf(b)]
  const scale = Math.max(left.scale, right.scale)
  const difference = unscaledAt(left, scale) - unscaledAt(right, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/**
 * The value in exactly the scale of a column, as an operand of a comparison. A value that the column cannot hold becomes
 * ±10^(precision-scale), which is just beyond all that it can hold: it orders like the value itself and equals nothing.
 * With `exact` a value with more digits than the scale becomes the same.
 */
export function fitDecimal(
  value: Decimal,
  { precision, scale }: { readonly precision: number; readonly scale: number },
  rounding: Rounding
): string {
  const beyond = 10n ** BigInt(precision)
  const fitted = rounded(value, scale, rounding) ?? beyond
  return formatDecimal(fitted > beyond ? beyond : fitted < -beyond ? -beyond : fitted, scale)
}

function rounded(value: Decimal, scale: number, rounding: Rounding): bigint | undefined {
  if (value.scale <= scale) return unscaledAt(value, scale)
  const divisor = 10n ** BigInt(value.scale - scale)
  const truncated = value.unscaled / divisor
  const remainder = value.unscaled % divisor
  if (remainder === 0n) return truncated
  if (rounding === 'exact') return undefined
  if (rounding === 'floor') return remainder < 0n ? truncated - 1n : truncated
  return remainder > 0n ? truncated + 1n : truncated
}

/** The quotient by a positive number as a whole number, rounded half away from zero. */
export function roundedQuotient(dividend: bigint, divisor: bigint): bigint {
  const magnitude = (2n * (dividend < 0n ? -dividend : dividend) + divisor) / (2n * divisor)
  return dividend < 0n ? -magnitude : magnitude
}

// Arithmetic of entity files on amounts: decimals in the scale of their column. A text that is no decimal is a mistake
// of the entity file, a TypeError.

/** `19.90` three times is `59.70`. */
export function times(amount: string, count: number): string {
  const { unscaled, scale } = decimalOf(amount)
  return formatDecimal(unscaled * BigInt(count), scale)
}

/** The sum of amounts that all have `scale` digits after the point. */
export function sumOf(amounts: readonly string[], scale: number): string {
  return formatDecimal(
    amounts.reduce((sum, amount) => sum + decimalOf(amount).unscaled, 0n),
    scale
  )
}

/** What is left of an amount that is not negative after `percent` of it is taken off, rounded down to its scale. */
export function lessPercent(amount: string, percent: number): string {
  const { unscaled, scale } = decimalOf(amount)
  return formatDecimal((unscaled * BigInt(100 - percent)) / 100n, scale)
}

/** Whether the amount has no more than `digits` in all. */
export function fitsDigits(amount: string, digits: number): boolean {
  const { unscaled } = decimalOf(amount)
  return (unscaled < 0n ? -unscaled : unscaled) < 10n ** BigInt(digits)
}

function decimalOf(text: string): Decimal {
  const value = parseDecimal(text)
  if (value === undefined) throw new TypeError(`${text} is not a decimal number`)
  return value
}

/** Significant digits, far beyond those of any double. */
const MOST_DIGITS = 100

/**
 * The double of a JSON number; undefined for one that no double is: it would be rounded to another number, or to infinity.
 * More digits than the shortest ones are taken as long as they are those of the double, as 0.10000000000000001 is 0.1.
 */
export function parseDouble(text: string, storage: Field['storage'] = 'usual'): number | undefined {
  const [, whole, fraction = '', exponent = '0'] = /^[+-]?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,5}))?$/.exec(text) ?? []
  if (whole === undefined) return undefined
  const written = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = withoutTrailingZeros(written)
  // A negative zero is stored as 0 by SQLite, so that it is 0 everywhere.
  if (digits === '') return 0
  if (written.length > MOST_DIGITS) return undefined
  const value = storage === 'float' ? Math.fround(Number(text)) : Number(text)
  if (!Number.isFinite(value)) return undefined
  const power = Number(exponent) + written.length - 1 - fraction.length
  const isRounded =
    scientific(value, digits.length) === `${digits}e${power}` ||
    // Half way between two numbers of so many digits JavaScript rounds up, shortest digits and C's printf to an even one.
    (/[02468]$/.test(digits) && scientific(value, MOST_DIGITS) === `${digits}5e${power}`)
  if (!isRounded) return undefined
  return storage === 'float' ? shortestFloat(value) : value
}

/** The value without its sign, in at most so many digits: 15e-1 for 1.5. */
function scientific(value: number, digits: number): string {
  const [mantissa = '', power = ''] = Math.abs(value)
    .toExponential(digits - 1)
    .split('e')
  return `${withoutTrailingZeros(mantissa.replace('.', ''))}e${Number(power)}`
}

/** A loop, because the pattern `0+$` takes quadratic time for many zeros that another digit follows. */
export function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

/** The number with the fewest digits that is this one in 32 bits: 1.1 for 1.100000023841858. Any other stays as it is. */
export function shortestFloat(value: number): number {
  if (Math.fround(value) !== value) return value
  for (let digits = 1; digits < 9; digits++) {
    const shorter = Number(value.toPrecision(digits))
    if (Math.fround(shorter) === value) return shorter
  }
  return Number(value.toPrecision(9))
}

/** The operand of a comparison with a double column: one of a `float` column in its 32 bits. */
export function fitDouble(value: number, { storage }: Pick<Field, 'storage'>, rounding: Rounding): number {
  if (storage !== 'float') return value
  const nearest = Math.fround(value)
  const shown = shortestFloat(nearest)
  if (nearest === value) return shown
  if (shown === value || rounding === 'exact' || !Number.isFinite(nearest)) return value
  if (rounding === 'floor') return shown < value ? shown : shortestFloat(neighbour(nearest, -1))
  return shown > value ? shown : shortestFloat(neighbour(nearest, 1))
}

/** The next number of 32 bits above or below. */
function neighbour(value: number, step: 1 | -1): number {
  const [float, bits] = [new Float32Array([value]), new Int32Array(1)]
  new Uint8Array(bits.buffer).set(new Uint8Array(float.buffer))
  const at = bits[0] ?? 0
  // The bits of negative numbers count away from zero.
  bits[0] = value === 0 ? (step === 1 ? 1 : -0x7fffffff) : at + (value > 0 ? step : -step)
  new Uint8Array(float.buffer).set(new Uint8Array(bits.buffer))
  return float[0] ?? 0
}
