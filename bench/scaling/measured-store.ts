import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise'
import { QueryTypes } from 'sequelize'
import { connect } from '../../data-service/sql/connect.js'
import { createBenchDatabase } from '../database/bench-database.js'
import { CUSTOMERS, growProducts, loadRows } from '../database/load-rows.js'
import type { MeasuredDatabase } from './points.js'

/** The largest table that is loaded row by row; larger ones are copies of it. */
export const LOADED = 100_000

/** A database under measurement. */
export interface MeasuredStore {
  readonly kind: MeasuredDatabase
  readonly url: string
  /** For people. */
  readonly server: string
  readonly pid: number | undefined
  readonly categories: readonly number[]
  readonly orders: readonly (readonly number[])[]
  /** Makes the table larger. */
  grow(products: number): Promise<void>
  counts(): Promise<Counts>
  remove(): Promise<void>
}

/** What a server has done since it started. */
export interface Counts {
  readonly statements: number
  readonly rowsRead: number
  readonly pagesMissed: number
  readonly redoBytes: number
}

/** A database of a kind that has as many products as it is asked for. */
export class GrowingStore {
  readonly #kind: MeasuredDatabase
  readonly #folder: string
  #store: MeasuredStore | undefined
  #products = 0

  constructor(kind: MeasuredDatabase, folder: string) {
    this.#kind = kind
    this.#folder = folder
  }

  async of(products: number): Promise<MeasuredStore> {
    const loaded = Math.min(products, LOADED)
    if (this.#store === undefined || this.#products < loaded) {
      await this.remove()
      this.#store = await openStore(this.#kind, loaded, this.#folder)
      this.#products = loaded
    }
    if (this.#products < products) await this.#store.grow(products)
    this.#products = products
    return this.#store
  }

  async remove(): Promise<void> {
    await this.#store?.remove()
    this.#store = undefined
  }
}

async function openStore(kind: MeasuredDatabase, products: number, folder: string): Promise<MeasuredStore> {
  return kind === 'mariadb' ? openMariadb(products) : openSqlite(products, folder)
}

async function openMariadb(products: number): Promise<MeasuredStore> {
  const database = await createBenchDatabase(products)
  const connection = await createConnection(database.url)
  return {
    kind: 'mariadb',
    ...database,
    grow: (most) => growProducts(database.url, most),
    counts: () => countsOf(connection),
    async remove() {
      await connection.end()
      await database.remove()
    }
  }
}

interface StatusRow extends RowDataPacket {
  readonly Variable_name: string
  readonly Value: string
}

async function countsOf(connection: Connection): Promise<Counts> {
  const [rows] = await connection.query<StatusRow[]>('SHOW GLOBAL STATUS')
  const status = new Map(rows.map((row) => [row.Variable_name, Number(row.Value)]))
  const of = (name: string): number => status.get(name) ?? 0
  return {
    statements: of('Questions'),
    rowsRead: sumOf(
      ['key', 'next', 'prev', 'first', 'last', 'rnd', 'rnd_next'].map((how) => of(`Handler_read_${how}`))
    ),
    pagesMissed: of('Innodb_buffer_pool_reads'),
    redoBytes: of('Innodb_os_log_written')
  }
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

const NOTHING: Counts = { statements: 0, rowsRead: 0, pagesMissed: 0, redoBytes: 0 }

async function openSqlite(products: number, folder: string): Promise<MeasuredStore> {
  const file = join(folder, 'scaling.sqlite')
  const removeFile = (): void => ['', '-wal', '-shm'].forEach((end) => rmSync(`${file}${end}`, { force: true }))
  removeFile()
  const url = `sqlite:${file}`
  await loadRows(url, products)
  const database = connect(url)
  // The driver gives numbers as texts.
  const ask = <Row extends object>(statement: string): Promise<Row[]> =>
    database.sequelize.query<Row>(statement, { type: QueryTypes.SELECT })
  try {
    const [version] = await ask<{ version: string }>('SELECT sqlite_version() AS version')
    const categories = await ask<{ category: string }>('SELECT DISTINCT category_id AS category FROM products')
    const orders = await ask<{ id: string; customer: string }>('SELECT id, customer_id AS customer FROM orders')
    await database.sequelize.query('ANALYZE')
    return {
      kind: 'sqlite',
      url,
      server: `SQLite ${version?.version ?? ''}`,
      pid: undefined,
      categories: categories.map(({ category }) => Number(category)),
      orders: Array.from({ length: CUSTOMERS }, (_, index) =>
        orders.filter(({ customer }) => Number(customer) === index + 1).map(({ id }) => Number(id))
      ),
      grow: (most) => growSqlite(url, most),
      counts: () => Promise.resolve(NOTHING),
      remove: () => Promise.resolve(removeFile())
    }
  } finally {
    await database.sequelize.close()
  }
}

/** As growProducts does on a server. */
async function growSqlite(url: string, products: number): Promise<void> {
  const { sequelize } = connect(url)
  try {
    const columns = await sequelize.query<{ name: string; hidden: string }>(`PRAGMA table_xinfo('products')`, {
      type: QueryTypes.SELECT
    })
    const names = columns
      .filter(({ name, hidden }) => Number(hidden) === 0 && name !== 'id' && name !== 'sku')
      .map(({ name }) => `"${name}"`)
      .join(', ')
    const [held] = await sequelize.query<{ rows: string }>('SELECT MAX(id) AS rows FROM products', {
      type: QueryTypes.SELECT
    })
    const originals = Number(held?.rows)
    for (let first = originals; first < products; first += originals) {
      await sequelize.query(
        `INSERT INTO products (id, sku, ${names}) SELECT id + ${first}, sku || '-${first}', ${names} ` +
          `FROM products WHERE id <= ${Math.min(originals, products - first)}`
      )
    }
    await sequelize.query('ANALYZE')
  } finally {
    await sequelize.close()
  }
}
