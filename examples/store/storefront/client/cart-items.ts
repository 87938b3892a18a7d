import { element } from './element.js'
import type { changeCart } from './open-cart.js'
import type { SoldThing } from './sold-things.js'
import type { Cart, CartItem } from './store-rows.js'
import { thingRow } from './thing-row.js'

export type ChangeCart = (action: Parameters<typeof changeCart>[1], body: object) => void

/** The items of a cart with the fields that change them. */
export function cartItems(cart: Cart, thingOf: (item: CartItem) => SoldThing, change: ChangeCart): HTMLElement {
  const rows = cart.items.map((item) => {
    const thing = thingOf(item)
    return thingRow({ ...item, price: thing.price, thing }, controls(item, thing, change))
  })
  return element('ul', { class: 'lines' }, ...rows)
}

function controls({ id, quantity }: CartItem, { name }: SoldThing, change: ChangeCart): HTMLElement {
  const field = element('input', {
    id: `quantity-${id}`,
    type: 'number',
    inputmode: 'numeric',
    min: 1,
    max: 10_000,
    required: true,
    value: quantity,
    'aria-label': `Quantity of ${name}`
  })
  const form = element('form', { class: 'controls' }, element('label', {}, 'Quantity', field))
  const send = (): void => {
    const wanted = Number(field.value)
    if (form.reportValidity() && wanted !== quantity) change('change-item-quantity', { itemId: id, quantity: wanted })
  }
  field.addEventListener('change', send)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    send()
  })
  const remove = element('button', { type: 'button', class: 'plain', 'aria-label': `Remove ${name}` }, 'Remove')
  remove.addEventListener('click', () => change('remove-item', { itemId: id }))
  form.append(remove)
  return form
}
