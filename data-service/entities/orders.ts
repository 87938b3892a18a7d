import { ownRows } from '../entity/access.js'
import { defineEntity } from '../entity/define-entity.js'
import { dateTime, int, money, onCreate, optional, serverSet, text, unique } from '../entity/field.js'

export const orders = defineEntity({
  name: 'orders',
  description: 'What a customer bought, with its lines.',

  fields: {
    id: serverSet(int()),
    number: serverSet(unique(text(64))),
    customerId: onCreate(int()),
    status: serverSet(text(32)),
    total: serverSet(money(12, 2)),
    placedAt: serverSet(dateTime()),
    paidAt: serverSet(optional(dateTime())),
    deliveredAt: serverSet(optional(dateTime())),
    trackingCode: serverSet(optional(text(64)))
  },

  label: 'number',
  filterable: ['id', 'number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],
  sortable: ['id', 'number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],

  references: {
    customer: { to: 'customers', via: 'customerId' }
  },
  children: {
    lines: {
      table: 'order_lines',
      foreignKey: 'orderId',
      fields: {
        id: serverSet(int()),
        productId: int(),
        variantId: optional(int()),
        quantity: int({ min: 1, max: 10_000 }),
        unitPrice: serverSet(money(10, 2))
      }
    }
  },

  access: { read: ownRows('customerId') }
})
