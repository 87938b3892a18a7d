import {
  defineEvent,
  type FindByIds,
  type GetAggregate,
  type InputRejection,
  intOf,
  lessPercent,
  type NamedValues,
  type Operand,
  reject,
  type Rejection,
  type RootUpdate,
  type StateRejection,
  sumOf,
  textOf,
  times
} from 'uniform-rest'

/** For whoever confirms an order to its customer, by whichever way it was placed. */
export const orderPlaced = defineEvent<{ number: string; customerId: number; total: string }>('order-placed')

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

/** What lines are made of, by id. */
interface Goods {
  readonly products: ReadonlyMap<Operand, NamedValues>
  readonly variants: ReadonlyMap<Operand, NamedValues>
}

/** The products and variants that lines name, for who does not take any of them yet. */
export async function findGoods(lines: readonly WantedLine[], findByIds: FindByIds): Promise<Goods> {
  const products = lines.map(({ productId }) => productId)
  const variants = lines.flatMap(({ variantId }) => variantId ?? [])
  return {
    products: await findByIds('products', products),
    variants: await findByIds('products.variants', variants)
  }
}

interface Finders {
  readonly findByIds: FindByIds
  readonly getAggregate: GetAggregate
}

/**
 * The same under lock: a product whose stock the lines take for changing, the others for reading. Everybody locks them in
 * the order of their ids, so that no two wait for each other.
 */
async function lockGoods(lines: readonly WantedLine[], { findByIds, getAggregate }: Finders): Promise<Goods> {
  const products = new Map<Operand, NamedValues>()
  const variants = new Map<Operand, NamedValues>()
  const taken = new Set(lines.flatMap(({ productId, variantId }) => (variantId === null ? [] : productId)))
  let untaken: number[] = []
  const findUntaken = async (): Promise<void> => {
    for (const [id, product] of await findByIds('products', untaken)) products.set(id, product)
    untaken = []
  }
  for (const id of new Set(lines.map(({ productId }) => productId).toSorted((one, other) => one - other))) {
    if (!taken.has(id)) {
      untaken.push(id)
      continue
    }
    await findUntaken()
    const found = await getAggregate('products', id)
    if (found === undefined) continue
    products.set(id, found.root)
    for (const variant of found.children['variants'] ?? []) variants.set(intOf(variant, 'id') ?? 0, variant)
  }
  await findUntaken()
  return { products, variants }
}

/**
 * The most variants whose stock one order takes. Each is a row that other orders of it wait for until this one is committed,
 * and the statements for a hundred take half a second.
 */
const MAX_VARIANTS = 100

/** Why lines are more than one order takes; undefined where they are not. */
export function tooManyVariants(lines: readonly WantedLine[]): string | undefined {
  const variants = new Set(lines.flatMap(({ variantId }) => variantId ?? []))
  if (variants.size <= MAX_VARIANTS) return undefined
  return `An order takes the stock of at most ${MAX_VARIANTS} variants, and not of ${variants.size}.`
}

/** What is sold: the lines with their prices, and what they take out of the stock of variants. */
interface Sale {
  readonly lines: readonly PricedLine[]
  readonly update: readonly RootUpdate[]
}

/** Prices lines and takes the stock of their variants. Products without a variant have no stock that is counted. */
export async function sale(lines: readonly WantedLine[], finders: Finders): Promise<Sale | Rejection> {
  const goods = await lockGoods(lines, finders)
  const priced = pricedLines(lines, goods)
  if ('rejection' in priced) return priced
  const update = stockUpdates(lines, goods, -1)
  return 'rejection' in update ? update : { lines: priced, update }
}

/** Puts what lines took back into the stock of their variants. */
export async function putBack(
  lines: readonly WantedLine[],
  finders: Finders
): Promise<{ readonly update: readonly RootUpdate[] } | StateRejection> {
  const ofVariants = lines.filter(({ variantId }) => variantId !== null)
  const update = stockUpdates(ofVariants, await lockGoods(ofVariants, finders), 1)
  return 'rejection' in update ? update : { update }
}

/** The most that the stock of a variant can be. */
export const MAX_STOCK = 2_147_483_647

/** Adds the quantities of the lines to the stock of their variants, or takes them away. */
function stockUpdates(
  lines: readonly WantedLine[],
  { variants }: Goods,
  sign: 1 | -1
): readonly RootUpdate[] | StateRejection {
  const quantities = new Map<number, number>()
  for (const { variantId, quantity } of lines) {
    if (variantId !== null) quantities.set(variantId, (quantities.get(variantId) ?? 0) + quantity)
  }
  const ofProducts = new Map<number, { readonly id: number; readonly set: { readonly stock: number } }[]>()
  for (const [id, quantity] of quantities) {
    const variant = variants.get(id)
    // A variant that has been removed has no stock to put anything back into.
    if (variant === undefined) continue
    const left = intOf(variant, 'stock') ?? 0
    const stock = left + sign * quantity
    const named = `variant ${id}, ${textOf(variant, 'name')}`
    if (stock < 0) return reject.state(`There are ${left} left of ${named}; the order takes ${quantity}.`)
    if (stock > MAX_STOCK) return reject.state(`There are ${left} of ${named}; its stock is at most ${MAX_STOCK}.`)
    const productId = intOf(variant, 'productId') ?? 0
    ofProducts.set(productId, [...(ofProducts.get(productId) ?? []), { id, set: { stock } }])
  }
  return Array.from(ofProducts, ([id, update]) => ({ resource: 'products', id, children: { variants: { update } } }))
}

/**
 * Prices out of the products and their variants as they are now; never those of a body. A product that is not active is
 * not sold. `pointerTo` says where the body has a line.
 */
export function pricedLines(
  lines: readonly WantedLine[],
  { products, variants }: Goods,
  pointerTo = (index: number): string => `/lines/${index}`
): PricedLine[] | Rejection {
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
    values: { number: `O-${newCode()}`, status: 'placed' as const, total, placedAt: now },
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
