import { stringify, type Options } from 'csv-stringify/sync'
import { Op, Transaction, type Sequelize } from 'sequelize'
import { BYTE_ORDER_MARK, EXPORT_COLUMNS, truncationRow } from '../csv.js'
import { Product } from './models.js'

const BATCH = 1000

/** CSV text in batches by key, out of one transaction. */
export async function* exportProducts(sequelize: Sequelize, limit: number): AsyncGenerator<string> {
  const transaction = await sequelize.transaction({ isolationLevel: Transaction.ISOLATION_LEVELS.REPEATABLE_READ })
  try {
    yield `${BYTE_ORDER_MARK}${EXPORT_COLUMNS.join(',')}\r\n`
    let last = 0
    let count = 0
    for (;;) {
      const wanted = Math.min(BATCH, limit - count + 1)
      const rows = await Product.findAll({
        where: { id: { [Op.gt]: last } },
        order: [['id', 'ASC']],
        limit: wanted,
        transaction
      })
      const kept = rows.slice(0, limit - count)
      count += kept.length
      if (kept.length > 0) yield stringify(kept.map(toCells), CSV)
      if (kept.length < rows.length) yield truncationRow(limit)
      if (kept.length < rows.length || rows.length < wanted) return
      last = kept.at(-1)?.id ?? last
    }
  } finally {
    await transaction.rollback()
  }
}

// Left to itself csv-stringify quotes no lone line feed, and writes null and the empty text alike.
const CSV: Options = {
  record_delimiter: 'windows',
  quoted_match: /[\r\n;\t]/,
  cast: {
    boolean: String,
    date: (value) => value.toISOString(),
    string: (value) => ({ value, quoted_empty: true })
  }
}

function toCells(row: Product): unknown[] {
  return EXPORT_COLUMNS.map((name) => {
    const value = row[name]
    return TEXTS.has(name) && typeof value === 'string' ? safeText(value) : value
  })
}

const TEXTS: ReadonlySet<string> = new Set(['name', 'sku', 'description', 'displayName'])

// csv-stringify's own escape_formulas would touch negative numbers too.
function safeText(value: string): string {
  return /^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(value) ? `'${value}` : value
}
