import type { Migration } from 'uniform-rest'
import {
  addRequesters,
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
import { dropDescending } from './one-index.js'
import { statusesAreWords } from './statuses.js'
import {
  addCreditLimits,
  addProductCosts,
  addUnitCosts,
  createCategories,
  createCustomers,
  createOrders,
  createProducts,
  findCreditLimits,
  orderProductsByPrice
} from './shop.js'

/** The first migrations of the primary store, in order. Later ones are files of their own in ../migrations/. */
export const primaryMigrations: readonly Migration[] = [
  createCategories,
  createProducts,
  createCustomers,
  createOrders,
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
  addProductCosts,
  addCreditLimits,
  addUnitCosts,
  orderProductsByPrice,
  findCreditLimits,
  addRequesters,
  dropDescending,
  statusesAreWords
]
