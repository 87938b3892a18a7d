import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'
import { packageRoot } from './package-root.js'

/**
 * Makes the thirty tables of test/fixtures/regional-buses.sql, which were not made for the service, in an empty database
 * of MySQL or MariaDB.
 */
export async function loadRegionalBuses(url: string): Promise<void> {
  const text = await readFile(join(packageRoot, 'test/fixtures/regional-buses.sql'), 'utf8')
  const connection = await createConnection({ uri: url, multipleStatements: true, charset: 'utf8mb4' })
  try {
    await connection.query(text)
  } finally {
    await connection.end()
  }
}
