import { existsSync, readFileSync } from 'node:fs'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { startDatabaseServer } from '../../test/runner/database-server.js'
import { CUSTOMERS, loadRows } from './load-rows.js'

/** A database with the rows that are measured. */
export interface BenchDatabase {
  readonly url: string
  /** For people. */
  readonly server: string
  /** The ids of the categories that have products. */
  readonly categories: readonly number[]
  /** The ids of the orders of each customer, the first customer's first. */
  readonly orders: readonly (readonly number[])[]
  /** The server's process, where it runs on this machine. */
  readonly pid: number | undefined
  /** Drops the database, and stops the server where it was started for it. */
  remove(): Promise<void>
}

/** Loads a database of its own on the server of BENCH_MYSQL_URL, else on the one that the tests use. */
export async function createBenchDatabase(products: number): Promise<BenchDatabase> {
  const given = process.env['BENCH_MYSQL_URL']
  const server = given
    ? { url: given, description: 'server of BENCH_MYSQL_URL', stop: () => Promise.resolve() }
    : await startDatabaseServer()
  const name = `uniform_rest_bench_${process.pid}`
  const url = new URL(server.url)
  url.pathname = `/${name}`
  const remove = async (): Promise<void> => {
    await onServer(server.url, `DROP DATABASE IF EXISTS ${name}`)
    await server.stop()
  }
  try {
    await onServer(server.url, `CREATE DATABASE ${name}`)
    await loadRows(url.href, products)
    return { url: url.href, ...(await inspect(url.href, server.description)), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function onServer(url: string, statement: string): Promise<void> {
  const connection = await createConnection(url)
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}

interface ServerRow extends RowDataPacket {
  readonly version: string
  readonly pidFile: string
}

interface CategoryRow extends RowDataPacket {
  readonly category: number
}

interface OrderRow extends RowDataPacket {
  readonly id: number
  readonly customer: number
}

async function inspect(url: string, description: string) {
  const connection = await createConnection(url)
  try {
    const [[server]] = await connection.query<ServerRow[]>('SELECT VERSION() AS version, @@pid_file AS pidFile')
    if (server === undefined) throw new Error('The database server does not tell its version.')
    const [categories] = await connection.query<CategoryRow[]>(
      'SELECT DISTINCT category_id AS category FROM products ORDER BY category'
    )
    const [orders] = await connection.query<OrderRow[]>('SELECT id, customer_id AS customer FROM orders ORDER BY id')
    // Without fresh statistics the first plans would be made of none.
    await connection.query('ANALYZE TABLE products, orders, order_lines')
    return {
      server: description.includes(server.version) ? description : `${server.version} (${description})`,
      categories: categories.map(({ category }) => category),
      orders: Array.from({ length: CUSTOMERS }, (_, index) =>
        orders.filter(({ customer }) => customer === index + 1).map(({ id }) => id)
      ),
      pid: localPid(server.pidFile)
    }
  } finally {
    await connection.end()
  }
}

/** undefined unless the pid file is one of this machine and names a database server that runs. */
function localPid(pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined
  const pid = readFileSync(pidFile, 'latin1').trim()
  const name = `/proc/${pid}/comm`
  return existsSync(name) && /^(mariadbd|mysqld)/.test(readFileSync(name, 'latin1')) ? Number(pid) : undefined
}
