import { element } from './element.js'
import { euros, times } from './euros.js'
import type { SoldThing } from './sold-things.js'

interface ThingRow {
  readonly productId: number
  readonly quantity: number
  /** The price of one item. */
  readonly price: string | undefined
  readonly thing: SoldThing
}

/** A line of a cart or an order: picture, name and amount, with `more` below. */
export function thingRow({ productId, quantity, price, thing }: ThingRow, ...more: readonly Node[]): HTMLLIElement {
  const { name, variant } = thing
  const each = price === undefined ? 'not sold any more' : `${quantity} × ${euros(price)}`
  return element(
    'li',
    {},
    element('img', { src: `/shop-art/${productId}?${new URLSearchParams({ name }).toString()}`, alt: '' }),
    element(
      'div',
      {},
      element('a', { class: 'name', href: `/products/${productId}`, dir: 'auto' }, name),
      element('div', { class: 'quiet' }, variant === '' ? each : `${variant} · ${each}`)
    ),
    element('span', { class: 'price' }, price === undefined ? '' : euros(times(price, quantity))),
    ...more
  )
}
