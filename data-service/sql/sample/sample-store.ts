import { backOfficeSample } from './back-office/back-office-sample.js'
import { frontOfficeSample } from './front-office/front-office-sample.js'
import { idsOf, numbered } from './numbered.js'
import { sampleCategories } from './sample-categories.js'
import { customerMaker } from './sample-customers.js'
import { orderMaker } from './sample-orders.js'
import { productMaker } from './sample-products.js'
import type { SampleAggregate } from './sample-aggregate.js'
import { sellablesOf } from './sellables.js'

const PRODUCTS = 2000
const CUSTOMERS = 200
const ORDERS = 1500

/** The whole sample store: aggregates by resource, in an order in which what is referred to comes first. */
export function sampleStore(): ReadonlyMap<string, readonly SampleAggregate[]> {
  const categories = sampleCategories()
  const products = numbered('products', PRODUCTS, productMaker(idsOf(categories)))
  const customers = numbered('customers', CUSTOMERS, customerMaker)
  const orders = numbered('orders', ORDERS, orderMaker(idsOf(customers), sellablesOf(products)))
  const backOffice = new Map(backOfficeSample(orders, products))
  const coupons = backOffice.get('coupons') ?? []
  return new Map([
    ['categories', categories],
    ['products', products],
    ['customers', customers],
    ['orders', orders],
    ...backOffice,
    ...frontOfficeSample({ products, customers, orders, coupons })
  ])
}
