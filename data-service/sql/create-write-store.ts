import type { Children, Entity } from '../entity/entity.js'
import type { WriteStore } from '../plan/write-store.js'
import type { Database } from './connect.js'
import { mysqlDialect } from './mysql/mysql-dialect.js'
import { RowModels } from './row-models.js'
import { sqliteDialect } from './sqlite/sqlite-dialect.js'
import { Statements } from './statements.js'
import { attempt } from './write/attempts.js'
import { ChangeTexts } from './write/change-texts.js'
import { IdempotencyKeys } from './write/idempotency-keys.js'
import { RowWriter } from './write/row-writer.js'
import { SqlUnitOfWork, type UnitParts } from './write/sql-unit-of-work.js'
import { StoredRows } from './write/stored-rows.js'
import type { Transactions } from './write/transactions.js'

export interface SqlWriteStore extends WriteStore {
  /** Waits for what still runs. The database itself is closed by whoever opened it, after this. */
  close(): Promise<void>
}

/** What a write store works with beside the database. */
export interface Writes {
  readonly transactions: Transactions
  /** From 0 up to 1, for waits between tries. */
  readonly random: () => number
  /** For first row versions of audit entries. */
  readonly randomBytes: (size: number) => Buffer
}

/** The write side of the service over its primary database. Sends nothing before the first write. */
export function createWriteStore(database: Database, entities: readonly Entity[], writes: Writes): SqlWriteStore {
  const { transactions, random } = writes
  const attempts = { transactions, what: 'The database', random }
  const parts = unitParts(database, entities, writes)
  return {
    transaction: async (signal, work) => {
      let unit: SqlUnitOfWork | undefined
      return await attempt(attempts, signal, {
        run: async (transaction) => {
          unit = new SqlUnitOfWork(transaction, parts)
          const result = await work(unit)
          unit.assertComplete()
          await unit.holdGuards()
          return result
        },
        isRepeatable: () => unit?.hasKey === true
      })
    },
    purgeKeys: (now, most) =>
      attempt(attempts, new AbortController().signal, {
        run: (transaction) => parts.keys.purge(transaction, now, most),
        isRepeatable: () => true
      }),
    close: () => transactions.close()
  }
}

function unitParts(database: Database, entities: readonly Entity[], { randomBytes }: Writes): UnitParts {
  const dialect = database.kind === 'sqlite' ? sqliteDialect : mysqlDialect
  const statements = new Statements(new RowModels(database.sequelize, entities, 'primary'), dialect)
  const owners = new Map(entities.flatMap((entity) => entity.children.map(({ table }) => [table, entity])))
  const ownerOf = ({ table }: Children): Entity => {
    const owner = owners.get(table)
    if (owner === undefined) throw new TypeError(`${table} holds no entity's children`)
    return owner
  }
  const tables = new Map(entities.map(({ name, table }) => [name, table]))
  return {
    rows: new StoredRows({ statements, dialect }, ownerOf),
    writer: new RowWriter(new ChangeTexts(database.sequelize, dialect), dialect),
    keys: new IdempotencyKeys(database.kind),
    dialect,
    ownerOf,
    tableOf: (resource) => tables.get(resource) ?? resource,
    randomBytes
  }
}
