import { createTable, type Migration } from 'uniform-rest'

export const createVenues: Migration = {
  name: '020-venues',
  steps: [
    createTable('venues', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.varchar('city', 200),
        t.int('capacity'),
        t.boolean('is_open'),
        t.rowVersion()
      ],
      indexes: [t.sorted('name'), t.sorted('city'), t.sorted('capacity'), t.sorted('is_open')]
    }))
  ]
}

export const createEvents: Migration = {
  name: '021-events',
  steps: [
    createTable('events', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('title', 200),
        t.datetime('starts_at'),
        t.datetime('ends_at'),
        t.int('venue_id'),
        t.varchar('status', 32),
        t.rowVersion()
      ],
      indexes: [
        t.sorted('title'),
        t.sorted('starts_at'),
        t.sorted('ends_at'),
        t.sorted('venue_id'),
        t.sorted('status')
      ],
      foreignKeys: [{ column: 'venue_id', references: 'venues.id', onDelete: 'restrict' }]
    }))
  ]
}

export const createSpeakers: Migration = {
  name: '022-speakers',
  steps: [
    createTable('speakers', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.varchar('bio', 2000).nullable(),
        t.int('event_id'),
        t.boolean('is_confirmed'),
        t.rowVersion()
      ],
      indexes: [t.sorted('name'), t.sorted('event_id')],
      foreignKeys: [{ column: 'event_id', references: 'events.id', onDelete: 'restrict' }]
    }))
  ]
}

export const createTickets: Migration = {
  name: '023-tickets',
  steps: [
    createTable('tickets', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('event_id'),
        t.int('customer_id'),
        t.varchar('seat', 64).nullable(),
        t.varchar('status', 32),
        t.decimal('price', 10, 2),
        t.rowVersion()
      ],
      indexes: [t.sorted('event_id'), t.sorted('customer_id'), t.sorted('seat'), t.sorted('status'), t.sorted('price')],
      foreignKeys: [
        { column: 'event_id', references: 'events.id', onDelete: 'restrict' },
        { column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

/** Users and sessions are kept outside of this database, so their ids are no foreign keys. */
export const createBookmarks: Migration = {
  name: '024-bookmarks',
  steps: [
    createTable('bookmarks', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('user_id'),
        t.int('session_id'),
        t.varchar('note', 2000).nullable(),
        t.datetime('created_at'),
        t.rowVersion()
      ],
      indexes: [t.sorted('user_id'), t.sorted('session_id'), t.sorted('created_at'), t.unique('user_id', 'session_id')]
    }))
  ]
}

export const createSubscriptions: Migration = {
  name: '025-subscriptions',
  steps: [
    createTable('subscriptions', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('customer_id'),
        t.varchar('plan', 64),
        t.datetime('renews_at'),
        t.varchar('status', 32),
        t.rowVersion()
      ],
      indexes: [t.sorted('customer_id'), t.sorted('plan'), t.sorted('renews_at'), t.sorted('status')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    }))
  ]
}

export const createShoppingCarts: Migration = {
  name: '026-shopping-carts',
  steps: [
    createTable('shopping_carts', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('customer_id'),
        t.varchar('currency', 3),
        t.varchar('coupon_code', 64).nullable(),
        t.datetime('updated_at'),
        t.varchar('order_number', 64).nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('customer_id'), t.sorted('currency'), t.sorted('coupon_code'), t.sorted('updated_at')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    })),
    createTable('shopping_cart_items', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('shopping_cart_id'),
        t.int('product_id'),
        t.int('variant_id').nullable(),
        t.int('quantity'),
        t.rowVersion()
      ],
      indexes: [t.index('shopping_cart_id'), t.index('product_id'), t.index('variant_id')],
      foreignKeys: [
        { column: 'shopping_cart_id', references: 'shopping_carts.id', onDelete: 'cascade' },
        { column: 'product_id', references: 'products.id', onDelete: 'restrict' },
        { column: 'variant_id', references: 'product_variants.id', onDelete: 'restrict' }
      ]
    }))
  ]
}
