import type { SampleRandom } from './sample-random.js'

const FIRST_MOMENT = Date.UTC(2024, 0, 1)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const SPAN_DAYS = 730

/** Milliseconds since 1970 within the two years that the sample store tells of. */
export function moment(random: SampleRandom): number {
  return FIRST_MOMENT + random.int(0, SPAN_DAYS - 1) * DAY_MS + random.int(0, DAY_MS - 1)
}

/** A moment one minute to `days` days after another. */
export function momentAfter(random: SampleRandom, earlier: number, days: number): number {
  return earlier + random.int(MINUTE_MS, days * DAY_MS)
}

/** A moment as a dateTime is written everywhere. */
export function dateTimeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** Cents as a decimal of scale 2. */
export function amountOf(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}

/** A decimal of scale 2 as cents. */
export function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''))
}

/** A version 4 guid. */
export function guidOf(random: SampleRandom): string {
  const bytes = random.bytes(16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
