import {
  addColumns,
  addSortOrders,
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

export const createCategories: Migration = {
  name: '001-categories',
  up: createTables(
    table('categories', {
      columns: {
        id: int(),
        name: unique(text(200)),
        parentId: optional(int()),
        slug: unique(text(64))
      },
      sorted: ['name', 'parentId', 'slug'],
      references: { parentId: 'categories' }
    })
  )
}

export const createProducts: Migration = {
  name: '002-products',
  up: createTables(
    table('products', {
      columns: {
        id: int(),
        name: text(200),
        sku: unique(text(64)),
        categoryId: int(),
        price: money(10, 2),
        weightGrams: optional(int()),
        barcode: optional(long()),
        isActive: bool(),
        releasedAt: optional(dateTime()),
        externalId: optional(guid()),
        description: optional(freeText(2000))
      },
      sorted: ['name', 'sku', 'categoryId', 'price', 'weightGrams', 'barcode', 'isActive', 'releasedAt', 'externalId'],
      references: { categoryId: 'categories' }
    }),
    table('product_variants', {
      columns: {
        id: int(),
        productId: int(),
        name: text(200),
        sku: unique(text(64)),
        price: money(10, 2),
        stock: int()
      },
      partOf: { productId: 'products' }
    })
  )
}

export const createCustomers: Migration = {
  name: '003-customers',
  up: createTables(
    table('customers', {
      columns: {
        id: int(),
        name: text(200),
        email: unique(text(254)),
        phone: optional(text(40)),
        isSuspended: bool(),
        createdAt: dateTime(),
        riskNote: optional(freeText(2000))
      },
      sorted: ['name', 'email', 'phone', 'isSuspended', 'createdAt']
    }),
    table('customer_addresses', {
      columns: {
        id: int(),
        customerId: int(),
        line1: text(200),
        city: text(200),
        postalCode: text(40),
        country: text(64)
      },
      partOf: { customerId: 'customers' }
    })
  )
}

export const createOrders: Migration = {
  name: '004-orders',
  up: createTables(
    table('orders', {
      columns: {
        id: int(),
        number: unique(text(64)),
        customerId: int(),
        status: text(32),
        total: money(12, 2),
        placedAt: dateTime(),
        paidAt: optional(dateTime()),
        deliveredAt: optional(dateTime()),
        trackingCode: optional(text(64))
      },
      sorted: ['number', 'customerId', 'status', 'total', 'placedAt', 'paidAt', 'deliveredAt', 'trackingCode'],
      references: { customerId: 'customers' }
    }),
    table('order_lines', {
      columns: {
        id: int(),
        orderId: int(),
        productId: int(),
        variantId: optional(int()),
        quantity: int(),
        unitPrice: money(10, 2)
      },
      partOf: { orderId: 'orders' },
      references: { productId: 'products', variantId: 'product_variants' }
    })
  )
}

export const addProductCosts: Migration = {
  name: '040-product-costs',
  up: addColumns('products', {
    columns: { costPrice: optional(money(10, 2)), reorderLevel: optional(int()) },
    sorted: ['costPrice', 'reorderLevel']
  })
}

export const addCreditLimits: Migration = {
  name: '041-credit-limits',
  up: addColumns('customers', { columns: { creditLimit: optional(money(12, 2)) } })
}

export const addUnitCosts: Migration = {
  name: '042-unit-costs',
  up: addColumns('order_lines', { columns: { unitCost: optional(money(10, 2)) } })
}

/** The products of each category by price, both ways. */
export const orderProductsByPrice: Migration = {
  name: '045-product-orders',
  up: addSortOrders('products', {
    columns: { categoryId: int(), price: money(10, 2) },
    sortOrders: [
      ['categoryId asc', 'price asc'],
      ['categoryId asc', 'price desc']
    ]
  })
}
