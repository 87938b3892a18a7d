import type { Entity } from '../entity/entity.js'
import { auditEntries } from './audit-entries.js'
import { categories } from './categories.js'
import { customers } from './customers.js'
import { orders } from './orders.js'
import { products } from './products.js'

/** Every entity served: a new one is one line here. */
export const entities: readonly Entity[] = [auditEntries, categories, customers, orders, products]
