import { hardText } from '../hard-texts.js'
import { numberedGuid } from '../numbered-guid.js'
import type { SampleMaker } from '../sample-aggregate.js'

const PLACES = ['Harbour', 'North', 'Old Mill', 'Airport', 'Ring Road', 'Südkreuz', 'Порт', '港北']
const CITIES = ['Gdańsk', 'Göteborg', 'Hamburg', 'Le Havre', "L'Aquila", 'Санкт-Петербург', '横浜']

/** Every fourth one has a hard name. */
const HARD_EVERY = 4

/** Warehouses, the id being the guid of the number; one in five is closed. */
export const warehouseMaker: SampleMaker = (number, random) => ({
  root: {
    id: numberedGuid(number),
    name: hardText(number, HARD_EVERY) ?? `${random.pick(PLACES)} ${number}`,
    city: random.pick(CITIES),
    isOpen: random.chance(80)
  },
  children: {}
})
