import { insertRows, rowVersionOf, TABLES, type NewRow } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'

const guid = (digit: string, n: number): string => `${digit.repeat(8)}-0000-4000-8000-${String(n).padStart(12, '0')}`

export const CATEGORIES: readonly NewRow[] = [
  { id: 1, name: 'Tools', parentId: null, slug: 'tools' },
  { id: 2, name: 'Hand Tools', parentId: 1, slug: 'hand-tools' },
  { id: 3, name: 'Power Tools', parentId: 1, slug: 'power-tools' },
  { id: 4, name: 'Éclairs & Co', parentId: null, slug: 'eclairs' },
  { id: 5, name: 'hand tools ', parentId: 2, slug: 'trailing' }
]

function product(id: number, name: string, sku: string, more: NewRow): NewRow {
  return {
    id,
    name,
    sku,
    categoryId: 1,
    price: '1.00',
    weightGrams: null,
    barcode: null,
    isActive: true,
    releasedAt: null,
    externalId: null,
    description: null,
    ...more
  }
}

/** Twelve products that hold between them every awkward value the contract names. */
export const PRODUCTS: readonly NewRow[] = [
  product(1, 'Hammer', 'HM-001', {
    categoryId: 2,
    price: '19.90',
    weightGrams: 500,
    barcode: '9007199254740993',
    releasedAt: '2026-01-31T08:00:00.000Z',
    externalId: guid('a', 1),
    description: 'A hammer.'
  }),
  product(2, 'hammer ', 'hm-002', { categoryId: 2, price: '0.00' }),
  product(3, '100% cotton', 'CT-100', {
    categoryId: 3,
    price: '5.50',
    weightGrams: 0,
    barcode: '-9223372036854775808',
    releasedAt: '2026-01-31T08:00:00.001Z',
    externalId: guid('b', 2),
    description: ''
  }),
  product(4, '100_percent', 'CT_100', {
    categoryId: 3,
    price: '5.50',
    weightGrams: 100,
    barcode: '9223372036854775807',
    releasedAt: '2026-01-31T07:59:59.999Z',
    externalId: guid('c', 3),
    description: 'x'
  }),
  product(5, 'back\\slash', 'BS\\1', {
    categoryId: 4,
    price: '99999999.99',
    weightGrams: 2147483647,
    barcode: '0',
    releasedAt: '1999-12-31T23:59:59.999Z',
    externalId: guid('0', 4),
    description: 'Résumé'
  }),
  product(6, '=SUM(A1)', 'FX-1', { description: '+1', releasedAt: '2026-02-01T00:00:00.000Z' }),
  product(7, 'Ünïcode 漢字 🎈', 'UN-1', { description: 'Resume', barcode: '9007199254740992' }),
  product(8, 'two\r\nlines, "quoted"', 'NL-1', { description: '@home', weightGrams: 100, isActive: false }),
  product(9, '-dash', 'DA-1', { price: '0.01', description: '\tindented' }),
  product(10, 'HAMMER drill', 'HD-1', { price: '20.00', description: 'hammer', isActive: false }),
  product(11, "O'Brien", 'OB-1', { price: '19.99', barcode: '-1' }),
  product(12, 'a,b', 'AB-1', { price: '10.00', description: 'a "b" c' })
]

export const VARIANTS: readonly NewRow[] = [
  { id: 1, productId: 1, name: 'Small', sku: 'HM-001-S', price: '18.00', stock: 3 },
  { id: 2, productId: 1, name: 'Large', sku: 'HM-001-L', price: '25.50', stock: 40 },
  { id: 3, productId: 3, name: 'Only', sku: 'CT-100-O', price: '5.50', stock: 10000 }
]

export const REVIEWS: readonly NewRow[] = [
  review(1, 1, { rating: 5, title: 'Hits', body: null }),
  review(2, 3, { rating: 1, title: 'Scratchy', body: '' }),
  review(3, 3, { rating: 3, title: 'Soft, "really"', body: 'Line\none' })
]

function review(id: number, productId: number, more: NewRow): NewRow {
  return { id, productId, authorName: 'Grüße', createdAt: '2026-03-01T12:34:56.789Z', ...more }
}

export const CUSTOMERS: readonly NewRow[] = [
  customer(1, 'Ada Lovelace', { phone: '+44 1', riskNote: 'secret-alpha' }),
  customer(2, 'Ben Franklin', {}),
  customer(3, 'Cy Young', { phone: '', isSuspended: true, riskNote: 'secret-gamma' })
]

function customer(id: number, name: string, more: NewRow): NewRow {
  return {
    id,
    name,
    email: `c${id}@example.com`,
    phone: null,
    isSuspended: false,
    createdAt: '2025-05-05T05:05:05.005Z',
    riskNote: null,
    ...more
  }
}

const ADDRESSES: readonly NewRow[] = [
  { id: 1, customerId: 1, line1: '1 St', city: 'London', postalCode: 'N1', country: 'GB' },
  { id: 2, customerId: 2, line1: '2 St', city: 'Boston', postalCode: '02108', country: 'US' }
]

const ORDERS: readonly NewRow[] = [
  order(1, 1, { total: '37.90', status: 'paid', paidAt: '2026-04-02T00:00:00.000Z' }),
  order(2, 2, { total: '0.00' }),
  order(3, 1, { total: '9999999999.99', status: 'delivered', trackingCode: 'T-1' }),
  order(4, 3, { total: '1.00' }),
  order(5, 2, { total: '5.50' })
]

function order(id: number, customerId: number, more: NewRow): NewRow {
  return {
    id,
    number: `O-${String(id).padStart(5, '0')}`,
    customerId,
    status: 'placed',
    placedAt: `2026-04-0${id}T10:00:00.000Z`,
    paidAt: null,
    deliveredAt: null,
    trackingCode: null,
    ...more
  }
}

export const LINES: readonly NewRow[] = [
  { id: 1, orderId: 1, productId: 1, variantId: 1, quantity: 2, unitPrice: '18.95' },
  { id: 2, orderId: 2, productId: 2, variantId: null, quantity: 1, unitPrice: '0.00' },
  { id: 3, orderId: 3, productId: 3, variantId: null, quantity: 10000, unitPrice: '5.50' }
]

/** Fills both stores with the rows above. */
export async function insertFixture(urls: { database: string; reviews: string }): Promise<void> {
  await withTestDatabase(urls.database, async (database) => {
    await insertRows(database, TABLES.categories, CATEGORIES)
    await insertRows(database, TABLES.products, PRODUCTS)
    await insertRows(database, TABLES.variants, VARIANTS)
    await insertRows(database, TABLES.customers, CUSTOMERS)
    await insertRows(database, TABLES.addresses, ADDRESSES)
    await insertRows(database, TABLES.orders, ORDERS)
    await insertRows(database, TABLES.lines, LINES)
  })
  await withTestDatabase(urls.reviews, (database) => insertRows(database, TABLES.reviews, REVIEWS))
}

/** Adds `count` products from the id 1,000,000 on, each with a description of so many characters. */
export function insertManyProducts(databaseUrl: string, count: number, description: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, n) => ({
    id: 1_000_000 + n,
    name: `Row ${n}`,
    sku: `ROW-${n}`,
    categoryId: 1,
    price: '1.00',
    isActive: true,
    description: 'x'.repeat(description)
  }))
  return withTestDatabase(databaseUrl, (database) => insertRows(database, TABLES.products, rows))
}

/** The version of a row as JSON shows it. */
export function versionOf(row: NewRow): string {
  return rowVersionOf(row).toString('base64')
}

/** A row of the fixture by its id. */
export function rowOf(rows: readonly NewRow[], id: number): NewRow {
  const found = rows.find((row) => row['id'] === id)
  if (found === undefined) throw new Error(`no row ${id} in the fixture`)
  return found
}

/** A product without its navigations as the wire shows it: computed name, row version last. */
export function productItem(id: number): NewRow {
  const row = rowOf(PRODUCTS, id)
  return { ...row, displayName: `${String(row['name'])} (${String(row['sku'])})`, rowVersion: versionOf(row) }
}

/** The same for a caller with `products:manage`. */
export function clerkProductItem(id: number): NewRow {
  return { ...productItem(id), costPrice: null, reorderLevel: null, margin: null }
}

/** A category as the wire shows it, the joined name included. */
export function categoryItem(id: number): NewRow {
  const row = rowOf(CATEGORIES, id)
  const parent = CATEGORIES.find((one) => one['id'] === row['parentId'])
  return { ...row, parentName: parent?.['name'] ?? null, rowVersion: versionOf(row) }
}

/** An order without its navigations. */
export function orderItem(id: number): NewRow {
  const row = rowOf(ORDERS, id)
  return { ...row, rowVersion: versionOf(row) }
}

/** A customer without its navigations, and without what is hidden. */
export function customerItem(id: number): NewRow {
  const { riskNote: _hidden, ...row } = rowOf(CUSTOMERS, id)
  return { ...row, rowVersion: versionOf(row) }
}

/** A child row: the foreign key is not part of it. */
export function childItem(rows: readonly NewRow[], id: number, foreignKey: string): NewRow {
  const row = rowOf(rows, id)
  const shown = Object.entries(row).filter(([name]) => name !== foreignKey)
  return { ...Object.fromEntries(shown), rowVersion: versionOf(row) }
}
