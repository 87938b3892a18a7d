import type { OracleProperty, OracleResource, WireType } from '../oracle/resource.js'

// The read surface of four resources of the store as domain.md and contract.md describe it, written down a second time
// and by hand: nothing here comes from the entity files, so that a mistake in one of them shows.

interface More {
  readonly nullable?: boolean
  readonly scale?: number
  readonly selectable?: boolean
  readonly sortable?: boolean
  readonly words?: readonly string[]
}

function property(name: string, type: WireType, more: More & { sql: string }): OracleProperty {
  return { nullable: false, scale: 0, selectable: true, name, type, ...more }
}

export const products: OracleResource = {
  name: 'products',
  from: 'products t',
  searchable: ['name', 'sku', 'description'],
  properties: [
    property('id', 'int', { sql: 't.id' }),
    property('name', 'string', { sql: 't.name' }),
    property('sku', 'string', { sql: 't.sku' }),
    property('categoryId', 'int', { sql: 't.category_id' }),
    property('price', 'decimal', { sql: 't.price', scale: 2 }),
    property('weightGrams', 'int', { sql: 't.weight_grams', nullable: true }),
    property('barcode', 'long', { sql: 't.barcode', nullable: true }),
    property('isActive', 'bool', { sql: 't.is_active' }),
    property('releasedAt', 'dateTime', { sql: 't.released_at', nullable: true }),
    property('externalId', 'guid', { sql: 't.external_id', nullable: true }),
    property('description', 'string', { sql: 't.description', nullable: true, sortable: false })
  ]
}

/** As callers with `products:manage` see them. */
export const productsOfClerk: OracleResource = {
  ...products,
  properties: [
    ...products.properties,
    property('costPrice', 'decimal', { sql: 't.cost_price', nullable: true, scale: 2 }),
    property('reorderLevel', 'int', { sql: 't.reorder_level', nullable: true })
  ]
}

export const categories: OracleResource = {
  name: 'categories',
  from: 'categories t LEFT JOIN categories p ON p.id = t.parent_id',
  searchable: ['name', 'slug'],
  properties: [
    property('id', 'int', { sql: 't.id' }),
    property('name', 'string', { sql: 't.name' }),
    property('parentId', 'int', { sql: 't.parent_id', nullable: true }),
    property('slug', 'string', { sql: 't.slug' }),
    property('parentName', 'string', { sql: 'p.name', nullable: true, selectable: false })
  ]
}

export const customers: OracleResource = {
  name: 'customers',
  from: 'customers t',
  searchable: ['name', 'email', 'phone'],
  properties: [
    property('id', 'int', { sql: 't.id' }),
    property('name', 'string', { sql: 't.name' }),
    property('email', 'string', { sql: 't.email' }),
    property('phone', 'string', { sql: 't.phone', nullable: true }),
    property('isSuspended', 'bool', { sql: 't.is_suspended' }),
    property('createdAt', 'dateTime', { sql: 't.created_at' })
  ]
}

export const orders: OracleResource = {
  name: 'orders',
  from: 'orders t',
  searchable: ['number', 'trackingCode'],
  properties: [
    property('id', 'int', { sql: 't.id' }),
    property('number', 'string', { sql: 't.number' }),
    property('customerId', 'int', { sql: 't.customer_id' }),
    property('status', 'enum', { sql: 't.status', words: ['placed', 'paid', 'shipped', 'delivered', 'cancelled'] }),
    property('total', 'decimal', { sql: 't.total', scale: 2 }),
    property('placedAt', 'dateTime', { sql: 't.placed_at' }),
    property('paidAt', 'dateTime', { sql: 't.paid_at', nullable: true }),
    property('deliveredAt', 'dateTime', { sql: 't.delivered_at', nullable: true }),
    property('trackingCode', 'string', { sql: 't.tracking_code', nullable: true })
  ]
}
