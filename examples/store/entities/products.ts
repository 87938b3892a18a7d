import {
  bool,
  dateTime,
  defaultTo,
  defineEntity,
  everyone,
  example,
  freeText,
  guid,
  int,
  long,
  money,
  optional,
  permission,
  readableBy,
  readOnly,
  reject,
  sumOf,
  text,
  times,
  unique
} from 'uniform-rest'
import { MAX_STOCK } from './order-parts.js'

const variant = {
  name: example(text(200), 'Small'),
  sku: example(unique(text(64)), 'CLOCK-1-S'),
  price: example(money(10, 2), '21.90'),
  stock: example(int({ min: 0 }), 40)
}

export const products = defineEntity({
  name: 'products',
  description: 'What the store sells, with its variants and its reviews.',
  group: 'Catalogue',

  fields: {
    id: readOnly(int()),
    name: example(text(200), 'Walnut Clock'),
    sku: example(unique(text(64)), 'CLOCK-1'),
    categoryId: int(),
    price: example(money(10, 2), '19.90'),
    weightGrams: example(optional(int({ min: 0 })), 850),
    barcode: example(optional(long()), '4006381333931'),
    isActive: defaultTo(bool(), true),
    releasedAt: optional(dateTime()),
    externalId: optional(guid()),
    description: example(optional(freeText()), 'Runs for a year on one battery.'),
    /** What the store pays for one, and the stock at which it buys more: for its clerks alone. */
    costPrice: readableBy('products:manage', example(optional(money(10, 2)), '9.35')),
    reorderLevel: readableBy('products:manage', example(optional(int({ min: 0 })), 10))
  },
  computed: {
    displayName: { type: 'string', from: ['name', 'sku'], value: (name, sku) => `${String(name)} (${String(sku)})` },
    // Shown to whoever may read the cost.
    margin: {
      type: 'decimal',
      nullable: true,
      from: ['price', 'costPrice'],
      value: (price, cost) => (cost === null ? null : sumOf([String(price), times(String(cost), -1)], 2))
    }
  },

  history: true,
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
    'description',
    'costPrice',
    'reorderLevel'
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
    'externalId',
    'costPrice',
    'reorderLevel'
  ],
  searchable: ['name', 'sku', 'description'],
  totals: {
    dimensions: ['categoryId', 'isActive'],
    measures: { count: true, sum: ['price', 'costPrice'], average: ['price'], min: ['price'], max: ['price'] }
  },

  references: {
    category: { to: 'categories', via: 'categoryId' }
  },
  children: {
    variants: { table: 'product_variants', foreignKey: 'productId', fields: { id: readOnly(int()), ...variant } },
    reviews: {
      table: 'product_reviews',
      foreignKey: 'productId',
      store: 'second',
      fields: {
        id: readOnly(int()),
        rating: int({ min: 1, max: 5 }),
        title: text(200),
        body: optional(freeText()),
        authorName: text(200),
        createdAt: readOnly(dateTime())
      }
    }
  },

  access: { read: everyone, write: permission('products:manage') },
  writes: ['create', 'update', 'delete'],

  actions: (action) => ({
    publish: action({
      description: 'Puts the product on sale.',
      when: { isActive: [false] },
      becomes: { isActive: true }
    }),
    unpublish: action({
      description: 'Takes the product off sale.',
      when: { isActive: [true] },
      becomes: { isActive: false }
    }),
    'change-category': action({
      description: 'Sorts the product into another category.',
      input: { categoryId: int() },
      effect: ({ input }) => ({ set: { categoryId: input.categoryId } })
    }),
    'add-variant': action({
      description: 'Adds a variant.',
      input: variant,
      effect: ({ input }) => ({ children: { variants: { insert: [input] } } })
    }),
    'remove-variant': action({
      description: 'Removes a variant that was never ordered.',
      input: { variantId: example(int(), 5) },
      loads: ['variants'],
      change: ({ children, input: { variantId } }) =>
        children.variants.some(({ id }) => id === variantId)
          ? { children: { variants: { remove: [variantId] } } }
          : reject.input('/variantId', 'The product has no such variant.')
    }),
    'change-variant-price': action({
      description: 'Sets the price of a variant.',
      input: { variantId: int(), price: money(10, 2) },
      child: { children: 'variants', id: 'variantId', version: 'variantRowVersion' },
      change: ({ child, input: { price } }) => ({
        children: { variants: { update: [{ id: child.id, set: { price } }] } }
      })
    }),
    'adjust-variant-stock': action({
      description: 'Adds delta, which may be negative, to the stock of a variant.',
      input: { variantId: int(), delta: int() },
      child: { children: 'variants', id: 'variantId', version: 'variantRowVersion' },
      change({ child, input: { delta } }) {
        const stock = child.stock + delta
        if (stock < 0) return reject.state(`The variant has ${child.stock} in stock; it cannot lose ${-delta}.`)
        if (stock > MAX_STOCK) return reject.input('/delta', `The stock of a variant is at most ${MAX_STOCK}.`)
        return { children: { variants: { update: [{ id: child.id, set: { stock } }] } } }
      }
    })
  })
})
