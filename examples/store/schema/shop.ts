import { addColumns, addIndexes, createTable, type Migration } from 'uniform-rest'

export const createCategories: Migration = {
  name: '001-categories',
  steps: [
    createTable('categories', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.int('parent_id').nullable(),
        t.varchar('slug', 64),
        t.rowVersion()
      ],
      indexes: [
        t.unique('name'),
        [t.index('name'), t.index('name desc')],
        [t.index('parent_id'), t.index('parent_id desc')],
        t.unique('slug'),
        [t.index('slug'), t.index('slug desc')]
      ],
      foreignKeys: [{ column: 'parent_id', references: 'categories.id', onDelete: 'restrict' }]
    }))
  ]
}

export const createProducts: Migration = {
  name: '002-products',
  steps: [
    createTable('products', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.varchar('sku', 64),
        t.int('category_id'),
        t.decimal('price', 10, 2),
        t.int('weight_grams').nullable(),
        t.bigint('barcode').nullable(),
        t.boolean('is_active'),
        t.datetime('released_at').nullable(),
        t.guid('external_id').nullable(),
        t.varchar('description', 2000).nullable(),
        t.rowVersion()
      ],
      indexes: [
        [t.index('name'), t.index('name desc')],
        t.unique('sku'),
        [t.index('sku'), t.index('sku desc')],
        [t.index('category_id'), t.index('category_id desc')],
        [t.index('price'), t.index('price desc')],
        [t.index('weight_grams'), t.index('weight_grams desc')],
        [t.index('barcode'), t.index('barcode desc')],
        [t.index('is_active'), t.index('is_active desc')],
        [t.index('released_at'), t.index('released_at desc')],
        [t.index('external_id'), t.index('external_id desc')]
      ],
      foreignKeys: [{ column: 'category_id', references: 'categories.id', onDelete: 'restrict' }]
    })),
    createTable('product_variants', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('product_id'),
        t.varchar('name', 200),
        t.varchar('sku', 64),
        t.decimal('price', 10, 2),
        t.int('stock'),
        t.rowVersion()
      ],
      indexes: [t.index('product_id'), t.unique('sku')],
      foreignKeys: [{ column: 'product_id', references: 'products.id', onDelete: 'cascade' }]
    }))
  ]
}

export const createCustomers: Migration = {
  name: '003-customers',
  steps: [
    createTable('customers', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.varchar('email', 254),
        t.varchar('phone', 40).nullable(),
        t.boolean('is_suspended'),
        t.datetime('created_at'),
        t.varchar('risk_note', 2000).nullable(),
        t.rowVersion()
      ],
      indexes: [
        [t.index('name'), t.index('name desc')],
        t.unique('email'),
        [t.index('email'), t.index('email desc')],
        [t.index('phone'), t.index('phone desc')],
        [t.index('is_suspended'), t.index('is_suspended desc')],
        [t.index('created_at'), t.index('created_at desc')]
      ]
    })),
    createTable('customer_addresses', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('customer_id'),
        t.varchar('line1', 200),
        t.varchar('city', 200),
        t.varchar('postal_code', 40),
        t.varchar('country', 64),
        t.rowVersion()
      ],
      indexes: [t.index('customer_id')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'cascade' }]
    }))
  ]
}

export const createOrders: Migration = {
  name: '004-orders',
  steps: [
    createTable('orders', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('number', 64),
        t.int('customer_id'),
        t.varchar('status', 32),
        t.decimal('total', 12, 2),
        t.datetime('placed_at'),
        t.datetime('paid_at').nullable(),
        t.datetime('delivered_at').nullable(),
        t.varchar('tracking_code', 64).nullable(),
        t.rowVersion()
      ],
      indexes: [
        t.unique('number'),
        [t.index('number'), t.index('number desc')],
        [t.index('customer_id'), t.index('customer_id desc')],
        [t.index('status'), t.index('status desc')],
        [t.index('total'), t.index('total desc')],
        [t.index('placed_at'), t.index('placed_at desc')],
        [t.index('paid_at'), t.index('paid_at desc')],
        [t.index('delivered_at'), t.index('delivered_at desc')],
        [t.index('tracking_code'), t.index('tracking_code desc')]
      ],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    })),
    createTable('order_lines', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('order_id'),
        t.int('product_id'),
        t.int('variant_id').nullable(),
        t.int('quantity'),
        t.decimal('unit_price', 10, 2),
        t.rowVersion()
      ],
      indexes: [t.index('order_id'), t.index('product_id'), t.index('variant_id')],
      foreignKeys: [
        { column: 'order_id', references: 'orders.id', onDelete: 'cascade' },
        { column: 'product_id', references: 'products.id', onDelete: 'restrict' },
        { column: 'variant_id', references: 'product_variants.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

export const addProductCosts: Migration = {
  name: '040-product-costs',
  steps: [
    addColumns('products', (t) => ({
      columns: [t.decimal('cost_price', 10, 2).nullable(), t.int('reorder_level').nullable()],
      indexes: [
        [t.index('cost_price'), t.index('cost_price desc')],
        [t.index('reorder_level'), t.index('reorder_level desc')]
      ]
    }))
  ]
}

export const addCreditLimits: Migration = {
  name: '041-credit-limits',
  steps: [addColumns('customers', (t) => ({ columns: [t.decimal('credit_limit', 12, 2).nullable()] }))]
}

export const addUnitCosts: Migration = {
  name: '042-unit-costs',
  steps: [addColumns('order_lines', (t) => ({ columns: [t.decimal('unit_cost', 10, 2).nullable()] }))]
}

/** The products of each category by price, both ways. */
export const orderProductsByPrice: Migration = {
  name: '045-product-orders',
  steps: [
    addIndexes('products', (t) => [
      t.index('category_id', 'price').named('products_category_id_price_order'),
      t.index('category_id', 'price desc').named('products_category_id_price_desc_order')
    ])
  ]
}

/** The customers of a credit limit, or above one, for those who write invoices. */
export const findCreditLimits: Migration = {
  name: '046-credit-limit-order',
  steps: [addIndexes('customers', (t) => [t.index('credit_limit')])]
}
