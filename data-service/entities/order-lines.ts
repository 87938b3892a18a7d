import { times } from '../entity/amount.js'
import type { LookUp } from '../entity/action.js'
import { intOf, textOf } from '../entity/looked-up.js'
import { refuse, type InputRefusal } from '../entity/refuse.js'

/** What a customer asks for: a product as it is, or one of its variants. */
export interface WantedLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

export interface PricedLine extends WantedLine {
  readonly unitPrice: string
  readonly amount: string
}

/** Prices out of the products and their variants as they are now; never those of a body. */
export async function pricedLines(lines: readonly WantedLine[], lookUp: LookUp): Promise<PricedLine[] | InputRefusal> {
  const products = await lookUp(
    'products',
    lines.map(({ productId }) => productId)
  )
  const variants = await lookUp(
    'products.variants',
    lines.flatMap(({ variantId }) => variantId ?? [])
  )
  const priced: PricedLine[] = []
  for (const [index, line] of lines.entries()) {
    const product = products.get(line.productId)
    if (product === undefined) return refuse.input(`/lines/${index}/productId`, 'There is no such product.')
    const variant = line.variantId === null ? undefined : variants.get(line.variantId)
    if (line.variantId !== null && (variant === undefined || intOf(variant, 'productId') !== line.productId)) {
      return refuse.input(`/lines/${index}/variantId`, 'The product has no such variant.')
    }
    const unitPrice = textOf(variant ?? product, 'price')
    priced.push({ ...line, unitPrice, amount: times(unitPrice, line.quantity) })
  }
  return priced
}
