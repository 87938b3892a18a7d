import type { Exchange } from '../../history.js'
import { auditOf, outcomeOf } from './audit.js'
import { pathOf } from '../chains.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { isObject, objectOf } from '../json.js'
import { cents, Orders, VARIANTS } from './orders.js'

interface Adjustment {
  readonly variantId: string
  readonly delta: number
  readonly unit: string
  readonly isDone: boolean
  readonly isRejected: boolean
}

/** The workload `stock`: its variants, whose skus begin with that word, and the orders and carts of its customers. */
export class StockAddsUp implements Checker {
  readonly title = 'Stock and money add up'
  readonly contract = '5. Writes'
  readonly how =
    '`stock` adjusts what there is of variants, orders them, checks out carts, and pays, cancels and deletes orders. In the end stock, orders, invoices and carts are added up in the tables, and each order and cart is compared with what was sent: its lines, their prices, and its state.'
  readonly isOfWrites = true
  readonly promise =
    'What there is of a variant is what there was, and what was adjusted, less what the orders that stand have taken, and never less than nothing; an order has the lines that were sent and the state that it was brought to; orders and invoices come to the sum of their lines; a cart becomes one order.'
  readonly #violations: Violation[] = []
  /** By sku: what a variant began with. */
  readonly #began = new Map<string, { readonly stock: number; readonly done: string | undefined }>()
  readonly #adjustments = new Map<string, Adjustment>()
  readonly #orders = new Orders()
  readonly #carts = new Map<string, { checkedOut?: { readonly id: string; readonly by: string } }>()
  #totals = 0

  see(exchange: Exchange): void {
    const { id, workload, request, answer } = exchange
    this.#orders.see(exchange)
    if (workload !== 'stock' || request.body === undefined) {
      if (workload === 'stock') this.#addUp(exchange)
      return
    }
    const [resource, rowId = '', action] = pathOf(exchange)
    const body = JSON.parse(request.body) as Readonly<Record<string, unknown>>
    const status = answer?.status ?? 0
    if (action === 'add-variant') {
      const sku = String(body['sku'])
      const done = status === 200 ? id : this.#began.get(sku)?.done
      this.#began.set(sku, { stock: Number(body['stock']), done })
    }
    if (action === 'adjust-variant-stock') {
      this.#adjustments.set(id, {
        variantId: String(body['variantId']),
        delta: Number(body['delta']),
        unit: request.headers['idempotency-key'] ?? id,
        isDone: status === 200,
        isRejected: outcomeOf(answer) === 'rejected'
      })
    }
    if (resource === 'shopping-carts' && status === 201) {
      const { id: cart } = objectOf(exchange)
      if (!this.#carts.has(String(cart))) this.#carts.set(String(cart), {})
    }
    const cart = this.#carts.get(rowId)
    if (action === 'checkout' && status === 200 && cart !== undefined) {
      const by = request.headers['idempotency-key'] ?? id
      const first = (cart.checkedOut ??= { id, by })
      if (first.by !== by)
        this.#violate(`Cart ${rowId} was checked out by ${first.id}, and again by ${id}.`, first.id, id)
    }
  }

  async judge(rows: Rows): Promise<Verdict> {
    const expected = await this.#expectedStock(rows)
    const missing = new Map(this.#began)
    for (const { id, sku, stock } of await rows(VARIANTS)) {
      const began = missing.get(String(sku))
      if (began === undefined) {
        this.#violate(`Variant ${String(id)} with the sku ${String(sku)} was not asked for, or is there twice.`)
        continue
      }
      missing.delete(String(sku))
      const due = began.stock + (expected.get(String(id)) ?? 0)
      if (Number(stock) !== due || Number(stock) < 0)
        this.#violate(`There are ${String(stock)} of variant ${String(id)}, and should be ${due}.`)
    }
    for (const [sku, { done }] of missing) {
      if (done !== undefined) this.#violate(`The variant ${sku} was acknowledged and does not exist.`, done)
    }
    for await (const violation of this.#orders.faults(rows)) this.#violations.push(violation)
    await this.#judgeOrders(rows)
    await this.#judgeCarts(rows)
    const adjusted = new Set([...this.#adjustments.values()].flatMap(({ unit, isDone }) => (isDone ? [unit] : []))).size
    const isTried = adjusted > 0 && this.#totals > 0
    return {
      tried: isTried ? adjusted + this.#orders.acknowledged + this.#totals : 0,
      of: 'acknowledged adjustments, payments and cancellations, and totals',
      violations: this.#violations
    }
  }

  /** What is added to each variant, by id, since it began. */
  async #expectedStock(rows: Rows): Promise<ReadonlyMap<string, number>> {
    const changes = new Map<string, number>()
    const units = new Map<string, number>()
    const add = (variant: string, count: number): void => void changes.set(variant, (changes.get(variant) ?? 0) + count)
    for await (const { requestId, action } of auditOf(rows, 'products')) {
      const adjustment = this.#adjustments.get(requestId)
      if (action !== 'adjust-variant-stock' || adjustment === undefined) continue
      add(adjustment.variantId, adjustment.delta)
      units.set(adjustment.unit, (units.get(adjustment.unit) ?? 0) + 1)
      if (adjustment.isRejected)
        this.#violate(`${requestId} was rejected, and has adjusted the stock all the same.`, requestId)
    }
    for (const [id, { unit, isDone }] of this.#adjustments) {
      const times = units.get(unit) ?? 0
      if (isDone && times !== 1)
        this.#violate(`The adjustment ${id} was acknowledged and has ${times} audit entries.`, id)
      if (times > 1) this.#violate(`The adjustment ${id} happened ${times} times under one key.`, id)
    }
    const standing = await rows(
      `SELECT l.variant_id, SUM(l.quantity) AS taken FROM order_lines l
       JOIN orders o ON o.id = l.order_id JOIN product_variants v ON v.id = l.variant_id
       WHERE o.status <> 'cancelled' AND v.sku LIKE 'stock-%' GROUP BY l.variant_id`
    )
    for (const { variant_id, taken } of standing) add(String(variant_id), -Number(taken))
    return changes
  }

  async #judgeOrders(rows: Rows): Promise<void> {
    const lines = await rows(
      `SELECT o.id, o.total, i.total AS invoiced, l.quantity, l.unit_price FROM orders o
       LEFT JOIN order_lines l ON l.order_id = o.id LEFT JOIN invoices i ON i.order_id = o.id
       WHERE l.id IS NULL OR EXISTS (SELECT 1 FROM order_lines x JOIN product_variants v ON v.id = x.variant_id
                     WHERE x.order_id = o.id AND v.sku LIKE 'stock-%') ORDER BY o.id`
    )
    const orders = new Map<string, { readonly total: bigint; readonly invoiced: bigint | undefined; sum: bigint }>()
    for (const { id, total, invoiced, quantity, unit_price } of lines) {
      if (quantity === null) this.#violate(`Order ${String(id)} has no lines.`)
      const order = orders.get(String(id)) ?? {
        total: cents(total),
        invoiced: invoiced === null ? undefined : cents(invoiced),
        sum: 0n
      }
      orders.set(String(id), order)
      if (quantity !== null) order.sum += BigInt(Number(quantity)) * cents(unit_price)
    }
    for (const [id, { total, invoiced, sum }] of orders) {
      this.#totals++
      if (total !== sum) this.#violate(`Order ${id} comes to ${total} cents, and its lines to ${sum}.`)
      if (invoiced !== undefined && invoiced !== total)
        this.#violate(`The invoice of order ${id} is of ${invoiced} cents.`)
    }
  }

  async #judgeCarts(rows: Rows): Promise<void> {
    const found = await rows(
      `SELECT c.id, c.order_number, o.id AS order_id,
         (SELECT SUM(quantity) FROM shopping_cart_items WHERE shopping_cart_id = c.id) AS wanted,
         (SELECT SUM(quantity) FROM order_lines WHERE order_id = o.id) AS ordered
       FROM shopping_carts c LEFT JOIN orders o ON o.number = c.order_number`
    )
    const times = new Map<string, number>()
    for await (const { row, action } of auditOf(rows, 'shopping-carts')) {
      if (action === 'checkout') times.set(row, (times.get(row) ?? 0) + 1)
    }
    for (const [row, count] of times) {
      if (count > 1) this.#violate(`${row} has ${count} audit entries of a checkout.`)
    }
    const owners = new Map<string, string>()
    for (const { id, order_number, order_id, wanted, ordered } of found) {
      const cart = this.#carts.get(String(id))
      if (cart === undefined) continue
      const { checkedOut } = cart
      if (checkedOut !== undefined && order_number === null) {
        this.#violate(`Cart ${String(id)} was checked out and has no order.`, checkedOut.id)
      }
      if (typeof order_number !== 'string') continue
      const other = owners.get(order_number)
      owners.set(order_number, String(id))
      if (other !== undefined) this.#violate(`Carts ${other} and ${String(id)} are one order.`)
      // A missing order is told apart from one of other lines by its id.
      if (order_id === null || Number(wanted) !== Number(ordered)) {
        this.#violate(
          `Cart ${String(id)} has ${String(wanted)} pieces, and its order ${String(order_id)} has ${String(ordered)}.`
        )
      }
    }
  }

  /** An order as it is shown with its lines, or a product with its variants. */
  #addUp(exchange: Exchange): void {
    const { id, answer } = exchange
    const [resource] = pathOf(exchange)
    if (answer?.status !== 200) return
    const { variants, total, lines } = objectOf(exchange)
    if (resource === 'products' && Array.isArray(variants)) {
      const stocks = (variants as readonly unknown[]).map((variant) => (isObject(variant) ? variant['stock'] : variant))
      const lacking = stocks.find((count) => !(typeof count === 'number' && count >= 0))
      if (lacking !== undefined || stocks.includes(undefined))
        this.#violate(`${id} shows ${String(lacking)} of a variant.`, id)
    }
    if (resource !== 'orders' || !Array.isArray(lines)) return
    this.#totals++
    const shown = (lines as readonly unknown[]).map((line) => (isObject(line) ? line : {}))
    const bare = shown.find(({ quantity }) => !Number.isSafeInteger(quantity))
    if (bare !== undefined) {
      this.#violate(`${id} shows an order with the line ${JSON.stringify(bare)}, which has no quantity.`, id)
      return
    }
    const sum = shown.reduce((before, line) => before + BigInt(Number(line['quantity'])) * cents(line['unitPrice']), 0n)
    if (sum !== cents(total))
      this.#violate(`${id} shows an order of ${String(total)} whose lines come to ${sum} cents.`, id)
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}
