import { ownedById, permission } from '../entity/access.js'
import { defineEntity } from '../entity/define-entity.js'
import { bool, dateTime, freeText, hidden, int, optional, serverSet, text, unique } from '../entity/field.js'

export const customers = defineEntity({
  name: 'customers',
  description: 'People who buy, with their addresses.',

  fields: {
    id: serverSet(int()),
    name: text(200),
    email: unique(text(254, 3)),
    phone: optional(text(40)),
    isSuspended: serverSet(bool()),
    createdAt: serverSet(dateTime()),
    riskNote: hidden(optional(freeText()))
  },

  label: 'name',
  filterable: ['id', 'name', 'email', 'phone', 'isSuspended', 'createdAt'],
  sortable: ['id', 'name', 'email', 'phone', 'isSuspended', 'createdAt'],

  children: {
    addresses: {
      table: 'customer_addresses',
      foreignKey: 'customerId',
      fields: {
        id: serverSet(int()),
        line1: text(200),
        city: text(200),
        postalCode: text(40),
        country: text(64)
      }
    }
  },

  access: {
    read: permission('customers:manage'),
    // A customer reads the one row that is theirs; the id of the route is the owner.
    reads: { get: ownedById }
  }
})
