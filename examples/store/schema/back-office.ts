import {
  bool,
  createTables,
  dateTime,
  freeText,
  guid,
  int,
  long,
  type Migration,
  money,
  optional,
  table,
  text,
  unique
} from 'uniform-rest'

export const createCoupons: Migration = {
  name: '010-coupons',
  up: createTables(
    table('coupons', {
      columns: {
        id: int(),
        code: unique(text(64)),
        percent: int(),
        startsAt: dateTime(),
        endsAt: optional(dateTime()),
        isActive: bool()
      },
      sorted: ['code', 'percent', 'startsAt', 'endsAt', 'isActive']
    })
  )
}

export const createReturns: Migration = {
  name: '011-returns',
  up: createTables(
    table('returns', {
      columns: {
        id: int(),
        orderId: int(),
        customerId: int(),
        reason: freeText(2000),
        status: text(32),
        requestedAt: dateTime(),
        rejectReason: optional(freeText(2000))
      },
      sorted: ['orderId', 'customerId', 'status', 'requestedAt'],
      references: { orderId: 'orders', customerId: 'customers' }
    }),
    table('return_lines', {
      columns: { id: int(), returnId: int(), productId: int(), variantId: optional(int()), quantity: int() },
      partOf: { returnId: 'returns' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}

export const createInvoices: Migration = {
  name: '012-invoices',
  up: createTables(
    table('invoices', {
      columns: {
        id: int(),
        orderId: unique(int()),
        customerId: int(),
        number: unique(text(64)),
        total: money(12, 2),
        status: text(32),
        issuedAt: optional(dateTime())
      },
      sorted: ['orderId', 'customerId', 'number', 'total', 'status', 'issuedAt'],
      references: { orderId: 'orders', customerId: 'customers' }
    })
  )
}

export const createSuppliers: Migration = {
  name: '013-suppliers',
  up: createTables(
    table('suppliers', {
      columns: { id: int(), name: text(200), country: text(64), isActive: bool() },
      sorted: ['name', 'country', 'isActive']
    })
  )
}

export const createPurchaseOrders: Migration = {
  name: '014-purchase-orders',
  up: createTables(
    table('purchase_orders', {
      columns: {
        id: int(),
        supplierId: int(),
        status: text(32),
        expectedAt: optional(dateTime()),
        cancelReason: optional(freeText(2000))
      },
      sorted: ['supplierId', 'status', 'expectedAt'],
      references: { supplierId: 'suppliers' }
    }),
    table('purchase_order_lines', {
      columns: { id: int(), purchaseOrderId: int(), productId: int(), quantity: int(), receivedQuantity: int() },
      partOf: { purchaseOrderId: 'purchase_orders' },
      references: { productId: 'products' }
    })
  )
}

export const createWarehouses: Migration = {
  name: '015-warehouses',
  up: createTables(
    table('warehouses', {
      columns: { id: guid(), name: text(200), city: text(200), isOpen: bool() },
      sorted: ['name', 'city', 'isOpen']
    })
  )
}

export const createStockItems: Migration = {
  name: '016-stock-items',
  up: createTables(
    table('stock_items', {
      columns: { id: long(), warehouseId: guid(), productId: int(), onHand: int(), reserved: int() },
      sorted: ['warehouseId', 'productId', 'onHand', 'reserved'],
      references: { warehouseId: 'warehouses', productId: 'products' }
    })
  )
}
