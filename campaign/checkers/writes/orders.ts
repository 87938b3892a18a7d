import type { Exchange } from '../../history.js'
import { auditOf, outcomeOf } from './audit.js'
import { pathOf } from '../chains.js'
import type { Rows, Violation } from '../checker.js'
import { objectOf } from '../json.js'

/** The variants of the workload `stock`. */
export const VARIANTS = "SELECT id, sku, stock FROM product_variants WHERE sku LIKE 'stock-%'"

interface Line {
  readonly productId: number
  readonly variantId?: number
  readonly quantity: number
}

/** A request that pays or cancels an order. */
interface Action {
  readonly row: string
  /** What was sent several times has one of these, and happens once. */
  readonly unit: string
  readonly isDone: boolean
  readonly isRejected: boolean
}

/** What the audit trail has of orders and carts, by row. Its entries need not be in the order of what they tell. */
interface Trail {
  /** What each was created with; undefined where its request is not known. */
  readonly carts: Map<string, readonly Line[] | undefined>
  readonly orders: Map<string, readonly Line[] | undefined>
  /** The actions that were done to an order. */
  readonly actions: Map<string, Set<string>>
  readonly deleted: Set<string>
}

/** What these actions make of an order. One that has both was paid first. */
const STATES = { cancel: 'cancelled', pay: 'paid' } as const

/** The orders and carts of all workloads, with their lines and states, one by one as they are in the end. */
export class Orders {
  /** By request: the lines of an order, or the items of a cart. */
  readonly #sent = new Map<string, readonly Line[]>()
  /** By request: the cart that it checks out. */
  readonly #checkouts = new Map<string, string>()
  readonly #actions = new Map<string, Action>()
  /** In cents. */
  readonly #products = new Map<number, bigint>()
  readonly #skus = new Map<string, bigint>()

  see(exchange: Exchange): void {
    const { id, request, answer } = exchange
    if (request.body === undefined) return
    const [resource = '', rowId, action] = pathOf(exchange)
    const status = answer?.status ?? 0
    const row = `${resource}/${rowId}`
    if (resource === 'products' && request.method === 'POST') {
      const { price } = JSON.parse(request.body) as { readonly price: string }
      if (status === 201) this.#products.set(Number(objectOf(exchange)['id']), cents(price))
    } else if (action === 'add-variant') {
      const { sku, price } = JSON.parse(request.body) as { readonly sku: string; readonly price: string }
      this.#skus.set(sku, cents(price))
    } else if (action === 'checkout') {
      this.#checkouts.set(id, row)
    } else if (resource === 'orders' && action !== undefined) {
      const unit = request.headers['idempotency-key'] ?? id
      this.#actions.set(id, { row, unit, isDone: status === 200, isRejected: outcomeOf(answer) === 'rejected' })
    } else if (request.method === 'POST' && (resource === 'orders' || resource === 'shopping-carts')) {
      const { lines, items } = JSON.parse(request.body) as { readonly [name: string]: readonly Line[] }
      this.#sent.set(id, lines ?? items ?? [])
    }
  }

  /** How many payments and cancellations were acknowledged. */
  get acknowledged(): number {
    return new Set([...this.#actions.values()].flatMap(({ unit, isDone }) => (isDone ? [unit] : []))).size
  }

  /** To be asked once, when all exchanges were seen. */
  async *faults(rows: Rows): AsyncGenerator<Violation> {
    const trail: Trail = { carts: new Map(), orders: new Map(), actions: new Map(), deleted: new Set() }
    for await (const { requestId, row, action } of auditOf(rows, 'shopping-carts')) {
      if (action === 'create') trail.carts.set(row, this.#sent.get(requestId))
      if (action === 'delete') trail.deleted.add(row)
    }
    yield* this.#follow(rows, trail)
    for (const { id, status } of await rows('SELECT id, status FROM orders')) {
      const row = `orders/${String(id)}`
      const actions = trail.actions.get(row) ?? new Set<string>()
      if (!trail.orders.has(row) || [...actions].some((action) => !(action in STATES))) continue
      const due = Object.entries(STATES).find(([action]) => actions.has(action))?.[1] ?? 'placed'
      if (status !== due) yield { what: `${row} is ${String(status)} and should be ${due}.`, exchanges: [] }
    }
    yield* this.#compareLines(rows, trail)
  }

  /** Reads the trail of orders: each entry is of a request that was sent for it, and not rejected. */
  async *#follow(rows: Rows, { carts, orders, actions, deleted }: Trail): AsyncGenerator<Violation> {
    const ordered = new Map<string, string>()
    const units = new Map<string, number>()
    for await (const { requestId, row, action } of auditOf(rows, 'orders')) {
      const cart = this.#checkouts.get(requestId)
      if (action === 'create') {
        orders.set(row, cart === undefined ? this.#sent.get(requestId) : carts.get(cart))
        const other = cart === undefined ? undefined : ordered.get(cart)
        if (other !== undefined) yield { what: `${cart} became ${other}, and ${row} too.`, exchanges: [requestId] }
        if (cart !== undefined) ordered.set(cart, row)
      } else if (action === 'delete') {
        deleted.add(row)
      } else if (action !== 'update') {
        actions.set(row, (actions.get(row) ?? new Set()).add(action))
        const sent = this.#actions.get(requestId)
        units.set(sent?.unit ?? '', (units.get(sent?.unit ?? '') ?? 0) + 1)
        if (sent?.row !== row)
          yield { what: `${row} has an audit entry of ${requestId}, which was not sent for it.`, exchanges: [] }
        else if (sent.isRejected)
          yield { what: `${requestId} was rejected, and has written ${row} all the same.`, exchanges: [requestId] }
      }
    }
    for (const [id, { row, unit, isDone }] of this.#actions) {
      const times = units.get(unit) ?? 0
      if (isDone && times !== 1)
        yield { what: `${id} was acknowledged for ${row} and has ${times} audit entries.`, exchanges: [id] }
    }
  }

  /** Orders have the lines that were sent, at the prices of their products, and carts their items. */
  async *#compareLines(rows: Rows, { carts, orders, deleted }: Trail): AsyncGenerator<Violation> {
    const variants = new Map<number, bigint>()
    for (const { id, sku } of await rows(VARIANTS)) {
      const price = this.#skus.get(String(sku))
      if (price !== undefined) variants.set(Number(id), price)
    }
    const priced = ({ productId, variantId, quantity }: Line): string =>
      lineText([
        productId,
        variantId,
        quantity,
        variantId === undefined ? this.#products.get(productId) : variants.get(variantId)
      ])
    const inOrders = await linesOf(
      rows,
      'SELECT order_id AS parent, product_id, variant_id, quantity, unit_price FROM order_lines'
    )
    for (const [row, lines] of orders) {
      if (!deleted.has(row)) yield* differences(row, lines?.map(priced), inOrders)
    }
    const inCarts = await linesOf(
      rows,
      'SELECT shopping_cart_id AS parent, product_id, variant_id, quantity FROM shopping_cart_items'
    )
    const bare = ({ productId, variantId, quantity }: Line): string => lineText([productId, variantId, quantity])
    for (const [row, items] of carts) {
      if (!deleted.has(row)) yield* differences(row, items?.map(bare), inCarts)
    }
  }
}

function* differences(
  row: string,
  wanted: readonly string[] | undefined,
  stored: ReadonlyMap<string, readonly string[]>
): Generator<Violation> {
  if (wanted === undefined) return
  const found = stored.get(row.slice(row.indexOf('/') + 1)) ?? []
  const [sent, left] = [wanted, found].map((lines) => lines.toSorted().join('; ') || 'none')
  if (sent !== left) yield { what: `${row} has the lines ${left}, and was sent ${sent}.`, exchanges: [] }
}

/** By parent. */
async function linesOf(rows: Rows, sql: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  for (const { parent, product_id, variant_id, quantity, unit_price } of await rows(sql)) {
    const price = unit_price === undefined ? [] : [cents(unit_price)]
    const line = lineText([
      Number(product_id),
      variant_id === null ? null : Number(variant_id),
      Number(quantity),
      ...price
    ])
    found.set(String(parent), [...(found.get(String(parent)) ?? []), line])
  }
  return found
}

/** Product, variant, quantity and price in cents. */
function lineText(parts: readonly (number | bigint | null | undefined)[]): string {
  return parts.map((part) => part ?? 'none').join(' ')
}

/**
 * In cents: `12.50` of answers and of most databases, or 1250 of SQLite, which stores such a number without its point. -1 for what
 * is no such number, which no sum is equal to.
 */
export function cents(amount: unknown): bigint {
  const { whole, fraction } = /^(?<whole>\d+)(?:\.(?<fraction>\d\d?))?$/.exec(String(amount))?.groups ?? {}
  if (whole === undefined) return -1n
  return fraction === undefined ? BigInt(whole) : BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'))
}
