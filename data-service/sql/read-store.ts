import type { Entity, StoreName } from '../entity/entity.js'
import type { ReadStore } from '../plan/stores.js'
import type { Database } from './connect.js'
import type { Reader } from './engines/engine.js'
import { mysqlDialect, MysqlReader } from './engines/mysql.js'
import { sqliteDialect } from './engines/sqlite-text.js'
import { SqliteReader } from './engines/sqlite.js'
import { exportRows } from './exports.js'
import type { Store } from './navigations.js'
import { PageReads } from './reads.js'
import { RowModels, Statements } from './statements.js'

export interface Databases {
  readonly primary: Database
  /** Touched only by what asks for children that live there. */
  readonly second: Database
}

export interface SqlReadStore extends ReadStore {
  /** Waits for what still runs, then closes both databases. */
  close(): Promise<void>
}

/** The read side of the service over its two databases. Sends nothing before the first read. */
export function createReadStore(databases: Databases, entities: readonly Entity[]): SqlReadStore {
  const primary = storeOf(databases.primary, 'primary', entities)
  const second = storeOf(databases.second, 'second', entities)
  const reads = new PageReads(primary, second)
  return {
    list: (plan, signal) => reads.list(plan, signal),
    page: (plan, signal) => reads.page(plan, signal),
    get: (plan, signal) => reads.get(plan, signal),
    lookup: (plan, signal) => reads.lookup(plan, signal),
    export: (plan, signal) => exportRows(plan, primary, () => primary.reader.snapshot(signal)),
    close: async () => {
      await Promise.all([primary.reader.close(), second.reader.close()])
      await Promise.all([databases.primary.sequelize.close(), databases.second.sequelize.close()])
    }
  }
}

const NAMES: Record<StoreName, string> = { primary: 'The database', second: 'The second database' }

function storeOf(database: Database, name: StoreName, entities: readonly Entity[]): Store {
  const dialect = database.kind === 'sqlite' ? sqliteDialect : mysqlDialect
  const statements = new Statements(new RowModels(database.sequelize, entities, name), dialect)
  return { statements, dialect, reader: readerOf(database, NAMES[name]) }
}

/** Reads of one database; `what` is its name in errors. */
export function readerOf(database: Database, what: string): Reader {
  if (database.kind === 'sqlite') return new SqliteReader(database.settings.file, what)
  return new MysqlReader({ sequelize: database.sequelize, settings: database.settings, what })
}
