import type { ChangeCart } from './cart-items.js'
import { element } from './element.js'
import { euros, sumOf, times } from './euros.js'
import type { SoldThing } from './sold-things.js'
import type { Cart, CartItem } from './store-rows.js'

/** The sum of the cart, its coupon, and the button that places the order. */
export function cartSummary(
  cart: Cart,
  thingOf: (item: CartItem) => SoldThing,
  on: { readonly change: ChangeCart; readonly buy: () => void }
): HTMLElement {
  const sum = sumOf(cart.items.map((item) => times(thingOf(item).price ?? '0', item.quantity)))
  const order = element('button', { id: 'check-out', type: 'button', class: 'main-button' }, 'Place the order')
  order.addEventListener('click', () => {
    order.disabled = true
    on.buy()
  })
  const clear = element('button', { id: 'clear', type: 'button', class: 'plain' }, 'Empty the cart')
  clear.addEventListener('click', () => on.change('clear', {}))
  return element(
    'aside',
    { class: 'card', 'aria-label': 'Summary' },
    element('p', { class: 'sum' }, element('span', {}, 'Together'), element('span', { class: 'price' }, euros(sum))),
    couponForm(cart.couponCode, on.change),
    order,
    clear
  )
}

function couponForm(code: string | null, change: ChangeCart): HTMLElement {
  const field = element('input', { id: 'coupon', required: true, maxlength: 64, autocomplete: 'off' })
  const form = element(
    'form',
    { class: 'coupon' },
    element('label', {}, 'Coupon', field),
    element('button', { type: 'submit' }, 'Apply')
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    change('apply-coupon', { code: field.value.trim() })
  })
  if (code === null) return form
  const taken = element('p', { class: 'notice' }, 'Coupon ', element('b', { dir: 'auto' }, code))
  taken.append(' is taken off when you order.')
  return element('div', {}, taken)
}
