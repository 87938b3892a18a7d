import type { Migration } from './migration.js'
import { createCategories } from './primary/001-categories.js'
import { createProducts } from './primary/002-products.js'
import { createCustomers } from './primary/003-customers.js'
import { createOrders } from './primary/004-orders.js'
import { createIdempotencyKeys } from './primary/005-idempotency-keys.js'
import { createAuditEntries } from './primary/006-audit-entries.js'
import { createAccounts } from './primary/007-accounts.js'
import { createSessions } from './primary/008-sessions.js'
import { createCoupons } from './primary/010-coupons.js'
import { createReturns } from './primary/011-returns.js'
import { createInvoices } from './primary/012-invoices.js'
import { createSuppliers } from './primary/013-suppliers.js'
import { createPurchaseOrders } from './primary/014-purchase-orders.js'
import { createWarehouses } from './primary/015-warehouses.js'
import { createStockItems } from './primary/016-stock-items.js'
import { createVenues } from './primary/020-venues.js'
import { createEvents } from './primary/021-events.js'
import { createSpeakers } from './primary/022-speakers.js'
import { createTickets } from './primary/023-tickets.js'
import { createBookmarks } from './primary/024-bookmarks.js'
import { createSubscriptions } from './primary/025-subscriptions.js'
import { createShoppingCarts } from './primary/026-shopping-carts.js'
import { addAuditRequestId } from './primary/030-audit-request-id.js'
import { createLookUpGuards } from './primary/033-look-up-guards.js'
import { addFamilyRefs } from './primary/034-family-refs.js'

/** The schema of the primary store, in order: a new migration is one line at the end. */
export const primaryMigrations: readonly Migration[] = [
  createCategories,
  createProducts,
  createCustomers,
  createOrders,
  createIdempotencyKeys,
  createAuditEntries,
  createAccounts,
  createSessions,
  createCoupons,
  createReturns,
  createInvoices,
  createSuppliers,
  createPurchaseOrders,
  createWarehouses,
  createStockItems,
  createVenues,
  createEvents,
  createSpeakers,
  createTickets,
  createBookmarks,
  createSubscriptions,
  createShoppingCarts,
  addAuditRequestId,
  createLookUpGuards,
  addFamilyRefs
]
