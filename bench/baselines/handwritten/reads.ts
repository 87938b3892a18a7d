import type { Pool, PoolConnection, RowDataPacket } from 'mysql2/promise'
import { RejectedRequest } from '../app.js'
import type { Cursor, Filter, FilterOperator, PageRequest } from '../pages.js'

export const PRODUCT_COLUMNS =
  'id, name, sku, category_id, price, weight_grams, barcode, is_active, released_at, external_id, description'

/** With `dateStrings` and `bigNumberStrings`. */
export interface ProductRow extends RowDataPacket {
  readonly id: number
  readonly name: string
  readonly sku: string
  readonly category_id: number
  readonly price: string
  readonly weight_grams: number | null
  readonly barcode: string | null
  readonly is_active: number
  /** `2026-01-31 08:00:00.123`, or without the fraction */
  readonly released_at: string | null
  readonly external_id: string | null
  readonly description: string | null
}

interface VersionedProductRow extends ProductRow {
  readonly row_version: Buffer
}

/** mysql2 leaves out a fraction of zero. */
export function isoInstant(stored: string | null): string | null {
  if (stored === null) return null
  return `${stored.replace(' ', 'T')}${stored.length === 19 ? '.000' : ''}Z`
}

/** `2026-01-31T08:00:00.123Z` as a DATETIME takes it. */
export function storedInstant<Instant extends string | null>(iso: Instant): Instant | string {
  return iso === null ? iso : iso.replace('T', ' ').replace(/Z$/, '')
}

const COLUMNS = new Map<string, keyof ProductRow & string>([
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
const PAGE_COLUMNS = `${PRODUCT_COLUMNS}, row_version`
const BY_ID = `SELECT ${PAGE_COLUMNS} FROM products WHERE id = ?`

/** Names a request may filter and sort by. */
export const PROPERTIES: ReadonlySet<string> = new Set(COLUMNS.keys())

export async function findProduct(pool: Pool | PoolConnection, id: number) {
  const [[row]] = await pool.execute<VersionedProductRow[]>(BY_ID, [id])
  return row === undefined ? undefined : toProduct(row)
}

/** Chosen properties of one product in the order of `names`. Throws 400 for a name that is none. */
export async function findProductFields(pool: Pool, id: number, names: readonly string[]) {
  const columns = names.map((name) => {
    const column = COLUMNS.get(name)
    if (column === undefined) throw new RejectedRequest(400, `There is no property ${name}.`)
    return column
  })
  const [[row]] = await pool.execute<ProductRow[]>(`SELECT ${columns.join(', ')} FROM products WHERE id = ?`, [id])
  if (row === undefined) return undefined
  return Object.fromEntries(names.map((name, index) => [name, wireValue(row, columns[index] ?? 'id')]))
}

function wireValue(row: ProductRow, column: keyof ProductRow & string): unknown {
  if (column === 'is_active') return row.is_active === 1
  return column === 'released_at' ? isoInstant(row.released_at) : (row[column] as unknown)
}

/** From here on the ids of a page are read first: that is cheaper than carrying so many whole rows past the offset. */
const DEEP_OFFSET = 1000

export async function pageOfProducts(pool: Pool, page: PageRequest) {
  const where = page.filters.map(condition)
  const values: (string | number | null)[] = page.filters.map((filter) => filter.value)
  const [[rows, more], total] = await Promise.all([
    page.after === undefined
      ? numberedPage(pool, page, { where, values })
      : pageBehind(pool, { ...page, after: page.after }, { where, values }),
    totalOf(pool, { where, values })
  ])
  return {
    items: rows.map(toProduct),
    total,
    more,
    first: placeOf(rows.at(0), page),
    last: placeOf(rows.at(-1), page)
  }
}

interface Where {
  readonly where: readonly string[]
  readonly values: readonly (string | number | null)[]
}

async function numberedPage(
  pool: Pool,
  page: PageRequest,
  { where, values }: Where
): Promise<[VersionedProductRow[], boolean]> {
  const offset = (page.pageNumber - 1) * page.pageSize
  const order = orderBy(page)
  const window = `${whereText(where)} ORDER BY ${order} LIMIT ? OFFSET ?`
  // Left to itself MariaDB sorts the whole table for some offsets, as its statistics of the moment have it.
  const byIndex = where.length === 0 ? ` FORCE INDEX FOR ORDER BY (${indexOf(page)})` : ''
  const text =
    offset < DEEP_OFFSET
      ? `SELECT ${PAGE_COLUMNS} FROM products${window}`
      : `SELECT ${PAGE_COLUMNS} FROM products JOIN (SELECT id FROM products${byIndex}${window}) AS page USING (id) ` +
        `ORDER BY ${order}`
  // As texts: mysql2 binds numbers as doubles, which MySQL rejects in LIMIT.
  const [rows] = await pool.execute<VersionedProductRow[]>(text, [...values, String(page.pageSize), String(offset)])
  return [rows, false]
}

async function pageBehind(
  pool: Pool,
  page: PageRequest & { readonly after: Cursor },
  { where, values }: Where
): Promise<[VersionedProductRow[], boolean]> {
  const { value, id } = page.after
  const column = COLUMNS.get(page.sortColumn) ?? 'id'
  const beyond = page.descending ? '<' : '>'
  // A range of the index from the place on, of which the rows up to the place are left out.
  const behind = `${column} ${beyond}= ? AND (${column} ${beyond} ? OR id ${beyond} ?)`
  const text = `SELECT ${PAGE_COLUMNS} FROM products${whereText([...where, behind])} ORDER BY ${orderBy(page)} LIMIT ?`
  const [rows] = await pool.execute<VersionedProductRow[]>(text, [
    ...values,
    value,
    value,
    id,
    String(page.pageSize + 1)
  ])
  return [rows.slice(0, page.pageSize), rows.length > page.pageSize]
}

async function totalOf(pool: Pool, { where, values }: Where): Promise<number> {
  const text = `SELECT COUNT(*) AS total FROM products${whereText(where)}`
  const [[counted]] = await pool.execute<(RowDataPacket & { total: number })[]>(text, [...values])
  return Number(counted?.total)
}

function whereText(conditions: readonly string[]): string {
  return conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`
}

function orderBy({ sortColumn, descending }: PageRequest): string {
  const direction = descending ? ' DESC' : ''
  return `${COLUMNS.get(sortColumn)}${direction}, id${direction}`
}

/** The index in the order of a page of all products. */
function indexOf({ sortColumn }: PageRequest): string {
  const column = COLUMNS.get(sortColumn) ?? 'id'
  return column === 'id' ? 'PRIMARY' : `products_${column}`
}

function condition(filter: Filter): string {
  return `${COLUMNS.get(filter.property)} ${COMPARISONS[filter.operator]} ?`
}

function placeOf(row: VersionedProductRow | undefined, { sortColumn }: PageRequest): Cursor | undefined {
  return row === undefined ? undefined : { value: row[COLUMNS.get(sortColumn) ?? 'id'] as Cursor['value'], id: row.id }
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

const LOOKUP = 'SELECT id, name FROM categories ORDER BY name, id LIMIT 1000'

/** The categories as id and name. */
export async function lookupCategories(pool: Pool) {
  const [rows] = await pool.execute<(RowDataPacket & { id: number; name: string })[]>(LOOKUP)
  return { items: rows }
}

interface OrderRow extends RowDataPacket {
  readonly id: number
  readonly number: string
  readonly customer_id: number
  readonly status: string
  readonly total: string
  readonly placed_at: string
  readonly paid_at: string | null
  readonly delivered_at: string | null
  readonly tracking_code: string | null
  readonly row_version: Buffer
}

interface LineRow extends RowDataPacket {
  readonly id: number
  readonly order_id: number
  readonly product_id: number
  readonly variant_id: number | null
  readonly quantity: number
  readonly unit_price: string
  readonly row_version: Buffer
}

const ORDERS =
  'SELECT id, number, customer_id, status, total, placed_at, paid_at, delivered_at, tracking_code, row_version ' +
  'FROM orders WHERE customer_id = ?'
const ORDER = `${ORDERS} AND id = ?`
const ORDER_COLUMNS = new Map([
  ['id', 'id'],
  ['placedAt', 'placed_at'],
  ['total', 'total']
])

/** Names that orders may be sorted by. */
export const ORDER_PROPERTIES: ReadonlySet<string> = new Set(ORDER_COLUMNS.keys())

/** An order of the customer; undefined for one of somebody else too. */
export async function findOrder(pool: Pool, id: number, customerId: number) {
  const [[row]] = await pool.execute<OrderRow[]>(ORDER, [customerId, id])
  return row === undefined ? undefined : toOrder(row)
}

/** Orders of the customer, with their lines where they are asked for. */
export async function pageOfOrders(pool: Pool, page: PageRequest & { customerId: number; withLines: boolean }) {
  const column = ORDER_COLUMNS.get(page.sortColumn) ?? 'id'
  const window = [String(page.pageSize), String((page.pageNumber - 1) * page.pageSize)]
  const [[rows], [[counted]]] = await Promise.all([
    pool.execute<OrderRow[]>(`${ORDERS} ORDER BY ${column}${page.descending ? ' DESC' : ''}, id LIMIT ? OFFSET ?`, [
      page.customerId,
      ...window
    ]),
    pool.execute<(RowDataPacket & { total: number })[]>('SELECT COUNT(*) AS total FROM orders WHERE customer_id = ?', [
      page.customerId
    ])
  ])
  const lines = page.withLines ? await linesOf(pool, rows, page.pageSize) : undefined
  const place = (row: OrderRow | undefined): Cursor | undefined =>
    row === undefined ? undefined : { value: row[column] as Cursor['value'], id: row.id }
  return {
    items: rows.map((row) =>
      lines === undefined ? toOrder(row) : { ...toOrder(row), lines: lines.get(row.id) ?? [] }
    ),
    total: Number(counted?.total),
    more: false,
    first: place(rows.at(0)),
    last: place(rows.at(-1))
  }
}

/** One statement for the lines of all orders of a page, whose text depends on the size of the page alone. */
async function linesOf(pool: Pool, orders: readonly OrderRow[], pageSize: number) {
  const ofOrder = new Map<number, ReturnType<typeof toLine>[]>(orders.map(({ id }) => [id, []]))
  const ids = Array.from({ length: pageSize }, (_, index) => orders[index]?.id ?? null)
  const [rows] = await pool.execute<LineRow[]>(
    'SELECT id, order_id, product_id, variant_id, quantity, unit_price, row_version FROM order_lines ' +
      `WHERE order_id IN (${ids.map(() => '?').join(', ')}) ORDER BY id`,
    ids
  )
  for (const row of rows) ofOrder.get(row.order_id)?.push(toLine(row))
  return ofOrder
}

function toLine(row: LineRow) {
  return {
    id: row.id,
    productId: row.product_id,
    variantId: row.variant_id,
    quantity: row.quantity,
    unitPrice: row.unit_price,
    rowVersion: row.row_version.toString('base64')
  }
}

function toOrder(row: OrderRow) {
  return {
    id: row.id,
    number: row.number,
    customerId: row.customer_id,
    status: row.status,
    total: row.total,
    placedAt: isoInstant(row.placed_at),
    paidAt: isoInstant(row.paid_at),
    deliveredAt: isoInstant(row.delivered_at),
    trackingCode: row.tracking_code,
    rowVersion: row.row_version.toString('base64')
  }
}
