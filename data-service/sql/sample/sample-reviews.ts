import type { SampleRow } from './sample-aggregate.js'
import { GIVEN_NAMES } from './sample-customers.js'
import type { SampleRandom } from './sample-random.js'
import { dateTimeOf, moment } from './sample-values.js'

const TITLES = [
  'Does what it says',
  'Never again',
  'Très bien!',
  '-1 star',
  'Five out of 5',
  'とても良い',
  '"Fine", I guess'
]
const BODIES = [
  'Bought two.\nWould buy a third.',
  'It broke, but beautifully.',
  'Ok.',
  '100% as described; _really_.',
  ''
]

export function sampleReview(random: SampleRandom): SampleRow {
  return {
    rating: random.int(1, 5),
    title: random.pick(TITLES),
    body: random.chance(30) ? null : random.pick(BODIES),
    authorName: random.pick(GIVEN_NAMES),
    createdAt: dateTimeOf(moment(random))
  }
}
