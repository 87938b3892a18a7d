import { sampleAccounts } from './accounts.js'
import { backOfficeSample } from './back-office.js'
import { frontOfficeSample } from './front-office.js'
import { bulkMakers, loadMore } from './load-more.js'
import { orderMaker, sellablesOf } from './orders.js'
import { customerMaker, productMaker, sampleCategories } from './shop.js'
import { idsOf, numbered, type SampleAggregate } from './values.js'

const PRODUCTS = 2000
const CUSTOMERS = 200
const ORDERS = 1500

/** The whole sample store: aggregates by resource. A resource comes after those that it refers to. */
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

/** What the service knows of the sample. */
export const sample = {
  ...sampleAccounts,
  rows: sampleStore,
  moreOf: [...bulkMakers.keys()],
  addRows: loadMore,
  welcome: ({ base, token }: { readonly base: string; readonly token: string }) => [
    `curl -gi '${base}/products/paged?filters[price].operator=lt&filters[price].value=20&sortColumn=name'`,
    `curl -i ${base}/orders/paged -H "Authorization: Bearer $(${token} ada@example.com)"`
  ]
}
