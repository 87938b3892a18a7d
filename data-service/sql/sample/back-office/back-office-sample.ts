import { idsOf, numbered } from '../numbered.js'
import type { SampleAggregate } from '../sample-aggregate.js'
import { couponMaker } from './sample-coupons.js'
import { invoiceMaker } from './sample-invoices.js'
import { purchaseOrderMaker } from './sample-purchase-orders.js'
import { returnMaker, type DeliveredOrder } from './sample-returns.js'
import { stockItemMaker } from './sample-stock-items.js'
import { supplierMaker } from './sample-suppliers.js'
import { warehouseMaker } from './sample-warehouses.js'

const COUPONS = 40
const SUPPLIERS = 36
const WAREHOUSES = 24
const STOCK_ITEMS = 80
const PURCHASE_ORDERS = 48
const RETURNS = 48
const INVOICES = 60

/** Rows of customers 1 and 2, whom the sample accounts sign in as, come first: so many each. */
const OF_ACCOUNTS = 8
const ACCOUNTS = [1, 2]

/** The rest is of orders all over the store. */
const SPREAD = 11

/** The resources of the back office, in an order in which what is referred to comes first. */
export function backOfficeSample(
  orders: readonly SampleAggregate[],
  products: readonly SampleAggregate[]
): [string, readonly SampleAggregate[]][] {
  const suppliers = numbered('suppliers', SUPPLIERS, supplierMaker)
  const warehouses = numbered('warehouses', WAREHOUSES, warehouseMaker)
  const warehouseIds = warehouses.map(({ root }) => String(root['id']))
  const productIds = idsOf(products)
  const delivered = orders.filter(({ root }) => root['status'] === 'delivered')
  return [
    ['coupons', numbered('coupons', COUPONS, couponMaker)],
    ['suppliers', suppliers],
    ['warehouses', warehouses],
    ['stock-items', numbered('stock-items', STOCK_ITEMS, stockItemMaker(warehouseIds, productIds))],
    ['purchase-orders', numbered('purchase-orders', PURCHASE_ORDERS, purchaseOrderMaker(idsOf(suppliers), productIds))],
    ['returns', numbered('returns', RETURNS, returnMaker(accountsFirst(delivered).map(deliveredOrder)))],
    ['invoices', numbered('invoices', INVOICES, invoiceMaker(accountsFirst(orders).map(invoicedOrder)))]
  ]
}

function accountsFirst(orders: readonly SampleAggregate[]): SampleAggregate[] {
  const of = (id: number) => orders.filter(({ root }) => root['customerId'] === id)
  const others = orders.filter(({ root }) => !ACCOUNTS.includes(Number(root['customerId'])))
  return [
    ...ACCOUNTS.flatMap((id) => of(id).slice(0, OF_ACCOUNTS)),
    ...others.filter((_, index) => index % SPREAD === 0)
  ]
}

function deliveredOrder({ root, children }: SampleAggregate): DeliveredOrder {
  return {
    id: Number(root['id']),
    customerId: Number(root['customerId']),
    deliveredAt: String(root['deliveredAt']),
    lines: (children['lines'] ?? []).map(({ productId, variantId, quantity }) => ({
      productId: Number(productId),
      variantId: variantId === null ? null : Number(variantId),
      quantity: Number(quantity)
    }))
  }
}

function invoicedOrder({ root }: SampleAggregate) {
  return {
    id: Number(root['id']),
    customerId: Number(root['customerId']),
    number: String(root['number']),
    total: String(root['total']),
    status: String(root['status']),
    placedAt: String(root['placedAt'])
  }
}
