import {
  dateTime,
  defineEntity,
  example,
  type FindByIds,
  type FindByUnique,
  fitsDigits,
  hidden,
  type InputRejection,
  int,
  intOf,
  onCreate,
  optional,
  ownRows,
  readOnly,
  reject,
  type Rejection,
  type StateRejection,
  text,
  textOf
} from 'uniform-rest'
import { findGoods, placedOrder, pricedLines, sale, tooManyVariants, type WantedLine } from './order-parts.js'
import { suspendedCustomer } from './shop-rules.js'

interface ValidCoupon {
  /** As the coupon itself writes it: a code is found in any letter case. */
  readonly code: string
  readonly percent: number
}

/** The coupon of a code. One that is switched off, not yet or no longer valid is 422; `absent` answers an unknown code. */
async function validCoupon(
  code: string,
  { findByUnique, now }: { readonly findByUnique: FindByUnique; readonly now: string },
  absent: Rejection
): Promise<ValidCoupon | Rejection> {
  const coupon = await findByUnique('coupons', 'code', code)
  if (coupon === undefined) return absent
  const { isActive, endsAt } = coupon
  if (isActive !== true) return reject.state(`The coupon ${code} is not active.`)
  if (now < textOf(coupon, 'startsAt')) return reject.state(`The coupon ${code} is not valid yet.`)
  if (typeof endsAt === 'string' && endsAt <= now) return reject.state(`The coupon ${code} is no longer valid.`)
  return { code: textOf(coupon, 'code'), percent: intOf(coupon, 'percent') ?? 0 }
}

/** Coupons are worth money to whoever guesses their codes. */
const GUESSES = { most: 10, minutes: 15 }

const MAX_QUANTITY = 10_000
/** As many as a request may create a cart with. */
const MAX_ITEMS = 1000

interface CartItem extends WantedLine {
  readonly id: number
}

type Added =
  | { readonly insert: readonly [WantedLine] }
  | { readonly update: readonly [{ readonly id: number; readonly set: { readonly quantity: number } }] }

/** Puts a product into a cart: what is there of it already grows, and nothing is in a cart twice. */
function addedItem(items: readonly CartItem[], wanted: WantedLine): Added | StateRejection {
  const there = items.find((one) => keyOf(one) === keyOf(wanted))
  if (there === undefined) {
    if (items.length < MAX_ITEMS) return { insert: [wanted] }
    return reject.state(`The shopping cart has ${items.length} items, which is the most.`)
  }
  const quantity = there.quantity + wanted.quantity
  if (quantity <= MAX_QUANTITY) return { update: [{ id: there.id, set: { quantity } }] }
  return reject.state(`The shopping cart has ${there.quantity} of it; ${MAX_QUANTITY} is the most.`)
}

/** The items of a new cart, where a body that names something twice means the sum. */
function mergedItems(items: readonly WantedLine[]): readonly WantedLine[] | InputRejection {
  const merged = new Map<string, WantedLine>()
  for (const [index, item] of items.entries()) {
    const quantity = (merged.get(keyOf(item))?.quantity ?? 0) + item.quantity
    if (quantity > MAX_QUANTITY) {
      return reject.input(`/items/${index}/quantity`, `Together these are ${quantity}; ${MAX_QUANTITY} is the most.`)
    }
    merged.set(keyOf(item), { ...item, quantity })
  }
  return [...merged.values()]
}

function unknownItem(items: readonly CartItem[], itemId: number): InputRejection | undefined {
  return items.some(({ id }) => id === itemId) ? undefined : reject.input('/itemId', 'The cart has no such item.')
}

/** Rejects products that are unknown or not sold, and unknown variants; `pointerTo` says where the body names them. */
async function notSold(
  items: readonly WantedLine[],
  findByIds: FindByIds,
  pointerTo: (index: number) => string
): Promise<Rejection | undefined> {
  const lines = pricedLines(items, await findGoods(items, findByIds), pointerTo)
  return 'rejection' in lines ? lines : undefined
}

function keyOf({ productId, variantId }: WantedLine): string {
  return `${productId} ${variantId ?? ''}`
}

const quantity = int({ min: 1, max: MAX_QUANTITY })
const item = { productId: int(), variantId: optional(int()), quantity }

export const shoppingCarts = defineEntity({
  name: 'shopping-carts',
  description: 'What customers mean to buy, until they check out.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    customerId: onCreate(int()),
    currency: example(text(3, 3), 'EUR'),
    couponCode: example(optional(text(64)), 'WELCOME10'),
    updatedAt: readOnly(dateTime()),
    /** Of the order that the cart became; null while it is open. */
    orderNumber: hidden(optional(text(64)))
  },

  label: 'currency',
  filterable: ['id', 'customerId', 'currency', 'couponCode', 'updatedAt'],
  sortable: ['id', 'customerId', 'currency', 'couponCode', 'updatedAt'],

  references: {
    customer: { to: 'customers', via: 'customerId' }
  },
  children: {
    items: {
      table: 'shopping_cart_items',
      foreignKey: 'shoppingCartId',
      fields: { id: readOnly(int()), ...item },
      references: { product: { to: 'products', via: 'productId' } }
    }
  },

  access: {
    read: ownRows('customerId'),
    write: ownRows('customerId'),
    ownerFilter: { property: 'customerId', parameter: 'customerId', allowMissingOwner: 'rowScope' }
  },
  writes: ['create', 'delete'],
  creates: {
    children: { items: { min: 0 } },
    guesses: { of: 'couponCode', ...GUESSES },
    async prepare({ input, children, findByIds, findByUnique, now }) {
      const items = mergedItems(children.items)
      if ('rejection' in items) return items
      const rejection = await notSold(children.items, findByIds, (index) => `/items/${index}`)
      if (rejection !== undefined) return rejection
      if (input.couponCode === null) return { values: { updatedAt: now }, children: { items } }
      const absent = reject.input('/couponCode', 'There is no such coupon.')
      const coupon = await validCoupon(input.couponCode, { findByUnique, now }, absent)
      return 'rejection' in coupon ? coupon : { values: { updatedAt: now }, children: { items } }
    }
  },

  // A cart is open until it is checked out, which it can be with an item in it and a coupon that is still valid. From
  // then on nothing about it changes: another checkout is a conflict that names the order, any other action is rejected.
  actions: (action) => ({
    'add-item': action({
      description: 'Adds a product or one of its variants, to the quantity of the one that is there already.',
      input: item,
      loads: ['items'],
      async change({ root, children: { items }, input, findByIds, now }) {
        const rejection = checkedOut(root) ?? (await notSold([input], findByIds, () => ''))
        if (rejection !== undefined) return rejection
        const added = addedItem(items, input)
        return 'rejection' in added ? added : { set: { updatedAt: now }, children: { items: added } }
      }
    }),
    'change-item-quantity': action({
      description: 'Sets the quantity of an item.',
      input: { itemId: int(), quantity },
      loads: ['items'],
      change: ({ root, children: { items }, input, now }) =>
        checkedOut(root) ??
        unknownItem(items, input.itemId) ?? {
          set: { updatedAt: now },
          children: { items: { update: [{ id: input.itemId, set: { quantity: input.quantity } }] } }
        }
    }),
    'remove-item': action({
      description: 'Takes an item out.',
      input: { itemId: int() },
      loads: ['items'],
      change: ({ root, children: { items }, input: { itemId }, now }) =>
        checkedOut(root) ??
        unknownItem(items, itemId) ?? { set: { updatedAt: now }, children: { items: { remove: [itemId] } } }
    }),
    clear: action({
      description: 'Takes out every item, and the coupon.',
      loads: ['items'],
      change: ({ root, children: { items }, now }) =>
        checkedOut(root) ?? {
          set: { couponCode: null, updatedAt: now },
          children: { items: { remove: items.map(({ id }) => id) } }
        }
    }),
    'apply-coupon': action({
      description: 'Takes a coupon, in place of the one that it has.',
      input: { code: example(text(64), 'WELCOME10') },
      guesses: { of: 'code', ...GUESSES },
      async change({ root, input: { code }, findByUnique, now }) {
        const closed = checkedOut(root)
        if (closed !== undefined) return closed
        const coupon = await validCoupon(code, { findByUnique, now }, reject.input('/code', 'There is no such coupon.'))
        return 'rejection' in coupon ? coupon : { set: { couponCode: coupon.code, updatedAt: now } }
      }
    }),
    checkout: action({
      description: 'Makes an order of it, at the prices of the moment and less what the coupon takes off the total.',
      loads: ['items'],
      async change({ root: { customerId, couponCode, orderNumber }, children: { items }, ...tools }) {
        if (orderNumber !== null) {
          return reject.conflict('Cart checked out', `The cart is order ${orderNumber} already.`, { orderNumber })
        }
        if (items.length === 0) return reject.state('The shopping cart is empty; checkout needs an item in it.')
        const suspended = await suspendedCustomer(customerId, tools.findByIds, 'checkout')
        if (suspended !== undefined) return suspended
        const tooMany = tooManyVariants(items)
        if (tooMany !== undefined) return reject.state(tooMany)
        const sold = await sale(items, tools)
        if ('rejection' in sold) return sold
        // A customer who was promised a discount does not pay the full price unasked: `clear` gets rid of the coupon.
        const gone = reject.state(`There is no coupon ${couponCode} any more.`)
        const coupon = couponCode === null ? { percent: 0 } : await validCoupon(couponCode, tools, gone)
        if ('rejection' in coupon) return coupon
        const { values, children } = placedOrder(sold.lines, { percentOff: coupon.percent, ...tools })
        if (!fitsDigits(values.total, 12)) {
          return reject.state(`The items add up to ${values.total}, more than an order holds.`)
        }
        return {
          set: { orderNumber: values.number, updatedAt: tools.now },
          create: [{ resource: 'orders', values: { ...values, customerId }, children }],
          update: sold.update
        }
      }
    })
  })
})

function checkedOut({ orderNumber }: { orderNumber: string | null }): StateRejection | undefined {
  return orderNumber === null ? undefined : reject.state(`The shopping cart is checked out, as order ${orderNumber}.`)
}
