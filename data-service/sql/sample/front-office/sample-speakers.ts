import { hardText } from '../hard-texts.js'
import type { SampleMaker } from '../sample-aggregate.js'
import { GIVEN_NAMES } from '../sample-customers.js'

const SURNAMES = ["O'Hara", 'de la Cruz', 'Øst', 'Šimić', 'Smith, Sr.', '山田', 'Петренко', 'null']
const BIOS = [
  'Has spoken since 1999.',
  'Two lines:\nthis is the second.',
  '=HYPERLINK("x") is no link',
  '50% talk, 50% demo; _all_ fun',
  'Says "hi" with a \\',
  ''
]

/** Speakers at the given events. */
export function speakerMaker(eventIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      name: hardText(id, 3) ?? `${random.pick(GIVEN_NAMES)} ${random.pick(SURNAMES)}`,
      bio: random.chance(30) ? null : random.pick(BIOS),
      eventId: random.pick(eventIds),
      isConfirmed: random.chance(60)
    },
    children: {}
  })
}
