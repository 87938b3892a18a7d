// Written by `uniform-rest client-types`. Do not change it: run the command again.

/** What the application serves, for `createClient` of @uniform-rest/client. */
export interface Application {
  resources: {
    'audit-entries': AuditEntries
    bookmarks: Bookmarks
    categories: Categories
    coupons: Coupons
    customers: Customers
    events: Events
    invoices: Invoices
    orders: Orders
    products: Products
    'purchase-orders': PurchaseOrders
    returns: Returns
    'shopping-carts': ShoppingCarts
    speakers: Speakers
    'stock-items': StockItems
    subscriptions: Subscriptions
    suppliers: Suppliers
    tickets: Tickets
    venues: Venues
    warehouses: Warehouses
  }
  operations: {
    /** What each warehouse holds, and what it is worth at the prices of today. */
    'GET /reports/stock': {
      path: {}
      query: {
        /** Only this warehouse. */
        warehouseId?: string | null
        /** Only warehouses that hold at least so many pieces. */
        least?: string | number | null
      }
      body: never
      answer: {
        warehouses: {
          warehouseId: string
          name: string
          /** How many products it holds. */
          products: number
          /** How many pieces it holds. */
          onHand: string
          reserved: string
          value: string
        }[]
      }
    }
  }
}

/** Who wrote what and when; every write leaves one in its own transaction. */
export interface AuditEntries {
  id: string
  row: AuditEntriesRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [string | number, NumberOperator]
    at: [string | Date, MomentOperator]
    subject: [string, StringOperator]
    resource: [string, StringOperator]
    rowId: [string, StringOperator]
    action: [string, StringOperator]
    requestId: [string, StringOperator]
  }
  sort: 'id' | 'at' | 'subject' | 'resource' | 'rowId' | 'action'
  fields: 'id' | 'at' | 'subject' | 'resource' | 'rowId' | 'action' | 'requestId'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: never
  replace: never
  patch: never
  delete: never
  actions: {}
  reads: {}
}

/** A row of `audit-entries`. */
export interface AuditEntriesRow {
  id: string
  at: string
  subject: string
  resource: string
  rowId: string
  action: string
  requestId: string | null
}

/** Sessions that users marked, each once. */
export interface Bookmarks {
  id: number
  row: BookmarksRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [number, NumberOperator]
    userId: [number, NumberOperator]
    sessionId: [number, NumberOperator]
    note: [string, StringOperator]
    createdAt: [string | Date, MomentOperator]
  }
  sort: 'id' | 'userId' | 'sessionId' | 'createdAt'
  fields: 'id' | 'userId' | 'sessionId' | 'note' | 'createdAt' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {
    userId?: string | number
  }
  create: BookmarksCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Replaces the note; null takes it away. */
    annotate: {
      note?: string | null
    }
  }
  reads: {
    /** The sessions that the user has bookmarked. */
    'session-ids': {
      parameters: {
        userId?: string | number
      }
      item: number
    }
  }
}

/** A row of `bookmarks`. */
export interface BookmarksRow {
  id: number
  userId: number
  sessionId: number
  note: string | null
  createdAt: string
  rowVersion: string
}

export interface BookmarksCreate {
  userId?: number
  sessionId: number
  note?: string | null
}

/** The tree that products are sorted into. */
export interface Categories {
  id: number
  row: CategoriesRow
  references: {
    parent: CategoriesRow | null
  }
  children: {}
  includes: {
    parent: NavigationsOf<Categories>
  }
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    parentId: [number, NumberOperator]
    slug: [string, StringOperator]
    parentName: [string, StringOperator]
  }
  sort: 'id' | 'name' | 'parentId' | 'slug' | 'parentName'
  fields: 'id' | 'name' | 'parentId' | 'slug' | 'rowVersion'
  search: string
  by: {
    name: string
    slug: string
  }
  replaceBy: {
    name: string
    slug: string
  }
  parameters: {}
  create: CategoriesCreate
  replace: CategoriesReplace
  patch: CategoriesPatch
  delete: unknown
  actions: {
    /** Puts the category, and all below it, under another; null makes it a top one. */
    move: {
      parentId?: number | null
    }
  }
  reads: {}
}

/** A row of `categories`. */
export interface CategoriesRow {
  id: number
  name: string
  parentId: number | null
  slug: string
  parentName: string | null
  rowVersion: string
}

export interface CategoriesCreate {
  name: string
  parentId?: number | null
  slug: string
}

export interface CategoriesReplace {
  name: string
  parentId?: number | null
  slug: string
}

export interface CategoriesPatch {
  name?: string
  parentId?: number | null
  slug?: string
}

/** Codes that take a share off the price for a while. */
export interface Coupons {
  id: number
  row: CouponsRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [number, NumberOperator]
    code: [string, StringOperator]
    percent: [number, NumberOperator]
    startsAt: [string | Date, MomentOperator]
    endsAt: [string | Date, MomentOperator]
    isActive: [boolean, BoolOperator]
  }
  sort: 'id' | 'code' | 'percent' | 'startsAt' | 'endsAt' | 'isActive'
  fields: 'id' | 'code' | 'percent' | 'startsAt' | 'endsAt' | 'isActive' | 'rowVersion'
  search: string
  by: {
    code: string
  }
  replaceBy: {
    code: string
  }
  parameters: {}
  create: CouponsCreate
  replace: CouponsReplace
  patch: CouponsPatch
  delete: unknown
  actions: {
    /** Lets the coupon be used. */
    activate: {}
    /** Keeps the coupon from being used, whatever its dates. */
    deactivate: {}
    /** Moves the end of the coupon to a later moment. */
    extend: {
      endsAt: string | Date
    }
  }
  reads: {}
}

/** A row of `coupons`. */
export interface CouponsRow {
  id: number
  code: string
  percent: number
  startsAt: string
  endsAt: string | null
  isActive: boolean
  rowVersion: string
}

export interface CouponsCreate {
  code: string
  percent: number
  startsAt: string | Date
  endsAt?: string | Date | null
  isActive?: boolean
}

export interface CouponsReplace {
  code: string
  percent: number
  startsAt: string | Date
  endsAt?: string | Date | null
  isActive?: boolean
}

export interface CouponsPatch {
  code?: string
  percent?: number
  startsAt?: string | Date
  endsAt?: string | Date | null
  isActive?: boolean
}

/** People who buy, with their addresses. */
export interface Customers {
  id: number
  row: CustomersRow
  references: {}
  children: {
    addresses: {
      id: number
      line1: string
      city: string
      postalCode: string
      country: string
      rowVersion: string
    }[]
  }
  includes: {
    addresses: {}
  }
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    email: [string, StringOperator]
    phone: [string, StringOperator]
    isSuspended: [boolean, BoolOperator]
    createdAt: [string | Date, MomentOperator]
    creditLimit: [string | number, NumberOperator]
  }
  sort: 'id' | 'name' | 'email' | 'phone' | 'isSuspended' | 'createdAt'
  fields: 'id' | 'name' | 'email' | 'phone' | 'isSuspended' | 'createdAt' | 'creditLimit' | 'rowVersion'
  history: true
  search: string
  by: {
    email: string
  }
  replaceBy: {
    email: string
  }
  parameters: {
    id?: string | number
  }
  create: CustomersCreate
  replace: CustomersReplace
  patch: CustomersPatch
  delete: unknown
  actions: {
    /** Replaces the address named by addressId, or adds one where none is named. */
    'change-address': {
      addressId?: number | null
      line1: string
      city: string
      postalCode: string
      country: string
    }
    /** Bars the customer from buying. Returns stay possible. */
    suspend: {}
    /** Lifts a suspension. */
    reinstate: {}
  }
  reads: {}
}

/** A row of `customers`. */
export interface CustomersRow {
  id: number
  name: string
  email: string
  phone: string | null
  isSuspended: boolean
  createdAt: string
  creditLimit?: string | null
  rowVersion: string
}

export interface CustomersCreate {
  name: string
  email: string
  phone?: string | null
  creditLimit?: string | number | null
  addresses?: readonly {
    line1: string
    city: string
    postalCode: string
    country: string
  }[]
}

export interface CustomersReplace {
  name: string
  email: string
  phone?: string | null
  creditLimit?: string | number | null
}

export interface CustomersPatch {
  name?: string
  email?: string
  phone?: string | null
  creditLimit?: string | number | null
}

/** What takes place at a venue, and when. */
export interface Events {
  id: number
  row: EventsRow
  references: {
    venue: VenuesRow | null
  }
  children: {}
  includes: {
    venue: NavigationsOf<Venues>
  }
  filters: {
    id: [number, NumberOperator]
    title: [string, StringOperator]
    startsAt: [string | Date, MomentOperator]
    endsAt: [string | Date, MomentOperator]
    venueId: [number, NumberOperator]
    status: ['draft' | 'scheduled' | 'cancelled', EqualityOperator]
  }
  sort: 'id' | 'title' | 'startsAt' | 'endsAt' | 'venueId' | 'status'
  fields: 'id' | 'title' | 'startsAt' | 'endsAt' | 'venueId' | 'status' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: EventsCreate
  replace: EventsReplace
  patch: EventsPatch
  delete: unknown
  actions: {
    /** Settles when it takes place; from now on there are tickets to it. */
    schedule: {
      startsAt: string | Date
      endsAt: string | Date
    }
    /** Calls the event off. */
    cancel: {}
    /** Moves the event to another venue, which must be open and hold the tickets there are. */
    'change-venue': {
      venueId: number
    }
  }
  reads: {
    /** Events that take place in a period, the earliest first. */
    'in-period': {
      parameters: {
        from?: string | Date
        until?: string | Date
        status?: 'draft' | 'scheduled' | 'cancelled'
        limit?: number
      }
      item: {
        id: number
        title: string
        startsAt: string
        endsAt: string
        venueId: number
        status: 'draft' | 'scheduled' | 'cancelled'
      }
    }
  }
}

/** A row of `events`. */
export interface EventsRow {
  id: number
  title: string
  startsAt: string
  endsAt: string
  venueId: number
  status: 'draft' | 'scheduled' | 'cancelled'
  rowVersion: string
}

export interface EventsCreate {
  title: string
  startsAt: string | Date
  endsAt: string | Date
  venueId: number
}

export interface EventsReplace {
  title: string
  startsAt: string | Date
  endsAt: string | Date
  venueId: number
}

export interface EventsPatch {
  title?: string
  startsAt?: string | Date
  endsAt?: string | Date
  venueId?: number
}

/** What a customer owes for an order, one invoice for each. */
export interface Invoices {
  id: number
  row: InvoicesRow
  references: {
    order: OrdersRow | null
    customer: CustomersRow | null
  }
  children: {}
  includes: {
    order: NavigationsOf<Orders>
    customer: NavigationsOf<Customers>
  }
  filters: {
    id: [number, NumberOperator]
    orderId: [number, NumberOperator]
    customerId: [number, NumberOperator]
    number: [string, StringOperator]
    total: [string | number, NumberOperator]
    status: ['draft' | 'issued' | 'void', EqualityOperator]
    issuedAt: [string | Date, MomentOperator]
  }
  sort: 'id' | 'orderId' | 'customerId' | 'number' | 'total' | 'status' | 'issuedAt'
  fields: 'id' | 'orderId' | 'customerId' | 'number' | 'total' | 'status' | 'issuedAt' | 'rowVersion'
  totals: {
    dimensions: {
      status: 'draft' | 'issued' | 'void'
    }
    measures: {
      count: number
      'sum.total': string | null
    }
  }
  search: string
  by: {
    orderId: number
    number: string
  }
  replaceBy: {}
  parameters: {}
  create: InvoicesCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Sends the invoice out. */
    issue: {}
    /** Takes the invoice back for good. */
    void: {}
  }
  reads: {}
}

/** A row of `invoices`. */
export interface InvoicesRow {
  id: number
  orderId: number
  customerId: number
  number: string
  total: string
  status: 'draft' | 'issued' | 'void'
  issuedAt: string | null
  rowVersion: string
}

export interface InvoicesCreate {
  orderId: number
  customerId: number
}

/** What a customer bought, with its lines. */
export interface Orders {
  id: number
  row: OrdersRow
  references: {
    customer: CustomersRow | null
  }
  children: {
    lines: {
      id: number
      productId: number
      variantId: number | null
      quantity: number
      unitPrice: string
      unitCost?: string | null
      rowVersion: string
    }[]
  }
  includes: {
    customer: NavigationsOf<Customers>
    lines: {
      product: ProductsRow | null
    }
  }
  filters: {
    id: [number, NumberOperator]
    number: [string, StringOperator]
    customerId: [number, NumberOperator]
    status: ['placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled', EqualityOperator]
    total: [string | number, NumberOperator]
    placedAt: [string | Date, MomentOperator]
    paidAt: [string | Date, MomentOperator]
    deliveredAt: [string | Date, MomentOperator]
    trackingCode: [string, StringOperator]
  }
  sort: 'id' | 'number' | 'customerId' | 'status' | 'total' | 'placedAt' | 'paidAt' | 'deliveredAt' | 'trackingCode'
  fields: 'id' | 'number' | 'customerId' | 'status' | 'total' | 'placedAt' | 'paidAt' | 'deliveredAt' | 'trackingCode' | 'rowVersion'
  totals: {
    dimensions: {
      status: 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled'
      customerId: number
      'placedAt.year': number
      'placedAt.month': string
      'placedAt.day': string
    }
    measures: {
      count: number
      'sum.total': string | null
      'average.total': string | null
      'min.total': string | null
      'max.total': string | null
    }
  }
  history: true
  search: string
  by: {
    number: string
  }
  replaceBy: {}
  parameters: {}
  create: OrdersCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Marks the order as paid. */
    pay: {}
    /** Hands the order to a carrier. */
    ship: {
      trackingCode: string
    }
    /** Corrects the tracking code of an order on its way. */
    'update-shipment': {
      trackingCode: string
    }
    /** Marks the order as delivered. */
    deliver: {}
    /** Calls the order off; it has not been shipped yet. */
    cancel: {
      reason?: string | null
    }
  }
  reads: {}
}

/** A row of `orders`. */
export interface OrdersRow {
  id: number
  number: string
  customerId: number
  status: 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled'
  total: string
  placedAt: string
  paidAt: string | null
  deliveredAt: string | null
  trackingCode: string | null
  rowVersion: string
}

export interface OrdersCreate {
  customerId?: number
  trackingCode?: string | null
  lines?: readonly {
    productId: number
    variantId?: number | null
    quantity: number
  }[]
}

/** What the store sells, with its variants and its reviews. */
export interface Products {
  id: number
  row: ProductsRow
  references: {
    category: CategoriesRow | null
  }
  children: {
    variants: {
      id: number
      name: string
      sku: string
      price: string
      stock: number
      rowVersion: string
    }[]
    reviews: {
      id: number
      rating: number
      title: string
      body: string | null
      authorName: string
      createdAt: string
      rowVersion: string
    }[]
  }
  includes: {
    category: NavigationsOf<Categories>
    variants: {}
    reviews: {}
  }
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    sku: [string, StringOperator]
    categoryId: [number, NumberOperator]
    price: [string | number, NumberOperator]
    weightGrams: [number, NumberOperator]
    barcode: [string | number, NumberOperator]
    isActive: [boolean, BoolOperator]
    releasedAt: [string | Date, MomentOperator]
    externalId: [string, EqualityOperator]
    description: [string, StringOperator]
    costPrice: [string | number, NumberOperator]
    reorderLevel: [number, NumberOperator]
  }
  sort: 'id' | 'name' | 'sku' | 'categoryId' | 'price' | 'weightGrams' | 'barcode' | 'isActive' | 'releasedAt' | 'externalId' | 'costPrice' | 'reorderLevel'
  fields: 'id' | 'name' | 'sku' | 'categoryId' | 'price' | 'weightGrams' | 'barcode' | 'isActive' | 'releasedAt' | 'externalId' | 'description' | 'costPrice' | 'reorderLevel' | 'rowVersion'
  totals: {
    dimensions: {
      categoryId: number
      isActive: boolean
    }
    measures: {
      count: number
      'sum.price': string | null
      'sum.costPrice'?: string | null
      'average.price': string | null
      'min.price': string | null
      'max.price': string | null
    }
  }
  history: true
  search: string
  by: {
    sku: string
  }
  replaceBy: {
    sku: string
  }
  parameters: {}
  create: ProductsCreate
  replace: ProductsReplace
  patch: ProductsPatch
  delete: unknown
  actions: {
    /** Puts the product on sale. */
    publish: {}
    /** Takes the product off sale. */
    unpublish: {}
    /** Sorts the product into another category. */
    'change-category': {
      categoryId: number
    }
    /** Adds a variant. */
    'add-variant': {
      name: string
      sku: string
      price: string | number
      stock: number
    }
    /** Removes a variant that was never ordered. */
    'remove-variant': {
      variantId: number
    }
    /** Sets the price of a variant. */
    'change-variant-price': {
      variantId: number
      price: string | number
      variantRowVersion: string
    }
    /** Adds delta, which may be negative, to the stock of a variant. */
    'adjust-variant-stock': {
      variantId: number
      delta: number
      variantRowVersion: string
    }
  }
  reads: {}
}

/** A row of `products`. */
export interface ProductsRow {
  id: number
  name: string
  sku: string
  categoryId: number
  price: string
  weightGrams: number | null
  barcode: string | null
  isActive: boolean
  releasedAt: string | null
  externalId: string | null
  description: string | null
  costPrice?: string | null
  reorderLevel?: number | null
  displayName: string
  margin?: string | null
  rowVersion: string
}

export interface ProductsCreate {
  name: string
  sku: string
  categoryId: number
  price: string | number
  weightGrams?: number | null
  barcode?: string | number | null
  isActive?: boolean
  releasedAt?: string | Date | null
  externalId?: string | null
  description?: string | null
  costPrice?: string | number | null
  reorderLevel?: number | null
}

export interface ProductsReplace {
  name: string
  sku: string
  categoryId: number
  price: string | number
  weightGrams?: number | null
  barcode?: string | number | null
  isActive?: boolean
  releasedAt?: string | Date | null
  externalId?: string | null
  description?: string | null
  costPrice?: string | number | null
  reorderLevel?: number | null
}

export interface ProductsPatch {
  name?: string
  sku?: string
  categoryId?: number
  price?: string | number
  weightGrams?: number | null
  barcode?: string | number | null
  isActive?: boolean
  releasedAt?: string | Date | null
  externalId?: string | null
  description?: string | null
  costPrice?: string | number | null
  reorderLevel?: number | null
}

/** What the store orders of a supplier, with its lines. */
export interface PurchaseOrders {
  id: number
  row: PurchaseOrdersRow
  references: {
    supplier: SuppliersRow | null
  }
  children: {
    lines: {
      id: number
      productId: number
      quantity: number
      receivedQuantity: number
      rowVersion: string
    }[]
  }
  includes: {
    supplier: NavigationsOf<Suppliers>
    lines: {
      product: ProductsRow | null
    }
  }
  filters: {
    id: [number, NumberOperator]
    supplierId: [number, NumberOperator]
    status: ['draft' | 'submitted' | 'received' | 'cancelled', EqualityOperator]
    expectedAt: [string | Date, MomentOperator]
    requestedBy: [string, StringOperator]
  }
  sort: 'id' | 'supplierId' | 'status' | 'expectedAt' | 'requestedBy'
  fields: 'id' | 'supplierId' | 'status' | 'expectedAt' | 'requestedBy' | 'rowVersion'
  search: never
  by: {}
  replaceBy: {}
  parameters: {}
  create: PurchaseOrdersCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Sends the order to the supplier. */
    submit: {}
    /** Books what has arrived of a line; with the last of the last line the order is received. */
    'receive-line': {
      lineId: number
      quantity: number
    }
    /** Calls the order off; nothing of it has arrived yet. */
    cancel: {
      reason?: string | null
    }
  }
  reads: {}
}

/** A row of `purchase-orders`. */
export interface PurchaseOrdersRow {
  id: number
  supplierId: number
  status: 'draft' | 'submitted' | 'received' | 'cancelled'
  expectedAt: string | null
  requestedBy: string
  rowVersion: string
}

export interface PurchaseOrdersCreate {
  supplierId: number
  expectedAt?: string | Date | null
  requestedBy?: string
  lines?: readonly {
    productId: number
    quantity: number
  }[]
}

/** What a customer sends back of an order, with its lines. */
export interface Returns {
  id: number
  row: ReturnsRow
  references: {
    order: OrdersRow | null
    customer: CustomersRow | null
  }
  children: {
    lines: {
      id: number
      productId: number
      variantId: number | null
      quantity: number
      rowVersion: string
    }[]
  }
  includes: {
    order: NavigationsOf<Orders>
    customer: NavigationsOf<Customers>
    lines: {
      product: ProductsRow | null
    }
  }
  filters: {
    id: [number, NumberOperator]
    orderId: [number, NumberOperator]
    customerId: [number, NumberOperator]
    reason: [string, StringOperator]
    status: ['requested' | 'approved' | 'received' | 'refunded' | 'rejected', EqualityOperator]
    requestedAt: [string | Date, MomentOperator]
  }
  sort: 'id' | 'orderId' | 'customerId' | 'status' | 'requestedAt'
  fields: 'id' | 'orderId' | 'customerId' | 'reason' | 'status' | 'requestedAt' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: ReturnsCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Lets the customer send it back. */
    approve: {}
    /** Turns the return down. */
    reject: {
      reason: string
    }
    /** Marks what was sent back as arrived, and puts it back into stock. */
    receive: {}
    /** Marks the customer as paid back. */
    refund: {}
  }
  reads: {}
}

/** A row of `returns`. */
export interface ReturnsRow {
  id: number
  orderId: number
  customerId: number
  reason: string
  status: 'requested' | 'approved' | 'received' | 'refunded' | 'rejected'
  requestedAt: string
  rowVersion: string
}

export interface ReturnsCreate {
  orderId: number
  customerId?: number
  reason: string
  lines?: readonly {
    productId: number
    variantId?: number | null
    quantity: number
  }[]
}

/** What customers mean to buy, until they check out. */
export interface ShoppingCarts {
  id: number
  row: ShoppingCartsRow
  references: {
    customer: CustomersRow | null
  }
  children: {
    items: {
      id: number
      productId: number
      variantId: number | null
      quantity: number
      rowVersion: string
    }[]
  }
  includes: {
    customer: NavigationsOf<Customers>
    items: {
      product: ProductsRow | null
    }
  }
  filters: {
    id: [number, NumberOperator]
    customerId: [number, NumberOperator]
    currency: [string, StringOperator]
    couponCode: [string, StringOperator]
    updatedAt: [string | Date, MomentOperator]
  }
  sort: 'id' | 'customerId' | 'currency' | 'couponCode' | 'updatedAt'
  fields: 'id' | 'customerId' | 'currency' | 'couponCode' | 'updatedAt' | 'rowVersion'
  search: never
  by: {}
  replaceBy: {}
  parameters: {
    customerId?: string | number
  }
  create: ShoppingCartsCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Adds a product or one of its variants, to the quantity of the one that is there already. */
    'add-item': {
      productId: number
      variantId?: number | null
      quantity: number
    }
    /** Sets the quantity of an item. */
    'change-item-quantity': {
      itemId: number
      quantity: number
    }
    /** Takes an item out. */
    'remove-item': {
      itemId: number
    }
    /** Takes out every item, and the coupon. */
    clear: {}
    /** Takes a coupon, in place of the one that it has. */
    'apply-coupon': {
      code: string
    }
    /** Makes an order of it, at the prices of the moment and less what the coupon takes off the total. */
    checkout: {}
  }
  reads: {}
}

/** A row of `shopping-carts`. */
export interface ShoppingCartsRow {
  id: number
  customerId: number
  currency: string
  couponCode: string | null
  updatedAt: string
  rowVersion: string
}

export interface ShoppingCartsCreate {
  customerId?: number
  currency: string
  couponCode?: string | null
  items?: readonly {
    productId: number
    variantId?: number | null
    quantity: number
  }[]
}

/** Who speaks at an event. */
export interface Speakers {
  id: number
  row: SpeakersRow
  references: {
    event: EventsRow | null
  }
  children: {}
  includes: {
    event: NavigationsOf<Events>
  }
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    bio: [string, StringOperator]
    eventId: [number, NumberOperator]
  }
  sort: 'id' | 'name' | 'eventId'
  fields: 'id' | 'name' | 'bio' | 'eventId' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: SpeakersCreate
  replace: SpeakersReplace
  patch: SpeakersPatch
  delete: unknown
  actions: {
    /** Notes that the speaker comes. */
    confirm: {}
  }
  reads: {}
}

/** A row of `speakers`. */
export interface SpeakersRow {
  id: number
  name: string
  bio: string | null
  eventId: number
  rowVersion: string
}

export interface SpeakersCreate {
  name: string
  bio?: string | null
  eventId: number
}

export interface SpeakersReplace {
  name: string
  bio?: string | null
  eventId: number
}

export interface SpeakersPatch {
  name?: string
  bio?: string | null
  eventId?: number
}

/** How much of a product a warehouse holds, and how much of that is promised. */
export interface StockItems {
  id: string
  row: StockItemsRow
  references: {
    warehouse: WarehousesRow | null
    product: ProductsRow | null
  }
  children: {}
  includes: {
    warehouse: NavigationsOf<Warehouses>
    product: NavigationsOf<Products>
  }
  filters: {
    id: [string | number, NumberOperator]
    warehouseId: [string, EqualityOperator]
    productId: [number, NumberOperator]
    onHand: [number, NumberOperator]
    reserved: [number, NumberOperator]
  }
  sort: 'id' | 'warehouseId' | 'productId' | 'onHand' | 'reserved'
  fields: 'id' | 'warehouseId' | 'productId' | 'onHand' | 'reserved' | 'rowVersion'
  totals: {
    dimensions: {
      warehouseId: string
    }
    measures: {
      count: number
      'sum.onHand': number | null
      'sum.reserved': number | null
    }
  }
  search: never
  by: {}
  replaceBy: {}
  parameters: {}
  create: StockItemsCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Adds delta, which may be negative, to what is on hand. */
    adjust: {
      delta: number
    }
    /** Promises some of what is on hand. */
    reserve: {
      quantity: number
    }
    /** Takes back some of what was promised. */
    release: {
      quantity: number
    }
  }
  reads: {}
}

/** A row of `stock-items`. */
export interface StockItemsRow {
  id: string
  warehouseId: string
  productId: number
  onHand: number
  reserved: number
  rowVersion: string
}

export interface StockItemsCreate {
  warehouseId: string
  productId: number
  onHand: number
}

/** Plans that customers pay for until further notice. */
export interface Subscriptions {
  id: number
  row: SubscriptionsRow
  references: {
    customer: CustomersRow | null
  }
  children: {}
  includes: {
    customer: NavigationsOf<Customers>
  }
  filters: {
    id: [number, NumberOperator]
    customerId: [number, NumberOperator]
    plan: [string, StringOperator]
    renewsAt: [string | Date, MomentOperator]
    status: ['active' | 'paused', EqualityOperator]
  }
  sort: 'id' | 'customerId' | 'plan' | 'renewsAt' | 'status'
  fields: 'id' | 'customerId' | 'plan' | 'renewsAt' | 'status' | 'rowVersion'
  search: never
  by: {}
  replaceBy: {}
  parameters: {}
  create: SubscriptionsCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Stops renewals until it is resumed. */
    pause: {}
    /** Takes renewals up again. */
    resume: {}
    /** Goes on with another plan. */
    'change-plan': {
      plan: string
    }
  }
  reads: {}
}

/** A row of `subscriptions`. */
export interface SubscriptionsRow {
  id: number
  customerId: number
  plan: string
  renewsAt: string
  status: 'active' | 'paused'
  rowVersion: string
}

export interface SubscriptionsCreate {
  customerId?: number
  plan: string
  renewsAt: string | Date
}

/** Companies that the store buys from. */
export interface Suppliers {
  id: number
  row: SuppliersRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    country: [string, StringOperator]
    isActive: [boolean, BoolOperator]
  }
  sort: 'id' | 'name' | 'country' | 'isActive'
  fields: 'id' | 'name' | 'country' | 'isActive' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: SuppliersCreate
  replace: SuppliersReplace
  patch: SuppliersPatch
  delete: unknown
  actions: {
    /** Takes up business with the supplier. */
    activate: {}
    /** Ends business with the supplier; orders on their way still come. */
    deactivate: {}
  }
  reads: {}
}

/** A row of `suppliers`. */
export interface SuppliersRow {
  id: number
  name: string
  country: string
  isActive: boolean
  rowVersion: string
}

export interface SuppliersCreate {
  name: string
  country: string
  isActive?: boolean
}

export interface SuppliersReplace {
  name: string
  country: string
  isActive?: boolean
}

export interface SuppliersPatch {
  name?: string
  country?: string
  isActive?: boolean
}

/** Admission of a customer to an event. */
export interface Tickets {
  id: number
  row: TicketsRow
  references: {
    event: EventsRow | null
    customer: CustomersRow | null
  }
  children: {}
  includes: {
    event: NavigationsOf<Events>
    customer: NavigationsOf<Customers>
  }
  filters: {
    id: [number, NumberOperator]
    eventId: [number, NumberOperator]
    customerId: [number, NumberOperator]
    seat: [string, StringOperator]
    status: ['valid' | 'checked-in', EqualityOperator]
    price: [string | number, NumberOperator]
  }
  sort: 'id' | 'eventId' | 'customerId' | 'seat' | 'status' | 'price'
  fields: 'id' | 'eventId' | 'customerId' | 'seat' | 'status' | 'price' | 'rowVersion'
  search: never
  by: {}
  replaceBy: {}
  parameters: {}
  create: TicketsCreate
  replace: never
  patch: never
  delete: unknown
  actions: {
    /** Gives the ticket to another customer. */
    transfer: {
      customerId: number
    }
    /** Lets the holder in. */
    'check-in': {}
  }
  reads: {}
}

/** A row of `tickets`. */
export interface TicketsRow {
  id: number
  eventId: number
  customerId: number
  seat: string | null
  status: 'valid' | 'checked-in'
  price: string
  rowVersion: string
}

export interface TicketsCreate {
  eventId: number
  customerId?: number
  seat?: string | null
  price: string | number
}

/** Where events take place. */
export interface Venues {
  id: number
  row: VenuesRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [number, NumberOperator]
    name: [string, StringOperator]
    city: [string, StringOperator]
    capacity: [number, NumberOperator]
    isOpen: [boolean, BoolOperator]
  }
  sort: 'id' | 'name' | 'city' | 'capacity' | 'isOpen'
  fields: 'id' | 'name' | 'city' | 'capacity' | 'isOpen' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: VenuesCreate
  replace: VenuesReplace
  patch: VenuesPatch
  delete: unknown
  actions: {
    /** Takes no more events. */
    close: {}
  }
  reads: {}
}

/** A row of `venues`. */
export interface VenuesRow {
  id: number
  name: string
  city: string
  capacity: number
  isOpen: boolean
  rowVersion: string
}

export interface VenuesCreate {
  name: string
  city: string
  capacity: number
  isOpen?: boolean
}

export interface VenuesReplace {
  name: string
  city: string
  capacity: number
  isOpen?: boolean
}

export interface VenuesPatch {
  name?: string
  city?: string
  capacity?: number
  isOpen?: boolean
}

/** Places that stock is kept in. */
export interface Warehouses {
  id: string
  row: WarehousesRow
  references: {}
  children: {}
  includes: {}
  filters: {
    id: [string, EqualityOperator]
    name: [string, StringOperator]
    city: [string, StringOperator]
    isOpen: [boolean, BoolOperator]
  }
  sort: 'id' | 'name' | 'city' | 'isOpen'
  fields: 'id' | 'name' | 'city' | 'isOpen' | 'rowVersion'
  search: string
  by: {}
  replaceBy: {}
  parameters: {}
  create: WarehousesCreate
  replace: WarehousesReplace
  patch: WarehousesPatch
  delete: unknown
  actions: {
    /** Opens the warehouse. */
    open: {}
    /** Closes the warehouse; its stock stays where it is. */
    close: {}
  }
  reads: {}
}

/** A row of `warehouses`. */
export interface WarehousesRow {
  id: string
  name: string
  city: string
  isOpen: boolean
  rowVersion: string
}

export interface WarehousesCreate {
  name: string
  city: string
  isOpen?: boolean
}

export interface WarehousesReplace {
  name: string
  city: string
  isOpen?: boolean
}

export interface WarehousesPatch {
  name?: string
  city?: string
  isOpen?: boolean
}

type NumberOperator = 'equals' | 'notEquals' | 'greaterThan' | 'greaterThanOrEqual' | 'lessThan' | 'lessThanOrEqual' | 'in' | 'between' | 'isEmpty' | 'isNotEmpty' | 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

type MomentOperator = 'is' | 'isNot' | 'isAfter' | 'isOnOrAfter' | 'isBefore' | 'isOnOrBefore' | 'in' | 'between' | 'isEmpty' | 'isNotEmpty' | 'eq' | 'ne' | 'gt' | 'gte' | 'lt' | 'lte'

type StringOperator = 'contains' | 'notContains' | 'equals' | 'notEquals' | 'startsWith' | 'endsWith' | 'in' | 'isEmpty' | 'isNotEmpty' | 'eq' | 'ne'

type BoolOperator = 'is' | 'isEmpty' | 'isNotEmpty' | 'equals' | 'eq'

type EqualityOperator = 'equals' | 'notEquals' | 'in' | 'isEmpty' | 'isNotEmpty' | 'eq' | 'ne'

type NavigationsOf<T extends { references: object; children: object }> = T['references'] & T['children']
