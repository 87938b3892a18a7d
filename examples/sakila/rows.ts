/** A value as every driver takes it, numbers above 2^53, days and times of day as texts, or one that depends on the database. */
export type SqlValue = string | number | Buffer | Amount | Moment | null

/** An amount with two decimal places. */
export interface Amount {
  readonly cents: number
}

/** A moment, UTC, with or without a fraction of its second: `2006-02-15 04:34:33`. */
export interface Moment {
  readonly moment: string
}

/** Rows of one table. */
export interface TableRows {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
}

/** How many rows there are of what the others depend on. */
interface Counts {
  readonly films: number
  readonly actors: number
  readonly customers: number
  readonly rentals: number
  readonly days: number
}

export const SIZES = {
  tiny: { films: 6, actors: 5, customers: 4, rentals: 8, days: 2 },
  small: { films: 60, actors: 40, customers: 40, rentals: 300, days: 10 },
  full: { films: 1000, actors: 200, customers: 600, rentals: 16_000, days: 180 }
} as const satisfies Record<string, Counts>

export type Size = keyof typeof SIZES

/** All rows of the example, the same ones each time. They hold each other by foreign keys once all of them are there. */
export function sakilaRows(size: Size): readonly TableRows[] {
  const counts = SIZES[size]
  const places = makePlaces(counts)
  const films = makeFilms(counts)
  const people = makePeople(counts)
  const business = makeRentals(counts, films)
  return [...places, ...films.tables, ...people, ...business]
}

/** When most rows were last touched, in seconds since 1970. */
const TOUCHED = Date.UTC(2006, 1, 15, 4, 34, 33) / 1000
const FIRST_RENTAL = Date.UTC(2005, 4, 24, 22, 53, 30) / 1000
const DAY = 24 * 60 * 60
const STORES = 2

const touched = (n: number): Moment => momentOf(TOUCHED + (n % 600))

// --- Places --------------------------------------------------------------------------------------------------------

const COUNTRIES =
  'Argentina|Australia|Austria|Bolivia|Brazil|Canada|Chile|China|Congo, The Democratic Republic of the|Côte d’Ivoire|' +
  'Denmark|Ethiopia|Finland|France|Germany|Greece|India|Indonesia|Ireland|Italy|Japan|Kenya|Mexico|Mongolia|Nepal|' +
  'New Zealand|Nigeria|Norway|Peru|Poland|Portugal|Romania|Réunion|Spain|Sweden|Tunisia|Turkey|United Kingdom|' +
  'United States|Vietnam'
const CITY_STARTS = words(
  'Al Bel Cor Dra Est Fal Gran Hol Is Jun Kal Lom Mar Nov Os Pal Qui Ros Sal Tor Ul Ver Wes Zan'
)
const CITY_ENDS = words('acruz berg chester dorf enau ford gorod haven ino kita lund mouth nagar olis pur ria stad ton')
const HARD_CITIES = ["L'Hospitalet", 'São Tomé', 'Łęczyca', 'Saint-Denis', 'Åbo/Turku', '上海']
const STREETS = words('Oak Mill River Station Market Church Garden Harbour Hill Lake')
const DISTRICTS = words('North South East West Centre Alberta Punjab Kanto Lazio Nantou')

function makePlaces({ customers }: Counts): TableRows[] {
  const random = new Random('places')
  const countries = COUNTRIES.split('|')
  const cityCount = Math.max(20, customers)
  const addressCount = customers + 2 * STORES
  const cities = numbers(cityCount).map((id): SqlValue[] => {
    const made = `${random.pick(CITY_STARTS)}${random.pick(CITY_ENDS)}`
    return [id, HARD_CITIES[id - 5] ?? made, random.int(1, countries.length), touched(id)]
  })
  const addresses = numbers(addressCount).map((id): SqlValue[] => [
    id,
    `${random.int(1, 1999)} ${random.pick(STREETS)} ${random.pick(['Street', 'Road', 'Avenue', 'Way'])}`,
    // Sakila has both the empty text and null here.
    random.pick([null, '', `Flat ${random.int(1, 40)}`]),
    random.pick(DISTRICTS),
    // Stores are in cities whose names every database sorts alike.
    id <= STORES ? id : random.int(1, cityCount),
    random.chance(5) ? null : String(random.int(1000, 99_999)),
    String(random.int(100_000_000, 999_999_999)).padStart(12, '0'),
    pointOf(random.int(-1799, 1799) / 10, random.int(-899, 899) / 10),
    touched(id)
  ])
  return [
    table(
      'country',
      'country_id country last_update',
      countries.map((name, at) => [at + 1, name, touched(at)])
    ),
    table('city', 'city_id city country_id last_update', cities),
    table('address', 'address_id address address2 district city_id postal_code phone location last_update', addresses)
  ]
}

/** A point as MySQL stores it: the number of its system of coordinates, then well-known binary. */
function pointOf(longitude: number, latitude: number): Buffer {
  const bytes = Buffer.alloc(25)
  bytes.writeUInt8(1, 4)
  bytes.writeUInt32LE(1, 5)
  bytes.writeDoubleLE(longitude, 9)
  bytes.writeDoubleLE(latitude, 17)
  return bytes
}

// --- Films and actors ----------------------------------------------------------------------------------------------

const LANGUAGES = ['English', 'Italian', 'Japanese', 'Mandarin', 'French', 'German']
const CATEGORIES = words(
  'Action Animation Children Classics Comedy Documentary Drama Family Foreign Games Horror Music New Sci-Fi Sports Travel'
)
const TITLE_STARTS = words(
  'ACADEMY AMBER ARCTIC AUTUMN BAKER BRASS BROKEN CANYON CEDAR CIRCUS COPPER CRIMSON DESERT DISTANT ELECTRIC EMBER FALCON ' +
    'FOREST FROZEN GARDEN GOLDEN HARBOR HIDDEN HOLLOW IVORY JASMINE LANTERN LAST LITTLE MARBLE MIDNIGHT NORTHERN ORCHID ' +
    'PAPER QUIET RIVER SILVER THUNDER VELVET WINTER'
)
const TITLE_ENDS = words(
  'ALIBI ANGEL ARCADE BRIDE CABIN CASTLE CHASE CROSSING DAWN DINOSAUR DREAM ECHO EMPIRE ESCAPE FEVER GHOST HEIST HOTEL ' +
    'ISLAND JOURNEY JURY KEEPER LETTER MAZE MIRROR MUTINY ORACLE PARADE PIRATES PROMISE RACER RIDDLE SECRET SHADOW STORM ' +
    'THIEF TIDE VOYAGE WALTZ WITNESS'
)
const TONES = words('Epic Astounding Emotional Fanciful Fateful Brilliant Unbelievable Touching')
const KINDS = words('Drama Tale Reflection Documentary Yarn Saga Story Panorama')
const HEROES = [
  'Feminist',
  'Mad Scientist',
  'Database Administrator',
  'Pastry Chef',
  'Sumo Wrestler',
  'Lumberjack',
  'Astronaut',
  'Dentist',
  'Squirrel',
  'Robot'
]
const DEEDS = words('Battle Outrace Find Redeem Confront Defeat Pursue Discover')
const SCENES = ['The Canadian Rockies', 'Ancient Japan', 'A Jet Boat', 'Nigeria', 'A Balloon Factory', 'Soviet Georgia']
const RATINGS = ['G', 'PG', 'PG-13', 'R', 'NC-17']
const FEATURES = ['Trailers', 'Commentaries', 'Deleted Scenes', 'Behind the Scenes']
/** Cents. */
const RATES = [99, 299, 499]

interface Films {
  readonly tables: readonly TableRows[]
  /** For each copy, by its id less one, what a rental of it costs, in cents. */
  readonly rateOfCopy: readonly number[]
}

function makeFilms({ films: count, actors: actorCount }: Counts): Films {
  const random = new Random('films')
  const rates: number[] = []
  const films = numbers(count).map((id): SqlValue[] => {
    const rate = random.pick(RATES)
    rates.push(rate)
    return [
      id,
      titleOf(id),
      descriptionOf(random, id),
      releaseYearOf(random, id),
      random.chance(80) ? 1 : random.int(1, LANGUAGES.length),
      random.chance(10) ? random.int(1, LANGUAGES.length) : null,
      random.int(3, 7),
      { cents: rate },
      random.chance(3) ? null : random.int(46, 185),
      { cents: random.int(9, 29) * 100 + 99 },
      random.chance(3) ? null : random.pick(RATINGS),
      featuresOf(random, id),
      touched(id)
    ]
  })
  // The last film has neither actors nor a category, and there is no copy of it.
  const complete = numbers(count - 1)
  const roles = complete
    .flatMap((film) => random.some(actorCount, random.int(1, Math.min(10, actorCount))).map((actor) => [actor, film]))
    .map(([actor = 0, film = 0]): SqlValue[] => [actor, film, touched(film)])
  const categories = complete.map((film): SqlValue[] => [film, random.int(1, CATEGORIES.length), touched(film)])
  const copies = complete.flatMap((film) =>
    numbers(random.int(1, 8)).map(() => ({ film, store: random.int(1, STORES) }))
  )
  const actors = numbers(actorCount).map((id): SqlValue[] => [id, ...nameOf(id), touched(id)])
  return {
    rateOfCopy: copies.map(({ film }) => rates[film - 1] ?? 0),
    tables: [
      table(
        'language',
        'language_id name last_update',
        LANGUAGES.map((name, at) => [at + 1, name, touched(at)])
      ),
      table(
        'category',
        'category_id name last_update',
        CATEGORIES.map((name, at) => [at + 1, name, touched(at)])
      ),
      table('actor', 'actor_id first_name last_name last_update', actors),
      table(
        'film',
        'film_id title description release_year language_id original_language_id rental_duration rental_rate length ' +
          'replacement_cost rating special_features last_update',
        films
      ),
      table('film_actor', 'actor_id film_id last_update', roles),
      table('film_category', 'film_id category_id last_update', categories),
      table(
        'inventory',
        'inventory_id film_id store_id last_update',
        copies.map(({ film, store }, at) => [at + 1, film, store, touched(at)])
      )
    ]
  }
}

/** No two films have the same one, below 1600 of them. */
function titleOf(id: number): string {
  const [round, place] = [Math.floor((id - 1) / TITLE_STARTS.length), (id - 1) % TITLE_STARTS.length]
  return `${TITLE_STARTS[place]} ${TITLE_ENDS[(7 * place + round + 9) % TITLE_ENDS.length]}`
}

function descriptionOf(random: Random, id: number): string | null {
  if (id % 30 === 0) return null
  const [first, second, third] = [random.pick(HEROES), random.pick(HEROES), random.pick(HEROES)]
  const deed = `who must ${random.pick(DEEDS)} a ${third} in ${random.pick(SCENES)}`
  return `A ${random.pick(TONES)} ${random.pick(KINDS)} of a ${first} And a ${second} ${deed}`
}

/** The first two films have the least and the greatest year that a column of the type YEAR takes. */
function releaseYearOf(random: Random, id: number): number | null {
  if (id <= 2) return id === 1 ? 1901 : 2155
  return random.chance(4) ? null : random.int(1950, 2006)
}

/** The words are in the order of the column's type. The third film has the empty set, which is not null. */
function featuresOf(random: Random, id: number): string | null {
  const chosen = FEATURES.filter(() => random.chance(50)).join(',')
  return id === 3 ? '' : chosen === '' ? null : chosen
}

// --- People --------------------------------------------------------------------------------------------------------

const FIRST_NAMES = words(
  'ADA BELA CLEO DARIO EDITH FRITZ GRETA HUGO INES JOAN KURT LENA MILO NORA OTTO PIA QUINN ROSA SVEN TESS UMA VERA WIM ' +
    'XENIA YARA ZENO'
)
const NAME_STARTS = words('BAR CAL DEN FAL GAR HOL KES LIN MOR NOR PEL RAM SAN TOR VAN WES YOR')
const NAME_ENDS = words('BERG DALE FORD GATE HART LAND MAN RIDGE SON STONE TON WELL WOOD')
const HARD_NAMES = ["O'HARA", 'NÚÑEZ', 'DE LA CRUZ', 'SMITH-ØRSTED', 'Ó BRIAIN', 'ÖZ']

/** A first and a last name. */
function nameOf(n: number): [string, string] {
  const first = FIRST_NAMES[(n * 11) % FIRST_NAMES.length] ?? ''
  const start = NAME_STARTS[(n * 5) % NAME_STARTS.length] ?? ''
  const last = `${start}${NAME_ENDS[(n + Math.floor(n / NAME_STARTS.length)) % NAME_ENDS.length]}`
  return [first, n % 15 === 4 ? (HARD_NAMES[Math.floor(n / 15) % HARD_NAMES.length] ?? last) : last]
}

/** A picture of one white point. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==',
  'base64'
)

function makePeople({ customers: count }: Counts): TableRows[] {
  const random = new Random('people')
  const customers = numbers(count).map((id): SqlValue[] => {
    const [first, last] = nameOf(id + 1000)
    const email = `${first}.${last}`.toLowerCase().replace(/[^a-z.]/g, '')
    const created = momentOf(FIRST_RENTAL - random.int(1, 400) * DAY)
    const active = random.chance(95) ? 1 : 0
    // Some have no e-mail address, and of some it is not known when they were last touched.
    return [
      id,
      random.int(1, STORES),
      first,
      last,
      id % 12 === 0 ? null : `${email}@sakilacustomer.org`.slice(0, 50),
      2 * STORES + id,
      active,
      created,
      id % 17 === 0 ? null : touched(id)
    ]
  })
  const staff = numbers(STORES).map((id): SqlValue[] => {
    const [first, last] = nameOf(id + 2000)
    const email = `${first}.${last}@sakilastaff.com`.toLowerCase()
    const [picture, password] = id === 1 ? [PICTURE, '8cb2237d0679ca88db6464eac60da96345513964'] : [null, null]
    return [id, first, last, STORES + id, picture, email, id, 1, first.toLowerCase(), password, touched(id)]
  })
  return [
    table(
      'store',
      'store_id manager_staff_id address_id last_update',
      numbers(STORES).map((id) => [id, id, id, touched(id)])
    ),
    table(
      'staff',
      'staff_id first_name last_name address_id picture email store_id active username password last_update',
      staff
    ),
    table(
      'customer',
      'customer_id store_id first_name last_name email address_id active create_date last_update',
      customers
    )
  ]
}

// --- Rentals -------------------------------------------------------------------------------------------------------

/** Ids of events begin above what a JSON number can hold. */
const FIRST_EVENT = 9_007_199_254_740_993n
const CODE_LETTERS = Array.from('23456789ABCDEFGHJKLMNPQRSTUVWXYZ')
/** Codes with characters that have a meaning in paths, in queries and in keys of several columns. */
const HARD_CODES = ['50%,OFF', 'A/B-2005', 'MÜLLER 1', 'Q&A?#1', 'O"HARA']

function makeRentals({ customers, rentals: count, days }: Counts, { rateOfCopy }: Films): TableRows[] {
  const random = new Random('rentals')
  const rentals: SqlValue[][] = []
  const payments: SqlValue[][] = []
  const events: SqlValue[][] = []
  let rentedAt = FIRST_RENTAL
  for (const id of numbers(count)) {
    rentedAt += random.int(1, Math.floor((2 * days * DAY) / count))
    const copy = random.int(1, rateOfCopy.length)
    const [customer, staff] = [random.int(1, customers), random.int(1, STORES)]
    const returnedAt = random.chance(97) ? rentedAt + random.int(DAY / 2, 9 * DAY) : undefined
    const returned = returnedAt === undefined ? null : momentOf(returnedAt)
    rentals.push([id, momentOf(rentedAt), copy, customer, returned, staff, touched(id)])
    const late = returnedAt === undefined ? 0 : Math.max(0, Math.floor((returnedAt - rentedAt) / DAY) - 5)
    const amount = { cents: (rateOfCopy[copy - 1] ?? 0) + 100 * late }
    // The rental of some payments is not known any more.
    payments.push([id, customer, staff, id % 400 === 0 ? null : id, amount, momentOf(rentedAt), touched(id)])
    if (id % 3 === 0) continue
    const eventId = String(FIRST_EVENT + BigInt(events.length))
    const happenedAt = momentOf(returnedAt ?? rentedAt, random.int(0, 999_999))
    const kind = returned === null ? random.pick(['reserved', 'picked up', 'reminded']) : 'returned'
    events.push([eventId, id, kind, happenedAt, detailOf(random, id)])
  }
  const vouchers = numbers(Math.floor(customers / 4)).map((n): SqlValue[] => {
    const from = FIRST_RENTAL + random.int(-60, 60) * DAY
    const until = random.chance(20) ? null : dateOf(from + random.int(30, 365) * DAY)
    const customer = random.chance(60) ? random.int(1, customers) : null
    const amount = { cents: random.pick([500, 1000, 2500, 99_999]) }
    return [codeOf(random, n), customer, amount, dateOf(from), until, random.chance(30) ? 1 : 0, touched(n)]
  })
  const storeDays = numbers(days).flatMap((day) =>
    numbers(STORES).map((store): SqlValue[] => {
      const closed = day === days ? null : random.pick(['18:00:00', '20:00:00', '20:30:15'])
      const remarks = random.chance(10) ? random.pick(['Stocktaking', 'Power cut, till by hand', 'Frost']) : null
      const cash = { cents: random.int(0, 250_000) }
      return [store, dateOf(FIRST_RENTAL + day * DAY), random.pick(['08:00:00', '09:30:00']), closed, cash, remarks]
    })
  )
  return [
    table('rental', 'rental_id rental_date inventory_id customer_id return_date staff_id last_update', rentals),
    table('payment', 'payment_id customer_id staff_id rental_id amount payment_date last_update', payments),
    table('rental_event', 'rental_event_id rental_id kind happened_at detail', events),
    table('voucher', 'code customer_id amount valid_from valid_until is_redeemed last_update', vouchers),
    table('store_day', 'store_id business_date opened_at closed_at cash remarks', storeDays)
  ]
}

function codeOf(random: Random, n: number): string {
  const made = numbers(8)
    .map(() => random.pick(CODE_LETTERS))
    .join('')
  return HARD_CODES[n - 1] ?? `GIFT${made}`
}

function detailOf(random: Random, id: number): string | null {
  if (id % 2 === 0) return null
  const channel = random.pick(['counter', 'return slot', 'phone'])
  // In the order in which MySQL keeps members.
  return JSON.stringify(id % 5 === 0 ? { note: 'Case "cracked", disc fine', boxes: [1, 2.5], channel } : { channel })
}

// --- Values --------------------------------------------------------------------------------------------------------

function table(name: string, columns: string, rows: readonly (readonly SqlValue[])[]): TableRows {
  return { table: name, columns: words(columns), rows }
}

function words(text: string): string[] {
  return text.split(' ')
}

/** From 1 to `count`. */
function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

/** Of seconds since 1970. */
function momentOf(seconds: number, microseconds?: number): Moment {
  const text = new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
  return { moment: microseconds === undefined ? text : `${text}.${String(microseconds).padStart(6, '0')}` }
}

function dateOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(0, 10)
}

/** Pseudo-random numbers that are the same on every machine: mulberry32, in the public domain. */
class Random {
  #state: number

  constructor(seed: string) {
    this.#state = Array.from(seed).reduce(
      (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193),
      0x811c9dc5
    )
  }

  /** A whole number from `min` to `max`, both included. */
  int(min: number, max: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return min + Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (max - min + 1))
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.int(1, 100) <= percent
  }

  pick<T>(list: readonly T[]): T {
    // The index is within the list, so what is there is a T.
    return list[this.int(0, list.length - 1)] as T
  }

  /** `count` different numbers from 1 to `most`, in order. */
  some(most: number, count: number): number[] {
    const left = numbers(most)
    return numbers(count)
      .flatMap(() => left.splice(this.int(0, left.length - 1), 1))
      .toSorted((a, b) => a - b)
  }
}
