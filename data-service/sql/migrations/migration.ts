import type { Transaction } from 'sequelize'
import type { DatabaseKind } from './database-kind.js'

/**
 * One step of the schema, forward only. The name is the file's and is never changed or reused once released. MariaDB
 * and MySQL commit every DDL statement by itself, so a step that was cut off runs again from its start: each statement
 * must stand being repeated (`IF NOT EXISTS`).
 */
export interface Migration {
  readonly name: string
  readonly up: (database: MigrationDatabase) => Promise<void>
}

/** What a migration works with. On SQLite all pending migrations share the one transaction. */
export interface MigrationDatabase {
  readonly kind: DatabaseKind
  readonly transaction: Transaction
  run(statement: string): Promise<void>
  /** The rows of a SELECT, for a migration that depends on what is there. */
  select(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>
}
