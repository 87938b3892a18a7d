import type { WireValue } from '../../oracle/wire-value.js'
import type { Values } from '../../every-entity/made-values.js'

/** Values without which the actions of a resource could not succeed; of children by `resource.children`. */
export const ROW_VALUES: Readonly<Record<string, Values>> = {
  'shopping-carts': { orderNumber: null, couponCode: null },
  'purchase-orders.lines': { receivedQuantity: 0 },
  'stock-items': { onHand: 1000, reserved: 100 },
  speakers: { isConfirmed: false }
}

const COUPON = 'EVERY-DAY'

/** What the first rows of a resource have besides, which are those that others refer to and that the callers are. */
export const FIRST_VALUES: Readonly<Record<string, readonly Values[]>> = {
  coupons: [{ code: COUPON, isActive: true }],
  customers: [{ isSuspended: false }, { isSuspended: false }]
}

/** A foreign key, `returns.orderId`, that needs a row of its own with these values. */
export const PARENT_VALUES: Readonly<Record<string, Values>> = {
  'events.venueId': { isOpen: true },
  'invoices.orderId': { status: 'placed' },
  'returns.orderId': { status: 'delivered' },
  'tickets.eventId': { status: 'scheduled' }
}

/** Members of bodies by `resource create`, `resource update` or `resource/action`, in place of made ones. */
export const BODY_VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'shopping-carts create': { couponCode: null },
  'shopping-carts/apply-coupon': { code: COUPON }
}

/** States that an action can be in by domain.md, in place of those that the entity file declares. */
export const STATES: Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, readonly WireValue[]>>>>>
> = {
  orders: {
    pay: { status: ['placed'] },
    ship: { status: ['paid'] },
    'update-shipment': { status: ['shipped'] },
    deliver: { status: ['shipped'] },
    cancel: { status: ['placed', 'paid'] }
  }
}
