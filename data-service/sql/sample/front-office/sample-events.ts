import { hardText } from '../hard-texts.js'
import type { SampleMaker } from '../sample-aggregate.js'
import { dateTimeOf, moment, momentAfter } from '../sample-values.js'

const SUBJECTS = ['Tea', 'Knives', 'Glass', 'Gardens', 'Wool', 'Coffee', 'Skis', 'Clocks']
const KINDS = ['An Evening of', 'Workshop:', 'The Future of', 'Caring for', 'Meet the Makers of']
const STATUSES = ['draft', 'scheduled', 'scheduled', 'scheduled', 'cancelled']

/** Events at the given venues, the first of them scheduled. */
export function eventMaker(venueIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const starts = moment(random)
    return {
      root: {
        id,
        title: hardText(id + 14, 2) ?? `${random.pick(KINDS)} ${random.pick(SUBJECTS)}`,
        startsAt: dateTimeOf(starts),
        endsAt: dateTimeOf(momentAfter(random, starts, 3)),
        venueId: random.pick(venueIds),
        status: id === 1 ? 'scheduled' : random.pick(STATUSES)
      },
      children: {}
    }
  }
}
