import { createPool, type Pool, type RowDataPacket } from 'mysql2/promise'

/** Where the tables ended at some moment. */
interface Mark {
  readonly product: number
  readonly entry: number
  readonly keys: number
}

/** What came to be after a mark. */
export interface Written {
  readonly products: number
  /** Keys with an answer. */
  readonly keys: number
  readonly entries: readonly AuditEntries[]
}

/** Audit entries of one row and action. */
interface AuditEntries {
  readonly subject: string
  readonly resource: string
  readonly action: string
  readonly rowId: string
  readonly count: number
}

export interface ProductVersion {
  readonly id: number
  readonly sku: string
  readonly categoryId: number
  readonly version: Buffer
}

const MARK =
  'SELECT (SELECT COALESCE(MAX(id), 0) FROM products) AS product, ' +
  '(SELECT COALESCE(MAX(id), 0) FROM ur_audit_entries) AS entry, ' +
  '(SELECT COUNT(*) FROM ur_idempotency_keys WHERE answer IS NOT NULL) AS `keys`'
const PRODUCTS = 'SELECT COUNT(*) AS products FROM products WHERE id > ?'
const ENTRIES =
  'SELECT subject, resource, action, row_id AS rowId, COUNT(*) AS count FROM ur_audit_entries WHERE id > ? ' +
  'GROUP BY subject, resource, action, row_id'
const VERSIONS =
  'SELECT id, sku, category_id AS categoryId, row_version AS version FROM products WHERE id <= ? ORDER BY id'

/** Looks up in the database itself what the targets wrote. */
export class WriteLedger {
  readonly #pool: Pool

  constructor(url: string) {
    this.#pool = createPool({ uri: url, connectionLimit: 1 })
  }

  async mark(): Promise<Mark> {
    const [[mark]] = await this.#pool.query<(Mark & RowDataPacket)[]>(MARK)
    if (mark === undefined) throw new Error('The database does not tell where its tables end.')
    return mark
  }

  async since(mark: Mark): Promise<Written> {
    const [[counted]] = await this.#pool.query<({ readonly products: number } & RowDataPacket)[]>(PRODUCTS, [
      mark.product
    ])
    const [entries] = await this.#pool.query<(AuditEntries & RowDataPacket)[]>(ENTRIES, [mark.entry])
    return { products: Number(counted?.products), keys: (await this.mark()).keys - mark.keys, entries }
  }

  /** The first products, in the order of their ids. */
  async versions(count: number): Promise<ProductVersion[]> {
    const [rows] = await this.#pool.query<(ProductVersion & RowDataPacket)[]>(VERSIONS, [count])
    return rows
  }

  async forgetProducts(mark: Mark): Promise<void> {
    await this.#pool.query('DELETE FROM products WHERE id > ?', [mark.product])
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}
