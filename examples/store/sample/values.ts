import { times, type Value } from 'uniform-rest'

/** Values by property, without row version and, for children, without the root's id. */
export type SampleRow = Readonly<Record<string, Value>>

/** A root with its children of either store by their names in the entity file. Every child has its id. */
export interface SampleAggregate {
  readonly root: SampleRow
  readonly children: Readonly<Record<string, readonly SampleRow[]>>
}

/** Makes the aggregate whose root has the id. The same id and random numbers give the same aggregate. */
export type SampleMaker = (id: number, random: SampleRandom) => SampleAggregate

/**
 * Pseudo-random numbers that are the same on every machine. They depend on `seed` and `id` only, so that a row can be made
 * without the rows before it.
 */
export class SampleRandom {
  // The state of sfc32 (public domain, PractRand), a small and fast generator without visible patterns.
  #a: number
  #b: number
  #c = 1
  #counter: number

  constructor(seed: string, id: number) {
    this.#a = fnv1a(seed)
    this.#b = id | 0
    this.#counter = Math.floor(id / 2 ** 32) + 1
    for (let round = 0; round < 12; round++) this.#next()
  }

  /** A whole number from `min` to `max`, both included; the range is below 2^32. */
  int(min: number, max: number): number {
    return min + Math.floor((this.#next() / 2 ** 32) * (max - min + 1))
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.#next() < (percent / 100) * 2 ** 32
  }

  /** Throws a RangeError for an empty list. */
  pick<T>(list: readonly T[]): T {
    const index = this.int(0, list.length - 1)
    const found = list[index]
    if (found === undefined && index >= list.length) throw new RangeError('Nothing to pick from')
    // The index is inside the list, so an undefined value is a member of the list.
    return found as T
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let index = 0; index < length; index++) bytes[index] = this.#next() >>> 24
    return bytes
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    this.#c |= 0
    return sum >>> 0
  }
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}

/**
 * Names like those of real data that reveal mistakes of code, 1 to 200 characters each. Some neighbours differ only in
 * letter case, accents or trailing spaces, on purpose.
 */
const HARD_TEXTS: readonly string[] = [
  // Other scripts, right-to-left text, characters beyond 16 bits.
  'Ёлка «Снежинка»',
  '日本の包丁',
  '대나무 찜기',
  'قهوة عربية',
  'חנוכיית פליז',
  'Größe XXL Überwurf',
  'Ελληνικό λάδι',
  'चाय की केतली',
  'Ski 🎿 for the family 👨‍👩‍👧‍👦',
  '𝒟eluxe 𝟙𝟚',
  // Quotes, separators and line breaks of CSV, JSON and SQL.
  'The "Classic" mug',
  "O'Brien's stout glass",
  'Salt, pepper, and more',
  'Semicolon; separated',
  'Two\nlines',
  'Carriage\r\nreturn',
  'Tab\tin the middle',
  '"quoted"',
  "Robert'); DROP TABLE products;--",
  'back\\slash \\n',
  '<b>bold</b> & co',
  '{"json": [1, 2]}',
  '$f0 :name ? placeholder',
  'null',
  // What a spreadsheet would run as a formula.
  '=SUM(A1:A9)',
  '-40 °C parka',
  '+1 adapter',
  '@home sign',
  '\tleading tab',
  '# number sign',
  // Characters that have a meaning in a LIKE pattern.
  '100% cotton shirt',
  '%',
  '_',
  'snake_case ruler',
  'snakeXcase ruler',
  '50%_off\\',
  // Texts that are equal except for letter case, accents or spaces.
  'Tea Pot',
  'tea pot',
  'TEA POT',
  'Café table',
  'Cafe table',
  'CAFÉ TABLE',
  'Résumé folder',
  'Resume folder',
  'Trailing space',
  'Trailing space ',
  'Trailing space  ',
  ' Leading space',
  // Numbers that look like other things, and the bounds of length.
  '007',
  '1e3',
  '9007199254740993',
  'true',
  'x',
  'Long name '.repeat(20)
]

const EVERY = 20

/** A hard text for every twentieth id, or for each `every`-th one; undefined for the others. */
export function hardText(id: number, every = EVERY): string | undefined {
  return id % every === 0 ? HARD_TEXTS[(id / every - 1) % HARD_TEXTS.length] : undefined
}

/** The beginning of all guids of sample rows. The random guids of the service practically never have it. */
export const NUMBERED_GUIDS = '00000000-0000-4000-8000-'

/** The guid of the sample row with the number. Guids are in the order of their numbers. */
export function numberedGuid(number: number): string {
  return NUMBERED_GUIDS + number.toString(16).padStart(12, '0')
}

/** The number of a guid that numberedGuid made. */
export function numberOfGuid(guid: string): number {
  return Number.parseInt(guid.slice(NUMBERED_GUIDS.length), 16)
}

/** Aggregates numbered from 1 to `count`, children numbered through all of them. */
export function numbered(resource: string, count: number, make: SampleMaker): SampleAggregate[] {
  const last = new Map<string, number>()
  return Array.from({ length: count }, (_, index) => {
    const { root, children } = make(index + 1, new SampleRandom(resource, index + 1))
    const withIds = Object.entries(children).map(([name, rows]): [string, SampleRow[]] => {
      const before = last.get(name) ?? 0
      last.set(name, before + rows.length)
      return [name, rows.map((row, position) => ({ ...row, id: before + position + 1 }))]
    })
    return { root, children: Object.fromEntries(withIds) }
  })
}

/** The ids of aggregates whose ids are ints. */
export function idsOf(aggregates: readonly SampleAggregate[]): number[] {
  return aggregates.map(({ root }) => Number(root['id']))
}

const FIRST_MOMENT = Date.UTC(2024, 0, 1)
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const SPAN_DAYS = 730

/** A moment within the two years of the sample store, in milliseconds since 1970. */
export function moment(random: SampleRandom): number {
  return FIRST_MOMENT + random.int(0, SPAN_DAYS - 1) * DAY_MS + random.int(0, DAY_MS - 1)
}

/** A moment one minute to `days` days after another. */
export function momentAfter(random: SampleRandom, earlier: number, days: number): number {
  return earlier + random.int(MINUTE_MS, days * DAY_MS)
}

/** A moment in the format of a dateTime. */
export function dateTimeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString()
}

/** A whole number of cents as a decimal of scale 2. */
export function amountOf(cents: number): string {
  return times('0.01', cents)
}

/** A version 4 guid. */
export function guidOf(random: SampleRandom): string {
  const bytes = random.bytes(16)
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x40, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
