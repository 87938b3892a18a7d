import { dropIndexes, type Migration } from 'uniform-rest'

/** The columns that had an index for each direction, before one served both. */
const SORTED: Readonly<Record<string, readonly string[]>> = {
  bookmarks: ['user_id', 'session_id', 'created_at'],
  categories: ['name', 'parent_id', 'slug'],
  coupons: ['code', 'percent', 'starts_at', 'ends_at', 'is_active'],
  customers: ['name', 'email', 'phone', 'is_suspended', 'created_at'],
  events: ['title', 'starts_at', 'ends_at', 'venue_id', 'status'],
  invoices: ['order_id', 'customer_id', 'number', 'total', 'status', 'issued_at'],
  orders: ['number', 'customer_id', 'status', 'total', 'placed_at', 'paid_at', 'delivered_at', 'tracking_code'],
  products: [
    'name',
    'sku',
    'category_id',
    'price',
    'weight_grams',
    'barcode',
    'is_active',
    'released_at',
    'external_id',
    'cost_price',
    'reorder_level'
  ],
  purchase_orders: ['supplier_id', 'status', 'expected_at', 'requested_by'],
  returns: ['order_id', 'customer_id', 'status', 'requested_at'],
  shopping_carts: ['customer_id', 'currency', 'coupon_code', 'updated_at'],
  speakers: ['name', 'event_id'],
  stock_items: ['warehouse_id', 'product_id', 'on_hand', 'reserved'],
  subscriptions: ['customer_id', 'plan', 'renews_at', 'status'],
  suppliers: ['name', 'country', 'is_active'],
  tickets: ['event_id', 'customer_id', 'seat', 'status', 'price'],
  venues: ['name', 'city', 'capacity', 'is_open'],
  warehouses: ['name', 'city', 'is_open']
}

/** The id follows the direction of the last sort column, so that one index serves a column in both. */
export const dropDescending: Migration = {
  name: '057-one-index',
  steps: [
    ...Object.entries(SORTED).map(([table, columns]) =>
      dropIndexes(table, ...columns.map((column) => `${table}_${column}_desc`))
    ),
    dropIndexes('products', 'products_category_id_price_desc_order')
  ]
}
