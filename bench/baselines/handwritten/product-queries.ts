import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import type { Filter, FilterOperator, PageRequest } from '../page-request.js'
import { isoInstant, PRODUCT_COLUMNS, type VersionedProductRow } from './product-row.js'

const COLUMNS = new Map([
  ['id', 'id'],
  ['name', 'name'],
  ['sku', 'sku'],
  ['categoryId', 'category_id'],
  ['price', 'price'],
  ['weightGrams', 'weight_grams'],
  ['barcode', 'barcode'],
  ['isActive', 'is_active'],
  ['releasedAt', 'released_at'],
  ['externalId', 'external_id']
])
const COMPARISONS: Readonly<Record<FilterOperator, string>> = {
  equals: '=',
  'not equals': '<>',
  'greater than': '>',
  'less than': '<'
}
const SELECT = `SELECT ${PRODUCT_COLUMNS}, row_version FROM products`

/** Names a request may filter and sort by. */
export const PROPERTIES: ReadonlySet<string> = new Set(COLUMNS.keys())

export async function findProduct(pool: Pool | PoolConnection, id: number) {
  const [[row]] = await pool.execute<VersionedProductRow[]>(`${SELECT} WHERE id = ?`, [id])
  return row === undefined ? undefined : toProduct(row)
}

export async function pageOfProducts(pool: Pool, page: PageRequest) {
  const where = page.filters.length === 0 ? '' : ` WHERE ${page.filters.map(condition).join(' AND ')}`
  const values = page.filters.map((filter) => filter.value)
  const order = `${COLUMNS.get(page.sortColumn)}${page.descending ? ' DESC' : ''}, id`
  // As texts: mysql2 binds numbers as doubles, which MySQL rejects in LIMIT.
  const window = [String(page.pageSize), String((page.pageNumber - 1) * page.pageSize)]
  const [[rows], [[counted]]] = await Promise.all([
    pool.execute<VersionedProductRow[]>(`${SELECT}${where} ORDER BY ${order} LIMIT ? OFFSET ?`, [...values, ...window]),
    pool.execute<(RowDataPacket & { total: number })[]>(`SELECT COUNT(*) AS total FROM products${where}`, values)
  ])
  return { items: rows.map(toProduct), total: Number(counted?.total) }
}

function condition(filter: Filter): string {
  return `${COLUMNS.get(filter.property)} ${COMPARISONS[filter.operator]} ?`
}

function toProduct(row: VersionedProductRow) {
  return {
    id: row.id,
    name: row.name,
    sku: row.sku,
    categoryId: row.category_id,
    price: row.price,
    weightGrams: row.weight_grams,
    barcode: row.barcode,
    isActive: row.is_active === 1,
    releasedAt: isoInstant(row.released_at),
    externalId: row.external_id,
    description: row.description,
    displayName: `${row.name} (${row.sku})`,
    rowVersion: row.row_version.toString('base64')
  }
}
