import {
  addAuditRequestId,
  addFamilyRefs,
  createAccounts,
  createAuditEntries,
  createIdempotencyKeys,
  createLookUpGuards,
  createSessions
} from '../../../data-service/sql/schema/engine-tables.js'
import type { Migration } from '../../../data-service/sql/schema/migrate.js'
import {
  createCoupons,
  createInvoices,
  createPurchaseOrders,
  createReturns,
  createStockItems,
  createSuppliers,
  createWarehouses
} from './back-office.js'
import {
  createBookmarks,
  createEvents,
  createShoppingCarts,
  createSpeakers,
  createSubscriptions,
  createTickets,
  createVenues
} from './front-office.js'
import { createCategories, createCustomers, createOrders, createProducts } from './shop.js'

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
