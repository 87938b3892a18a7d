import type { Pool } from 'mysql2/promise'
import { BYTE_ORDER_MARK, EXPORT_COLUMNS, textCell, truncationRow } from '../csv.js'
import { isoInstant, PRODUCT_COLUMNS, type ProductRow } from './reads.js'

const BATCH = 1000
const NEXT_BATCH = `SELECT ${PRODUCT_COLUMNS} FROM products WHERE id > ? ORDER BY id LIMIT ?`

/** CSV text in batches by key, out of one snapshot. */
export async function* exportProducts(pool: Pool, limit: number): AsyncGenerator<string> {
  const connection = await pool.getConnection()
  try {
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
    yield `${BYTE_ORDER_MARK}${EXPORT_COLUMNS.join(',')}\r\n`
    let last = 0
    let count = 0
    for (;;) {
      const wanted = Math.min(BATCH, limit - count + 1)
      const [rows] = await connection.execute<ProductRow[]>(NEXT_BATCH, [last, String(wanted)])
      const kept = rows.slice(0, limit - count)
      count += kept.length
      if (kept.length > 0) yield kept.map(toLine).join('')
      if (kept.length < rows.length) yield truncationRow(limit)
      if (kept.length < rows.length || rows.length < wanted) return
      last = kept.at(-1)?.id ?? last
    }
  } finally {
    await connection.query('ROLLBACK')
    connection.release()
  }
}

function toLine(row: ProductRow): string {
  return (
    `${row.id},${textCell(row.name)},${textCell(row.sku)},${row.category_id},${row.price},${row.weight_grams ?? ''},` +
    `${row.barcode ?? ''},${row.is_active === 1},${isoInstant(row.released_at) ?? ''},${row.external_id ?? ''},` +
    `${textCell(row.description)},${textCell(`${row.name} (${row.sku})`)}\r\n`
  )
}
