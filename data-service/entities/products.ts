import { everyone } from '../entity/access.js'
import { defineEntity } from '../entity/define-entity.js'
import {
  bool,
  dateTime,
  defaultTo,
  freeText,
  guid,
  int,
  long,
  money,
  optional,
  serverSet,
  text,
  unique
} from '../entity/field.js'

export const products = defineEntity({
  name: 'products',
  description: 'What the store sells, with its variants and its reviews.',

  fields: {
    id: serverSet(int()),
    name: text(200),
    sku: unique(text(64)),
    categoryId: int(),
    price: money(10, 2),
    weightGrams: optional(int({ min: 0 })),
    barcode: optional(long()),
    isActive: defaultTo(bool(), true),
    releasedAt: optional(dateTime()),
    externalId: optional(guid()),
    description: optional(freeText())
  },
  computed: {
    displayName: { type: 'string', from: ['name', 'sku'], value: (name, sku) => `${String(name)} (${String(sku)})` }
  },

  label: 'name',
  filterable: [
    'id',
    'name',
    'sku',
    'categoryId',
    'price',
    'weightGrams',
    'barcode',
    'isActive',
    'releasedAt',
    'externalId',
    'description'
  ],
  sortable: [
    'id',
    'name',
    'sku',
    'categoryId',
    'price',
    'weightGrams',
    'barcode',
    'isActive',
    'releasedAt',
    'externalId'
  ],

  references: {
    category: { to: 'categories', via: 'categoryId' }
  },
  children: {
    variants: {
      table: 'product_variants',
      foreignKey: 'productId',
      fields: {
        id: serverSet(int()),
        name: text(200),
        sku: unique(text(64)),
        price: money(10, 2),
        stock: int({ min: 0 })
      }
    },
    reviews: {
      table: 'product_reviews',
      foreignKey: 'productId',
      store: 'second',
      fields: {
        id: serverSet(int()),
        rating: int({ min: 1, max: 5 }),
        title: text(200),
        body: optional(freeText()),
        authorName: text(200),
        createdAt: serverSet(dateTime())
      }
    }
  },

  access: { read: everyone }
})
