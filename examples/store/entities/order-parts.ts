import {
  type FindByIds,
  type GetAggregate,
  type InputRejection,
  intOf,
  lessPercent,
  type NamedValues,
  reject,
  type Rejection,
  sumOf,
  textOf,
  times
} from '../../../data-service/public/entity.js'

/** What a customer asks for: a product as it is, or one of its variants. */
export interface WantedLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

interface PricedLine extends WantedLine {
  readonly unitPrice: string
  /** null where the store has not noted a cost. */
  readonly unitCost: string | null
  readonly amount: string
}

/**
 * Prices out of the products and their variants as they are now; never those of a body. A product that is not active is
 * not sold. `pointerTo` says where the body has a line.
 */
export async function pricedLines(
  lines: readonly WantedLine[],
  findByIds: FindByIds,
  pointerTo = (index: number): string => `/lines/${index}`
): Promise<PricedLine[] | Rejection> {
  const products = await findByIds(
    'products',
    lines.map(({ productId }) => productId)
  )
  const variants = await findByIds(
    'products.variants',
    lines.flatMap(({ variantId }) => variantId ?? [])
  )
  const priced: PricedLine[] = []
  for (const [index, { productId, variantId, quantity }] of lines.entries()) {
    const product = products.get(productId)
    if (product === undefined) return reject.input(`${pointerTo(index)}/productId`, 'There is no such product.')
    const variant = variantId === null ? undefined : variants.get(variantId)
    if (variantId !== null && (variant === undefined || intOf(variant, 'productId') !== productId)) {
      return reject.input(`${pointerTo(index)}/variantId`, 'The product has no such variant.')
    }
    if (product['isActive'] !== true) return reject.state(`Product ${productId} is not active and cannot be bought.`)
    const unitPrice = textOf(variant ?? product, 'price')
    const unitCost = product['costPrice'] === null ? null : textOf(product, 'costPrice')
    priced.push({ productId, variantId, quantity, unitPrice, unitCost, amount: times(unitPrice, quantity) })
  }
  return priced
}

/** A new order of priced lines. `percentOff` comes off the total, in whole cents, rounded down in the buyer's favour. */
export function placedOrder(
  lines: readonly PricedLine[],
  { percentOff, now, newCode }: { readonly percentOff: number; readonly now: string; readonly newCode: () => string }
) {
  const amounts = lines.map(({ amount }) => amount)
  const total = lessPercent(sumOf(amounts, 2), percentOff)
  return {
    values: { number: `O-${newCode()}`, status: 'placed', total, placedAt: now },
    children: { lines: lines.map(({ amount: _, ...line }) => line) }
  }
}

interface CustomerOrder {
  readonly order: NamedValues
  readonly lines: readonly NamedValues[]
}

/**
 * The order that a request names, under lock with its lines. It must be the customer's: that of another is rejected in the
 * words for one that does not exist.
 */
export async function customerOrder(
  { orderId, customerId }: { readonly orderId: number; readonly customerId: number },
  getAggregate: GetAggregate
): Promise<CustomerOrder | InputRejection> {
  const found = await getAggregate('orders', orderId)
  if (found === undefined || found.root['customerId'] !== customerId) {
    return reject.input('/orderId', 'orderId must be an order of the customer.')
  }
  return { order: found.root, lines: found.children['lines'] ?? [] }
}
