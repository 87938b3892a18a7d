import { addColumns, createTable, type Migration } from 'uniform-rest'

export const createCoupons: Migration = {
  name: '010-coupons',
  steps: [
    createTable('coupons', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('code', 64),
        t.int('percent'),
        t.datetime('starts_at'),
        t.datetime('ends_at').nullable(),
        t.boolean('is_active'),
        t.rowVersion()
      ],
      indexes: [
        t.unique('code'),
        [t.index('code'), t.index('code desc')],
        [t.index('percent'), t.index('percent desc')],
        [t.index('starts_at'), t.index('starts_at desc')],
        [t.index('ends_at'), t.index('ends_at desc')],
        [t.index('is_active'), t.index('is_active desc')]
      ]
    }))
  ]
}

export const createReturns: Migration = {
  name: '011-returns',
  steps: [
    createTable('returns', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('order_id'),
        t.int('customer_id'),
        t.varchar('reason', 2000),
        t.varchar('status', 32),
        t.datetime('requested_at'),
        t.varchar('reject_reason', 2000).nullable(),
        t.rowVersion()
      ],
      indexes: [
        [t.index('order_id'), t.index('order_id desc')],
        [t.index('customer_id'), t.index('customer_id desc')],
        [t.index('status'), t.index('status desc')],
        [t.index('requested_at'), t.index('requested_at desc')]
      ],
      foreignKeys: [
        { column: 'order_id', references: 'orders.id', onDelete: 'restrict' },
        { column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }
      ]
    })),
    createTable('return_lines', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('return_id'),
        t.int('product_id'),
        t.int('variant_id').nullable(),
        t.int('quantity'),
        t.rowVersion()
      ],
      indexes: [t.index('return_id'), t.index('product_id'), t.index('variant_id')],
      foreignKeys: [
        { column: 'return_id', references: 'returns.id', onDelete: 'cascade' },
        { column: 'product_id', references: 'products.id', onDelete: 'restrict' },
        { column: 'variant_id', references: 'product_variants.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

export const createInvoices: Migration = {
  name: '012-invoices',
  steps: [
    createTable('invoices', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('order_id'),
        t.int('customer_id'),
        t.varchar('number', 64),
        t.decimal('total', 12, 2),
        t.varchar('status', 32),
        t.datetime('issued_at').nullable(),
        t.rowVersion()
      ],
      indexes: [
        t.unique('order_id'),
        [t.index('order_id'), t.index('order_id desc')],
        [t.index('customer_id'), t.index('customer_id desc')],
        t.unique('number'),
        [t.index('number'), t.index('number desc')],
        [t.index('total'), t.index('total desc')],
        [t.index('status'), t.index('status desc')],
        [t.index('issued_at'), t.index('issued_at desc')]
      ],
      foreignKeys: [
        { column: 'order_id', references: 'orders.id', onDelete: 'restrict' },
        { column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

export const createSuppliers: Migration = {
  name: '013-suppliers',
  steps: [
    createTable('suppliers', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 200),
        t.varchar('country', 64),
        t.boolean('is_active'),
        t.rowVersion()
      ],
      indexes: [
        [t.index('name'), t.index('name desc')],
        [t.index('country'), t.index('country desc')],
        [t.index('is_active'), t.index('is_active desc')]
      ]
    }))
  ]
}

export const createPurchaseOrders: Migration = {
  name: '014-purchase-orders',
  steps: [
    createTable('purchase_orders', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('supplier_id'),
        t.varchar('status', 32),
        t.datetime('expected_at').nullable(),
        t.varchar('cancel_reason', 2000).nullable(),
        t.rowVersion()
      ],
      indexes: [
        [t.index('supplier_id'), t.index('supplier_id desc')],
        [t.index('status'), t.index('status desc')],
        [t.index('expected_at'), t.index('expected_at desc')]
      ],
      foreignKeys: [{ column: 'supplier_id', references: 'suppliers.id', onDelete: 'restrict' }]
    })),
    createTable('purchase_order_lines', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('purchase_order_id'),
        t.int('product_id'),
        t.int('quantity'),
        t.int('received_quantity'),
        t.rowVersion()
      ],
      indexes: [t.index('purchase_order_id'), t.index('product_id')],
      foreignKeys: [
        { column: 'purchase_order_id', references: 'purchase_orders.id', onDelete: 'cascade' },
        { column: 'product_id', references: 'products.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

export const createWarehouses: Migration = {
  name: '015-warehouses',
  steps: [
    createTable('warehouses', (t) => ({
      columns: [
        t.guid('id').primaryKey(),
        t.varchar('name', 200),
        t.varchar('city', 200),
        t.boolean('is_open'),
        t.rowVersion()
      ],
      indexes: [
        [t.index('name'), t.index('name desc')],
        [t.index('city'), t.index('city desc')],
        [t.index('is_open'), t.index('is_open desc')]
      ]
    }))
  ]
}

export const createStockItems: Migration = {
  name: '016-stock-items',
  steps: [
    createTable('stock_items', (t) => ({
      columns: [
        t.bigint('id').autoIncrement(),
        t.guid('warehouse_id'),
        t.int('product_id'),
        t.int('on_hand'),
        t.int('reserved'),
        t.rowVersion()
      ],
      indexes: [
        [t.index('warehouse_id'), t.index('warehouse_id desc')],
        [t.index('product_id'), t.index('product_id desc')],
        [t.index('on_hand'), t.index('on_hand desc')],
        [t.index('reserved'), t.index('reserved desc')]
      ],
      foreignKeys: [
        { column: 'warehouse_id', references: 'warehouses.id', onDelete: 'restrict' },
        { column: 'product_id', references: 'products.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

/**
 * Rows from before have no requester, and replicas of the version before insert rows without one. `unknown` says so to whoever
 * reads it, and is the subject of no account of this service: those are e-mail addresses.
 */
export const addRequesters: Migration = {
  name: '047-requesters',
  steps: [
    addColumns('purchase_orders', (t) => ({
      columns: [t.varchar('requested_by', 255).default('unknown')],
      indexes: [[t.index('requested_by'), t.index('requested_by desc')]]
    }))
  ]
}
