import type { Value } from '../../entity/value.js'
import { hardText } from './hard-texts.js'
import type { SampleMaker, SampleRow } from './sample-aggregate.js'
import type { SampleRandom } from './sample-random.js'
import { sampleReview } from './sample-reviews.js'
import { amountOf, centsOf, dateTimeOf, guidOf, moment } from './sample-values.js'

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
const VARIANTS = ['Small', 'Medium', 'Large', 'Blue', 'Größe 46', 'extra, "XL"']
const DESCRIPTIONS = [
  'Made to last, and to be mended when it does not.',
  'First line.\nSecond line, after a line break.',
  'Says "hello", costs 5% less, and ends in a backslash \\',
  '=1+1 is no formula here',
  ''
]
const PRICE_ENDINGS = [90, 95, 99, 0, 10, 50]

/** Values that no dice would find, by id. */
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
        name: hardText(id) ?? `${random.pick(QUALITIES)} ${random.pick(MATERIALS)} ${thing}`,
        sku,
        categoryId: random.pick(categoryIds),
        price,
        weightGrams: random.chance(15) ? null : random.int(0, 400) * 5,
        barcode: BARCODES[id] ?? someBarcode(random),
        isActive: random.chance(90),
        releasedAt: random.chance(15) ? null : dateTimeOf(moment(random)),
        externalId: random.chance(20) ? null : guidOf(random),
        description: random.chance(25) ? null : random.pick(DESCRIPTIONS)
      },
      children: {
        variants: variantsOf({ sku, price }, VARIANT_COUNTS[id] ?? random.int(0, 6), random),
        // Most products have few reviews: the smaller of two throws.
        reviews: repeated(REVIEW_COUNTS[id] ?? Math.min(random.int(0, 20), random.int(0, 20)), () =>
          sampleReview(random)
        )
      }
    }
  }
}

function variantsOf(product: { sku: string; price: string }, count: number, random: SampleRandom): SampleRow[] {
  return VARIANTS.slice(0, count).map((name, index) => ({
    name,
    sku: `${product.sku}-${index + 1}`,
    // Dearer than the product by up to two, which the column still holds.
    price: product.price === PRICES[4] ? product.price : amountOf(centsOf(product.price) + BigInt(random.int(0, 200))),
    stock: random.chance(20) ? 0 : random.int(1, 500)
  }))
}

/** Unique whatever the letter case, since the number is. */
function someSku(thing: string, id: number): string {
  const sku = `${thing.slice(0, 3).toUpperCase()}-${String(id).padStart(5, '0')}`
  return id % 7 === 0 ? sku.toLowerCase() : sku
}

function somePrice(random: SampleRandom): string {
  return amountOf(BigInt(random.int(0, 249) * 100 + random.pick(PRICE_ENDINGS)))
}

/** Thirteen digits as shops have them, or nineteen, which no double holds. */
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
