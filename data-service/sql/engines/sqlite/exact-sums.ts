import { roundedQuotient } from '../../../entity/fields/numbers.js'

// Sums beyond 64 bits, at which SQLite fails. Values are summed in two parts: the quotients and the remainders by a billion.
// This is a file of its own since the threads that read, which need it, load no Sequelize.

export const PART = 1_000_000_000n

const SCALED = 10_000n
const ABOVE_ALL = 10n ** 60n
const DIGITS = 61

/**
 * A text that sorts as the quotient of a sum by a count, in units of its last digit and rounded to four digits more, half
 * away from zero. `high` and `low` are the two parts of the sum. null for a sum of no values.
 */
export function quotientKey(high: unknown, low: unknown, count: unknown): string | null {
  if (typeof high !== 'bigint' || typeof low !== 'bigint' || typeof count !== 'bigint') return null
  const quotient = roundedQuotient((high * PART + low) * SCALED, count)
  return (quotient + ABOVE_ALL).toString().padStart(DIGITS, '0')
}
