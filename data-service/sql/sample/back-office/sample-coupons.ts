import type { SampleMaker, SampleRow } from '../sample-aggregate.js'
import type { SampleRandom } from '../sample-random.js'
import { dateTimeOf, moment, momentAfter } from '../sample-values.js'

const WORDS = [
  'SAVE',
  'welcome',
  'Été',
  'ЗИМА',
  '春',
  '100%',
  '=SUM',
  '-10',
  'snake_case',
  "O'Deal",
  '"VIP"',
  'a,b',
  '@home'
]

/** Coupons to try things with, by id: good for ever, over, switched off, and the bounds of percent. */
const KNOWN: Readonly<Record<number, SampleRow>> = {
  1: { code: 'WELCOME10', percent: 10, startsAt: '2024-01-01T00:00:00.000Z', endsAt: null, isActive: true },
  2: {
    code: 'EXPIRED20',
    percent: 20,
    startsAt: '2024-01-01T00:00:00.000Z',
    endsAt: '2024-06-30T23:59:59.999Z',
    isActive: true
  },
  3: { code: 'SWITCHEDOFF', percent: 30, startsAt: '2024-01-01T00:00:00.000Z', endsAt: null, isActive: false },
  4: { percent: 1 },
  5: { percent: 100 }
}

/** Coupons; half of them end some day. */
export const couponMaker: SampleMaker = (id, random) => ({
  root: { id, ...someCoupon(id, random), ...KNOWN[id] },
  children: {}
})

function someCoupon(id: number, random: SampleRandom): SampleRow {
  const starts = moment(random)
  return {
    // Unique whatever the letter case, since the number is.
    code: `${random.pick(WORDS)}-${String(id).padStart(4, '0')}`,
    percent: random.int(1, 18) * 5,
    startsAt: dateTimeOf(starts),
    endsAt: random.chance(50) ? null : dateTimeOf(momentAfter(random, starts, 400)),
    isActive: random.chance(75)
  }
}
