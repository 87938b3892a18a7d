import type { NamedValues } from '../entity/action.js'
import { intOf } from '../entity/looked-up.js'
import { refuse, type InputRefusal } from '../entity/refuse.js'

/** What goes back: a product as it was ordered, or one of its variants. */
export interface ReturnLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

/** Refuses lines that are not in the order, or that are more together than is left of it besides what came back. */
export function notInOrder(
  lines: readonly ReturnLine[],
  { ordered, returned }: { readonly ordered: readonly NamedValues[]; readonly returned: readonly NamedValues[] }
): InputRefusal | undefined {
  const left = new Map<string, number>()
  const add = (line: NamedValues, sign: 1 | -1): void => {
    const key = keyOf(intOf(line, 'productId'), intOf(line, 'variantId'))
    left.set(key, (left.get(key) ?? 0) + sign * (intOf(line, 'quantity') ?? 0))
  }
  for (const line of ordered) add(line, 1)
  for (const line of returned) add(line, -1)
  for (const [index, { productId, variantId, quantity }] of lines.entries()) {
    const key = keyOf(productId, variantId)
    const held = left.get(key)
    if (held === undefined) {
      const at = `lines/${index}/productId`
      return refuse.input(`/${at}`, `${at} must be in a line of the order, with the same variantId.`)
    }
    if (quantity > held) {
      const at = `lines/${index}/quantity`
      const why = 'the order holds no more besides the lines above and its other returns.'
      return refuse.input(`/${at}`, `${at} must be at most ${Math.max(held, 0)}: ${why}`)
    }
    left.set(key, held - quantity)
  }
  return undefined
}

function keyOf(productId: number | null, variantId: number | null): string {
  return `${String(productId)} ${String(variantId)}`
}
