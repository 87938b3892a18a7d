import type { LookUp } from '../entity/action.js'
import { refuse, type InputRefusal, type StateRefusal } from '../entity/refuse.js'
import { pricedLines, type WantedLine } from './order-lines.js'

export const MOST_OF_ONE = 10_000
/** As many as a request may create a cart with. */
const MOST_ITEMS = 1000

interface CartItem extends WantedLine {
  readonly id: number
}

type Added =
  | { readonly insert: readonly [WantedLine] }
  | { readonly update: readonly [{ readonly id: number; readonly set: { readonly quantity: number } }] }

/** Puts a product into a cart: what is there of it already grows, and nothing is in a cart twice. */
export function addedItem(items: readonly CartItem[], wanted: WantedLine): Added | StateRefusal {
  const there = items.find((one) => keyOf(one) === keyOf(wanted))
  if (there === undefined) {
    if (items.length < MOST_ITEMS) return { insert: [wanted] }
    return refuse.state(`The shopping cart has ${items.length} items, which is the most.`)
  }
  const quantity = there.quantity + wanted.quantity
  if (quantity <= MOST_OF_ONE) return { update: [{ id: there.id, set: { quantity } }] }
  return refuse.state(`The shopping cart has ${there.quantity} of it; ${MOST_OF_ONE} is the most.`)
}

/** The items of a new cart, where a body that names something twice means the sum. */
export function mergedItems(items: readonly WantedLine[]): readonly WantedLine[] | InputRefusal {
  const merged = new Map<string, WantedLine>()
  for (const [index, item] of items.entries()) {
    const quantity = (merged.get(keyOf(item))?.quantity ?? 0) + item.quantity
    if (quantity > MOST_OF_ONE) {
      return refuse.input(`/items/${index}/quantity`, `Together these are ${quantity}; ${MOST_OF_ONE} is the most.`)
    }
    merged.set(keyOf(item), { ...item, quantity })
  }
  return [...merged.values()]
}

export function unknownItem(items: readonly CartItem[], itemId: number): InputRefusal | undefined {
  return items.some(({ id }) => id === itemId) ? undefined : refuse.input('/itemId', 'The cart has no such item.')
}

/** Refuses products and variants that there are none of; `pointerTo` says where the body names them. */
export async function unknownProduct(
  items: readonly WantedLine[],
  lookUp: LookUp,
  pointerTo: (index: number) => string
): Promise<InputRefusal | undefined> {
  const lines = await pricedLines(items, lookUp, pointerTo)
  return 'refusal' in lines ? lines : undefined
}

function keyOf({ productId, variantId }: WantedLine): string {
  return `${productId} ${variantId ?? ''}`
}
