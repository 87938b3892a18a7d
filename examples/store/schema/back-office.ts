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
        t.sorted('code'),
        t.sorted('percent'),
        t.sorted('starts_at'),
        t.sorted('ends_at'),
        t.sorted('is_active')
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
      indexes: [t.sorted('order_id'), t.sorted('customer_id'), t.sorted('status'), t.sorted('requested_at')],
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
        t.sorted('order_id'),
        t.sorted('customer_id'),
        t.unique('number'),
        t.sorted('number'),
        t.sorted('total'),
        t.sorted('status'),
        t.sorted('issued_at')
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
      indexes: [t.sorted('name'), t.sorted('country'), t.sorted('is_active')]
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
      indexes: [t.sorted('supplier_id'), t.sorted('status'), t.sorted('expected_at')],
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
      indexes: [t.sorted('name'), t.sorted('city'), t.sorted('is_open')]
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
      indexes: [t.sorted('warehouse_id'), t.sorted('product_id'), t.sorted('on_hand'), t.sorted('reserved')],
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
      indexes: [t.sorted('requested_by')]
    }))
  ]
}
