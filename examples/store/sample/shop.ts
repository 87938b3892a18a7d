import { lessPercent, sumOf, type Value } from 'uniform-rest'
import {
  amountOf,
  dateTimeOf,
  guidOf,
  hardText,
  moment,
  type SampleAggregate,
  type SampleMaker,
  type SampleRandom,
  type SampleRow
} from './values.js'

/** The tree of the sample store: depth by indentation, `name | slug` each. */
const TREE = `
Kitchen | kitchen
  Cookware | cookware
    Pans | pans
    Pots | pots
    Woks | woks
  Knives | knives
    和包丁 | japanese-knives
  Glasses & Mugs | glasses-mugs
  Tea, Coffee | tea-coffee
    Café | café
    Cafe | cafe
Garden | garden
  Seeds | seeds
  Tools "by hand" | hand-tools
    Spades | spades
    Secateurs | secateurs
  Furniture | garden-furniture
    Benches | benches
    O'Hara chairs | ohara-chairs
Sports | sports
  Winter | winter
    Skis | skis
    Boots | ski-boots
  Water | water
  100% Running | running
Toys | toys
  Wooden | wooden
  Puzzles | puzzles
    1_000 pieces | thousand-pieces
  Игрушки | igrushki
Home | home
  Lamps | lamps
    Desk lamps | desk-lamps
    Floor lamps | floor-lamps
  Textiles | textiles
    Throws | throws
    Überwürfe | überwürfe
Office | office
  Pens | pens
  -Clearance- | clearance
`

interface Node {
  readonly name: string
  readonly slug: string
  readonly parentId: number | null
}

const SAMPLE_CATEGORIES: readonly Node[] = parseTree(TREE)

/** Categories beyond the tree, each below one of `parentIds`. */
export function categoryMaker(parentIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      name: `Category ${id}`,
      parentId: parentIds.length === 0 ? null : random.pick(parentIds),
      slug: `category-${id}`
    },
    children: {}
  })
}

/** The tree as aggregates, with ids from 1. */
export function sampleCategories(): SampleAggregate[] {
  return SAMPLE_CATEGORIES.map(({ name, slug, parentId }, index) => ({
    root: { id: index + 1, name, parentId, slug },
    children: {}
  }))
}

function parseTree(tree: string): Node[] {
  const nodes: Node[] = []
  const path: number[] = []
  for (const line of tree.split('\n').filter((text) => text !== '')) {
    const depth = line.search(/\S/) / 2
    const [name = '', slug = ''] = line.trim().split(' | ')
    nodes.push({ name, slug, parentId: path[depth - 1] ?? null })
    path.splice(depth, path.length, nodes.length)
  }
  return nodes
}

const QUALITIES = ['Classic', 'Compact', 'Everyday', 'Folding', 'Heavy', 'Light', 'Nordic', 'Quiet', 'Sturdy', 'Tall']
const MATERIALS = [
  'Bamboo',
  'Birch',
  'Brass',
  'Clay',
  'Copper',
  'Cork',
  'Glass',
  'Linen',
  'Oak',
  'Steel',
  'Walnut',
  'Wool'
]
const THINGS = [
  'Basket',
  'Bench',
  'Bowl',
  'Chair',
  'Clock',
  'Jug',
  'Kettle',
  'Knife',
  'Lamp',
  'Pan',
  'Ski',
  'Throw',
  'Vase'
]

/** The first products have plain names and fitting categories: they are what a visitor of the shop sees first. */
const PLAIN_PRODUCTS = 940

const CATEGORY_OF: Readonly<Record<string, string>> = {
  Basket: 'home',
  Bench: 'benches',
  Bowl: 'cookware',
  Chair: 'garden-furniture',
  Clock: 'office',
  Jug: 'glasses-mugs',
  Kettle: 'tea-coffee',
  Knife: 'knives',
  Lamp: 'desk-lamps',
  Pan: 'pans',
  Ski: 'skis',
  Throw: 'throws',
  Vase: 'home'
}

const VARIANTS = ['Small', 'Medium', 'Large', 'Blue', 'Größe 46', 'extra, "XL"']
const DESCRIPTIONS = [
  'Made to last, and to be mended when it does not.',
  'First line.\nSecond line, after a line break.',
  'Says "hello", costs 5% less, and ends in a backslash \\',
  '=1+1 is no formula here',
  ''
]
const PRICE_ENDINGS = [90, 95, 99, 0, 10, 50]

/** Prices at the limits, which random numbers would hardly give, by id. */
const PRICES: Readonly<Record<number, string>> = { 1: '19.90', 2: '0.10', 3: '0.00', 4: '99999999.99' }
const BARCODES: Readonly<Record<number, string>> = {
  1: '4006381333931',
  2: '9007199254740993',
  3: '9223372036854775807',
  4: '-9223372036854775808',
  5: '0'
}
const VARIANT_COUNTS: Readonly<Record<number, number>> = { 1: 3, 2: 0, 3: 1, 4: 6 }
const REVIEW_COUNTS: Readonly<Record<number, number>> = { 1: 7, 2: 0, 3: 1, 4: 20 }

/** Products of the given categories with their variants and reviews. */
export function productMaker(categoryIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const thing = random.pick(THINGS)
    const price = PRICES[id] ?? somePrice(random)
    const sku = someSku(thing, id)
    return {
      root: {
        id,
        name:
          (id > PLAIN_PRODUCTS ? hardText(id) : undefined) ??
          `${random.pick(QUALITIES)} ${random.pick(MATERIALS)} ${thing}`,
        sku,
        categoryId: categoryOf(thing, { id, categoryIds, drawn: random.pick(categoryIds) }),
        price,
        weightGrams: random.chance(15) ? null : random.int(0, 400) * 5,
        barcode: BARCODES[id] ?? someBarcode(random),
        isActive: random.chance(90),
        releasedAt: random.chance(15) ? null : dateTimeOf(moment(random)),
        externalId: random.chance(20) ? null : guidOf(random),
        description: random.chance(25) ? null : random.pick(DESCRIPTIONS),
        costPrice: costOf(id, price),
        reorderLevel: id % 4 === 0 ? null : (id * 13) % 60
      },
      children: {
        variants: variantsOf({ sku, price }, VARIANT_COUNTS[id] ?? random.int(0, 6), random),
        // The smaller of two random numbers: most products have few reviews.
        reviews: repeated(REVIEW_COUNTS[id] ?? Math.min(random.int(0, 20), random.int(0, 20)), () =>
          sampleReview(random)
        )
      }
    }
  }
}

function categoryOf(
  thing: string,
  { id, categoryIds, drawn }: { readonly id: number; readonly categoryIds: readonly number[]; readonly drawn: number }
): number {
  const fitting = SAMPLE_CATEGORIES.findIndex(({ slug }) => slug === CATEGORY_OF[thing]) + 1
  return id <= PLAIN_PRODUCTS && categoryIds.includes(fitting) ? fitting : drawn
}

/** What the store pays for a product of this price: 40 to 74 percent of it; null where it has noted no cost. */
export function costOf(productId: number, price: string): string | null {
  if (productId % 9 === 0) return null
  return lessPercent(price, 60 - ((productId * 7) % 35))
}

function variantsOf(product: { sku: string; price: string }, count: number, random: SampleRandom): SampleRow[] {
  return VARIANTS.slice(0, count).map((name, index) => ({
    name,
    sku: `${product.sku}-${index + 1}`,
    // Up to 2.00 more than the product, unless that would be beyond the column's precision.
    price: product.price === PRICES[4] ? product.price : sumOf([product.price, amountOf(random.int(0, 200))], 2),
    stock: random.chance(20) ? 0 : random.int(1, 500)
  }))
}

/** Unique in any letter case, since the number is unique. */
function someSku(thing: string, id: number): string {
  const sku = `${thing.slice(0, 3).toUpperCase()}-${String(id).padStart(5, '0')}`
  return id % 7 === 0 ? sku.toLowerCase() : sku
}

function somePrice(random: SampleRandom): string {
  return amountOf(random.int(0, 249) * 100 + random.pick(PRICE_ENDINGS))
}

/** Thirteen digits as on real goods, or nineteen, which a double cannot represent exactly. */
function someBarcode(random: SampleRandom): Value {
  if (random.chance(20)) return null
  const digits = random.chance(25) ? 17 : 11
  let text = String(random.int(10, 89))
  while (text.length < digits + 2) text += String(random.int(0, 9))
  return text
}

function repeated<T>(count: number, make: () => T): T[] {
  return Array.from({ length: count }, make)
}

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
      creditLimit: id % 3 === 0 ? null : `${500 * (id % 20)}.00`,
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

function sampleReview(random: SampleRandom): SampleRow {
  return {
    rating: random.int(1, 5),
    title: random.pick(TITLES),
    body: random.chance(30) ? null : random.pick(BODIES),
    authorName: random.pick(GIVEN_NAMES),
    createdAt: dateTimeOf(moment(random))
  }
}
