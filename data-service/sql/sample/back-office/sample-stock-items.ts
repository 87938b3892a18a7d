import type { SampleMaker } from '../sample-aggregate.js'

/** Stock that no dice would find, by id: nothing, all of it promised, as much as there can be. */
const KNOWN: Readonly<Record<number, { readonly onHand: number; readonly reserved: number }>> = {
  1: { onHand: 0, reserved: 0 },
  2: { onHand: 25, reserved: 25 },
  3: { onHand: 2_147_483_647, reserved: 0 }
}

/** Stock of the products in turn, each in one of the warehouses. */
export function stockItemMaker(warehouseIds: readonly string[], productIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const onHand = random.int(0, 1000)
    return {
      root: {
        id: String(id),
        warehouseId: random.pick(warehouseIds),
        productId: productIds[(id - 1) % productIds.length] ?? random.pick(productIds),
        onHand,
        reserved: random.chance(50) ? 0 : random.int(0, onHand),
        ...KNOWN[id]
      },
      children: {}
    }
  }
}
