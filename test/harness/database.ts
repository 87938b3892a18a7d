import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'

/** Every database that tests run on. */
export const DATABASE_KINDS = ['sqlite', 'mysql'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

/** Two empty databases that nobody else uses. */
export interface FreshDatabase {
  readonly kind: DatabaseKind
  /** For DATABASE_URL. */
  readonly url: string
  /** For REVIEWS_DATABASE_URL. */
  readonly reviewsUrl: string
  /** Removes both. */
  dispose(): Promise<void>
}

/** Declares the same tests for each database: `eachDatabase((kind) => describe(`export on ${kind}`, …))`. */
export function eachDatabase(define: (kind: DatabaseKind) => void): void {
  for (const kind of DATABASE_KINDS) define(kind)
}

/** Makes two empty databases. Throws for mysql when there is no TEST_MYSQL_URL, which `npm test` sees to. */
export function freshDatabase(kind: DatabaseKind): Promise<FreshDatabase> {
  return kind === 'sqlite' ? freshSqlite() : freshMysql()
}

async function freshSqlite(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'store-'))
  return {
    kind: 'sqlite',
    url: `sqlite:${join(folder, 'store.sqlite')}`,
    reviewsUrl: `sqlite:${join(folder, 'reviews.sqlite')}`,
    dispose: () => rm(folder, { recursive: true, force: true })
  }
}

async function freshMysql(): Promise<FreshDatabase> {
  const server = process.env['TEST_MYSQL_URL']
  if (!server)
    throw new Error('TEST_MYSQL_URL is not set: run the tests with `npm test`, which starts a server for them.')
  const name = `test_${randomBytes(8).toString('hex')}`
  const names = [name, `${name}_reviews`] as const
  await onServer(server, names, (database) => `CREATE DATABASE ${database} CHARACTER SET utf8mb4`)
  return {
    kind: 'mysql',
    url: withDatabase(server, names[0]),
    reviewsUrl: withDatabase(server, names[1]),
    dispose: () => onServer(server, names, (database) => `DROP DATABASE ${database}`)
  }
}

async function onServer(
  server: string,
  databases: readonly string[],
  statement: (database: string) => string
): Promise<void> {
  const connection = await createConnection({ uri: server })
  try {
    for (const database of databases) await connection.query(statement(database))
  } finally {
    await connection.end()
  }
}

function withDatabase(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
