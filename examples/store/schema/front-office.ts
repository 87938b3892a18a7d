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
      indexes: [
        [t.index('name'), t.index('name desc')],
        [t.index('city'), t.index('city desc')],
        [t.index('capacity'), t.index('capacity desc')],
        [t.index('is_open'), t.index('is_open desc')]
      ]
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
        [t.index('title'), t.index('title desc')],
        [t.index('starts_at'), t.index('starts_at desc')],
        [t.index('ends_at'), t.index('ends_at desc')],
        [t.index('venue_id'), t.index('venue_id desc')],
        [t.index('status'), t.index('status desc')]
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
      indexes: [
        [t.index('name'), t.index('name desc')],
        [t.index('event_id'), t.index('event_id desc')]
      ],
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
      indexes: [
        [t.index('event_id'), t.index('event_id desc')],
        [t.index('customer_id'), t.index('customer_id desc')],
        [t.index('seat'), t.index('seat desc')],
        [t.index('status'), t.index('status desc')],
        [t.index('price'), t.index('price desc')]
      ],
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
      indexes: [
        [t.index('user_id'), t.index('user_id desc')],
        [t.index('session_id'), t.index('session_id desc')],
        [t.index('created_at'), t.index('created_at desc')],
        t.unique('user_id', 'session_id')
      ]
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
      indexes: [
        [t.index('customer_id'), t.index('customer_id desc')],
        [t.index('plan'), t.index('plan desc')],
        [t.index('renews_at'), t.index('renews_at desc')],
        [t.index('status'), t.index('status desc')]
      ],
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
      indexes: [
        [t.index('customer_id'), t.index('customer_id desc')],
        [t.index('currency'), t.index('currency desc')],
        [t.index('coupon_code'), t.index('coupon_code desc')],
        [t.index('updated_at'), t.index('updated_at desc')]
      ],
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
