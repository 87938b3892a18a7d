import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnection } from 'mysql2/promise'

/** Every kind of database that tests run on; `mysql` is MySQL and MariaDB. */
export const DATABASE_KINDS = ['sqlite', 'mysql'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

/** An empty database that nobody else uses. */
export interface FreshDatabase {
  readonly kind: DatabaseKind
  /** For DATABASE_URL. */
  readonly url: string
  /** Removes it. Stop what uses it first. */
  dispose(): Promise<void>
}

/** The kinds that tests can run on here: SQLite, and `mysql` if the environment has TEST_MYSQL_URL. */
export function databaseKinds(): DatabaseKind[] {
  return DATABASE_KINDS.filter((kind) => kind === 'sqlite' || mysqlServer() !== undefined)
}

/** Declares the same tests for each of `databaseKinds`: `eachDatabase((kind) => describe(`books on ${kind}`, …))`. */
export function eachDatabase(define: (kind: DatabaseKind) => void): void {
  for (const kind of databaseKinds()) define(kind)
}

/**
 * Makes an empty database: a file in a folder of its own, or a database with a random name on the server of TEST_MYSQL_URL,
 * whose user must be allowed to create and drop databases. Throws for `mysql` if there is no TEST_MYSQL_URL.
 */
export async function freshDatabase(kind: DatabaseKind): Promise<FreshDatabase> {
  if (kind === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'database-'))
    const url = `sqlite:${join(folder, 'test.sqlite')}`
    return { kind, url, dispose: () => rm(folder, { recursive: true, force: true }) }
  }
  const server = mysqlServer()
  if (server === undefined) {
    throw new Error(
      'TEST_MYSQL_URL is not set. It names a MySQL or MariaDB server for tests: mysql://user:password@127.0.0.1:3306'
    )
  }
  // The runner drops what has the prefix of its run and is left at its end.
  const name = `test_${process.env['TEST_RUN'] ?? ''}${randomBytes(8).toString('hex')}`
  await onServer(server, `CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { kind, url: url.href, dispose: () => onServer(server, `DROP DATABASE ${name}`) }
}

function mysqlServer(): string | undefined {
  const server = process.env['TEST_MYSQL_URL']
  return server === '' ? undefined : server
}

async function onServer(server: string, statement: string): Promise<void> {
  const connection = await createConnection({ uri: server })
  try {
    await connection.query(statement)
  } finally {
    await connection.end()
  }
}
