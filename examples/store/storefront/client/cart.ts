import { cartItems } from './cart-items.js'
import { cartSummary } from './cart-summary.js'
import { customerId } from './customer-id.js'
import { element } from './element.js'
import { failureText } from './failure-text.js'
import { changeCart, checkOut, openCart } from './open-cart.js'
import { fillPrivatePlace, noCustomer } from './private-place.js'
import { say } from './say.js'
import { soldThings } from './sold-things.js'
import type { Cart } from './store-rows.js'

let busy = false
void show()

function show(): Promise<boolean> {
  return fillPrivatePlace(async () => {
    const customer = await customerId()
    if (customer === undefined) return [noCustomer()]
    const cart = await openCart(customer)
    if (cart === undefined || cart.items.length === 0) return [emptyCart()]
    const thingOf = await soldThings(cart.items)
    const change = (action: Parameters<typeof changeCart>[1], body: object): void =>
      act(() => changeCart(cart, action, body), 'Your cart is changed.')
    return [
      element(
        'div',
        { class: 'two' },
        element('div', { class: 'card' }, cartItems(cart, thingOf, change)),
        cartSummary(cart, thingOf, { change, buy: () => act(() => buy(cart, customer), '') })
      )
    ]
  })
}

/** Makes one change at a time. Afterwards it shows the current cart, also if the change failed. */
function act(change: () => Promise<unknown>, done: string): void {
  if (busy) return
  busy = true
  const focused = document.activeElement?.id ?? ''
  change()
    .then(
      () => done,
      (error: unknown) => failureText(error)
    )
    .then(async (message) => {
      if ((await show()) && message !== '') say(message)
      const again = focused === '' ? null : document.getElementById(focused)
      ;(again ?? document.getElementById('main'))?.focus()
    })
    .finally(() => (busy = false))
    .catch((error: unknown) => say(failureText(error)))
}

async function buy(cart: Cart, customer: number): Promise<void> {
  const order = await checkOut(cart, customer)
  location.assign(order === undefined ? '/orders' : `/orders/${order}`)
}

function emptyCart(): HTMLElement {
  return element(
    'div',
    { class: 'empty card' },
    element('p', {}, 'There is nothing in your cart yet.'),
    element('a', { class: 'main-button', href: '/products' }, 'Look around')
  )
}
