import type { Entity } from 'uniform-rest'
import { auditEntries } from './audit-entries.js'
import { bookmarks } from './bookmarks.js'
import { categories } from './categories.js'
import { coupons } from './coupons.js'
import { customers } from './customers.js'
import { events } from './events.js'
import { invoices } from './invoices.js'
import { orders } from './orders.js'
import { products } from './products.js'
import { purchaseOrders } from './purchase-orders.js'
import { returns } from './returns.js'
import { shoppingCarts } from './shopping-carts.js'
import { speakers } from './speakers.js'
import { stockItems } from './stock-items.js'
import { subscriptions } from './subscriptions.js'
import { suppliers } from './suppliers.js'
import { tickets } from './tickets.js'
import { venues } from './venues.js'
import { warehouses } from './warehouses.js'

/** Every entity served: a new one is one line here. */
export const entities: readonly Entity[] = [
  auditEntries,
  bookmarks,
  categories,
  coupons,
  customers,
  events,
  invoices,
  orders,
  products,
  purchaseOrders,
  returns,
  shoppingCarts,
  speakers,
  stockItems,
  subscriptions,
  suppliers,
  tickets,
  venues,
  warehouses
]
