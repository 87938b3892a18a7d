import { callApi, newIdempotencyKey } from './api.js'
import { ApiFailure } from './api-failure.js'
import { queryText } from './query-text.js'
import type { Cart } from './store-rows.js'

const CURRENCY = 'EUR'

/** An item to add to a cart. */
interface NewItem {
  readonly productId: number
  readonly variantId?: number
  readonly quantity: number
}

/** The customer's newest cart, unless it has become an order. undefined if there is no such cart. */
export async function openCart(customer: number): Promise<Cart | undefined> {
  const query = queryText([['currency', 'equals', CURRENCY]], {
    customerId: String(customer),
    sortColumn: 'updatedAt',
    sortDirection: 'desc',
    pageSize: '1',
    includeTotal: 'false',
    includeChildren: 'true'
  })
  const [newest] = await callApi<Cart[]>(`/shopping-carts/paged?${query}`)
  if (newest === undefined || (await orderOf(newest, customer)) !== undefined) return undefined
  // An empty cart that still has a coupon is not used again.
  return newest.items.length === 0 && newest.couponCode !== null ? undefined : newest
}

/**
 * The order that a cart has become; undefined if it is still a cart. A cart does not show that it was checked out, but
 * checkout was then its last change, so its time is also the time at which the order was placed.
 */
async function orderOf(cart: Cart, customer: number): Promise<{ readonly id: number } | undefined> {
  const filters = [
    ['customerId', 'equals', String(customer)],
    ['placedAt', 'is', cart.updatedAt]
  ] as const
  const query = queryText(filters, { fields: 'id', pageSize: '1', includeTotal: 'false' })
  const [order] = await callApi<{ readonly id: number }[]>(`/orders/paged?${query}`)
  return order
}

/** Puts something into the open cart, or into a new one. */
export async function addToCart(customer: number, item: NewItem): Promise<void> {
  const cart = await openCart(customer)
  if (cart === undefined) return newCart(item)
  try {
    await changeCart(cart, 'add-item', item)
  } catch (error) {
    if (!(error instanceof ApiFailure && error.problem.code === 'state.invalid')) throw error
    await newCart(item)
  }
}

async function newCart(item: NewItem): Promise<void> {
  const call = {
    method: 'POST',
    body: { currency: CURRENCY, items: [item] },
    idempotencyKey: newIdempotencyKey()
  } as const
  // If the connection broke, it is not known whether the request arrived. The key ensures that a repetition creates no
  // second cart.
  await callApi('/shopping-carts', call).catch((error: unknown) => {
    if (error instanceof TypeError) return callApi('/shopping-carts', call)
    throw error
  })
}

/**
 * Changes a cart, based on the version that was read. If it has changed meanwhile, for example in another tab, it is read
 * again and the change is tried once more.
 */
export async function changeCart(
  cart: Cart,
  action: 'add-item' | 'change-item-quantity' | 'remove-item' | 'apply-coupon' | 'clear',
  body: object
): Promise<void> {
  const change = (rowVersion: string): Promise<unknown> =>
    callApi(`/shopping-carts/${cart.id}/${action}`, { method: 'PUT', body, rowVersion })
  try {
    await change(cart.rowVersion)
  } catch (error) {
    if (!(error instanceof ApiFailure && error.status === 412)) throw error
    const { rowVersion } = await callApi<Cart>(`/shopping-carts/${cart.id}`)
    await change(rowVersion)
  }
}

/**
 * Makes an order of the cart and returns the id of the order; undefined if it cannot be found. Fails if the cart has
 * changed since it was read.
 */
export async function checkOut(cart: Cart, customer: number): Promise<number | undefined> {
  const path = `/shopping-carts/${cart.id}`
  try {
    const call = { method: 'PUT', body: {}, rowVersion: cart.rowVersion } as const
    const closed = await callApi<Cart>(`${path}/checkout`, call)
    return (await orderOf(closed, customer))?.id
  } catch (error) {
    const number = error instanceof ApiFailure ? error.problem.orderNumber : undefined
    if (number === undefined) throw error
    const query = queryText([['number', 'equals', number]], { fields: 'id', pageSize: '1' })
    const [order] = await callApi<{ readonly id: number }[]>(`/orders/paged?${query}`)
    return order?.id
  }
}
