import { hardText } from '../hard-texts.js'
import type { SampleMaker } from '../sample-aggregate.js'

const NAMES = [
  'Nordholz',
  'Fratelli Rossi',
  'Ткани Востока',
  '京都陶器',
  "O'Leary & Sons",
  'Łódź Glass',
  'Åkerlund',
  'La Forge'
]
const FORMS = ['GmbH', 'S.p.A.', 'Ltd., London', 'AB', '株式会社']
const COUNTRIES = ['CN', 'DE', 'FR', 'IE', 'IT', 'JP', 'PL', 'SE']

/** Every third one has a hard name. */
const HARD_EVERY = 3

/** Suppliers; one in five is active no more. */
export const supplierMaker: SampleMaker = (id, random) => ({
  root: {
    id,
    name: hardText(id, HARD_EVERY) ?? `${random.pick(NAMES)} ${random.pick(FORMS)}`,
    country: random.pick(COUNTRIES),
    isActive: random.chance(80)
  },
  children: {}
})
