import { hardText } from '../hard-texts.js'
import type { SampleMaker } from '../sample-aggregate.js'

const KINDS = ['Hall', 'Club', 'Theatre', 'Garden', 'Library', 'Barn', 'Gallery']
const NAMES = ['Old', 'North', 'River', 'Market', 'Corn', 'Glass', 'Union']
const CITIES = ['Berlin', 'Córdoba', 'Kraków', 'Lyon', 'Reykjavík', '東京', 'L’Aquila', 'Saint-Denis, Réunion']

/** Venues, the first of them open. */
export const venueMaker: SampleMaker = (id, random) => ({
  root: {
    id,
    // Those that spreadsheets and LIKE trip over are further down the list.
    name: hardText(id + 14, 2) ?? `${random.pick(NAMES)} ${random.pick(KINDS)}`,
    city: random.pick(CITIES),
    capacity: random.int(2, 200) * 10,
    isOpen: id === 1 || random.chance(80)
  },
  children: {}
})
