import type { Entity } from '../entity/entity.js'
import { auditEntries } from './audit-entries.js'
import { categories } from './categories.js'
import { coupons } from './coupons.js'
import { customers } from './customers.js'
import { invoices } from './invoices.js'
import { orders } from './orders.js'
import { products } from './products.js'
import { purchaseOrders } from './purchase-orders.js'
import { returns } from './returns.js'
import { stockItems } from './stock-items.js'
import { suppliers } from './suppliers.js'
import { warehouses } from './warehouses.js'

/** Every entity served: a new one is one line here. */
export const entities: readonly Entity[] = [
  auditEntries,
  categories,
  coupons,
  customers,
  invoices,
  orders,
  products,
  purchaseOrders,
  returns,
  stockItems,
  suppliers,
  warehouses
]
