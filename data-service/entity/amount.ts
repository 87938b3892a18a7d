/** Exact arithmetic on amounts of one scale, decimals as texts (value.ts): nothing here passes through a double. */

/** `19.90` three times is `59.70`. */
export function times(amount: string, count: number): string {
  return format(unscaled(amount) * BigInt(count), scaleOf(amount))
}

/** The sum of amounts that all have `scale` digits after the point. */
export function sumOf(amounts: readonly string[], scale: number): string {
  return format(
    amounts.reduce((sum, amount) => sum + unscaled(amount), 0n),
    scale
  )
}

/** What is left of an amount that is not negative once `percent` of it is off, rounded down to its scale. */
export function lessPercent(amount: string, percent: number): string {
  return format((unscaled(amount) * BigInt(100 - percent)) / 100n, scaleOf(amount))
}

/** Whether the amount has no more than `digits` in all. */
export function fitsDigits(amount: string, digits: number): boolean {
  const value = unscaled(amount)
  return (value < 0n ? -value : value) < 10n ** BigInt(digits)
}

function unscaled(amount: string): bigint {
  return BigInt(amount.replace('.', ''))
}

function scaleOf(amount: string): number {
  const point = amount.indexOf('.')
  return point === -1 ? 0 : amount.length - point - 1
}

function format(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  const sign = value < 0n ? '-' : ''
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
