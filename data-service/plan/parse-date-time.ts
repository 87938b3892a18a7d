const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))?)?$/

/**
 * A date-time with any offset, none being UTC, or a date alone, its midnight UTC; out comes UTC with milliseconds.
 * undefined for what is no such date (February 30th), is finer than milliseconds, or lies outside of the years 0001 to
 * 9999.
 */
export function parseDateTime(text: string): string | undefined {
  const match = RFC_3339.exec(text)
  if (match === null) return undefined
  const number = (index: number): number => Number(match[index] ?? 0)
  const [year, month, day, hour, minute, second] = [number(1), number(2), number(3), number(4), number(5), number(6)]
  const fraction = match[7] ?? ''
  if (hour > 23 || minute > 59 || second > 59 || /[1-9]/.test(fraction.slice(3))) return undefined
  if (number(9) > 23 || number(10) > 59) return undefined
  const date = new Date(0)
  // Date.UTC takes the years 0 to 99 for those of the twentieth century.
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = (match[8] === '-' ? -1 : 1) * (number(9) * 60 + number(10))
  date.setUTCHours(hour, minute - offset, second, Number(fraction.slice(0, 3).padEnd(3, '0')))
  const shifted = date.getUTCFullYear()
  return shifted >= 1 && shifted <= 9999 ? date.toISOString() : undefined
}
