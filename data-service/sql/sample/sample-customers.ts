import type { SampleMaker, SampleRow } from './sample-aggregate.js'
import type { SampleRandom } from './sample-random.js'
import { dateTimeOf, moment } from './sample-values.js'

export const GIVEN_NAMES = [
  'Ada',
  'Ben',
  'Chloé',
  'Dmitri',
  'Eszter',
  'Fatima',
  'Jürgen',
  'Li',
  'Maeve',
  'Noor',
  '花子',
  'Олена'
]
const FAMILY_NAMES = [
  "O'Brien",
  'Lovelace',
  'Núñez',
  'Smith, Jr.',
  'van der Berg',
  'Ångström',
  'Øst',
  '山田',
  'Шевченко'
]
const STREETS = ['Main Street', 'Rue de la Paix', 'Große Straße', 'ул. Ленина', 'Calle Ñandú']
const CITIES = ['Berlin', 'Córdoba', 'Kraków', 'Lyon', 'Reykjavík', '東京']
const COUNTRIES = ['AR', 'DE', 'FR', 'IS', 'JP', 'PL']
const RISK_NOTES = ['Chargeback in March.', 'Pays late, "always".', 'Two accounts, one phone.']

/** The customers of the sample accounts, by id. */
const ACCOUNTS: Readonly<Record<number, { readonly name: string; readonly email: string }>> = {
  1: { name: 'Ada Lovelace', email: 'ada@example.com' },
  2: { name: "Ben O'Brien", email: 'ben@example.com' }
}

/** Customers with their addresses. */
export const customerMaker: SampleMaker = (id, random) => {
  const { name, email } = ACCOUNTS[id] ?? {
    name: `${random.pick(GIVEN_NAMES)} ${random.pick(FAMILY_NAMES)}`,
    email: `${random.chance(10) ? 'Customer' : 'customer'}.${id}@example.com`
  }
  return {
    root: {
      id,
      name,
      email,
      phone: random.chance(25) ? null : `+${random.int(1, 99)} ${random.int(1_000_000, 999_999_999)}`,
      isSuspended: ACCOUNTS[id] === undefined && random.chance(5),
      createdAt: dateTimeOf(moment(random)),
      riskNote: random.chance(10) ? random.pick(RISK_NOTES) : null
    },
    children: { addresses: Array.from({ length: random.int(0, 3) }, () => sampleAddress(random)) }
  }
}

function sampleAddress(random: SampleRandom): SampleRow {
  return {
    line1: `${random.pick(STREETS)} ${random.int(1, 200)}`,
    city: random.pick(CITIES),
    postalCode: String(random.int(1000, 99_999)).padStart(5, '0'),
    country: random.pick(COUNTRIES)
  }
}
