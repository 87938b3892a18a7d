import { alterColumn, type Migration, type MigrationDatabase, run } from 'uniform-rest'

/** The states of rows by table. */
const STATUSES: Readonly<Record<string, readonly string[]>> = {
  events: ['draft', 'scheduled', 'cancelled'],
  invoices: ['draft', 'issued', 'void'],
  orders: ['placed', 'paid', 'shipped', 'delivered', 'cancelled'],
  purchase_orders: ['draft', 'submitted', 'received', 'cancelled'],
  returns: ['requested', 'approved', 'received', 'refunded', 'rejected'],
  subscriptions: ['active', 'paused'],
  tickets: ['valid', 'checked-in']
}

/** A CHECK compares without letter case, and SQLite gets none: this compares characters. */
async function requireWords({ engine, select }: MigrationDatabase): Promise<void> {
  for (const [table, words] of Object.entries(STATUSES)) {
    const exact = engine === 'sqlite' ? 'status' : 'CAST(status AS BINARY)'
    const listed = words.map((word) => `'${word}'`).join(', ')
    const [row] = await select(`SELECT id, status FROM ${table} WHERE ${exact} NOT IN (${listed}) ORDER BY id LIMIT 1`)
    if (row === undefined) continue
    const { id, status } = row
    throw new Error(
      `The row ${String(id)} of ${table} has the status ${JSON.stringify(status)}, which is none of ${words.join(', ')}. ` +
        `Give it one of these and migrate again. Others like it: SELECT id, status FROM ${table} WHERE ${exact} NOT IN (${listed})`
    )
  }
}

/**
 * The columns stay texts, which the version before reads and writes on. It writes these words alone, so that no CHECK stops it.
 */
export const statusesAreWords: Migration = {
  name: '058-statuses-are-words',
  steps: [
    run('requires that each status is a word of its entity; changes nothing', requireWords),
    ...Object.entries(STATUSES).map(([table, words]) => alterColumn(table, (t) => t.enum('status', words, 32)))
  ]
}
