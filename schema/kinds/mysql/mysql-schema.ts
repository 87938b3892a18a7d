import { createHash } from 'node:crypto'
import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Ddl, Grants, GrantsOptions, PresentRelation, SchemaTools, TableRights } from '../../model/schema-tools.js'
import { ROWS_LOOKED_AT, type StoredValues } from '../../model/column-types.js'
import {
  countDangling,
  countKey,
  type KeyCounts,
  type LiveColumn,
  type LiveProcedures,
  type LiveSchema,
  type ReferenceCounts,
  type ReferringColumn,
  type SelectRows
} from '../../model/live-schema.js'
import { mysqlTextOperand } from '../../../data-service/sql/engines/mysql/mysql-collations.js'
import { mysqlCatalogue } from './mysql-catalogue.js'
import { mysqlStoredValues, mysqlTypes } from './mysql-types.js'
import { mysqlChecks } from './mysql-checks.js'
import { mysqlProcedures } from './mysql-procedures.js'
import { type MysqlServer, serverOf } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { mysqlDdl } from './mysql-own-tables.js'
import { COMMAND_DENIED, MysqlRights, NO_SUCH_TABLE } from './mysql-rights.js'
import type { OwnTables } from '../../../data-service/sql/engines/own-tables.js'
import { errnoOf } from '../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

const LOCK_TIMEOUT_SECONDS = 600

/** A reference whose count takes longer is not proposed. */
const COUNT_SECONDS = 10

// As a join the server would look the columns up anew for each table, of all its databases.
const PRESENT = `
  SELECT TABLE_NAME AS name, TABLE_TYPE LIKE '%VIEW' AS isView, NULL AS \`column\`, 0 AS position
  FROM information_schema.TABLES WHERE TABLE_SCHEMA = COALESCE($schema, DATABASE())
  UNION ALL SELECT TABLE_NAME, NULL, COLUMN_NAME, ORDINAL_POSITION
  FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = COALESCE($schema, DATABASE())
  ORDER BY name, position`

export class MysqlSchema implements SchemaTools {
  readonly checksOf = mysqlChecks
  readonly #sequelize: Sequelize
  readonly #rights: MysqlRights

  constructor(sequelize: Sequelize) {
    this.#sequelize = sequelize
    this.#rights = new MysqlRights(sequelize)
  }

  async ddl(own: OwnTables): Promise<Ddl> {
    return mysqlDdl(await this.#server(), own)
  }

  async present(schema?: string): Promise<ReadonlyMap<string, PresentRelation>> {
    const rows = await this.#sequelize.query<{ name: string; isView: unknown; column: string | null }>(PRESENT, {
      bind: { schema: schema ?? null },
      type: QueryTypes.SELECT
    })
    const found = new Map<string, { readonly kind: 'table' | 'view'; readonly columns: Set<string> }>()
    for (const { name, isView, column } of rows) {
      if (column === null) found.set(name, { kind: Number(isView) === 1 ? 'view' : 'table', columns: new Set() })
      else found.get(name)?.columns.add(column)
    }
    return found
  }

  readonly columnTypes = mysqlTypes

  countKey(table: string, columns: readonly string[]): Promise<KeyCounts> {
    return countKey((statement) => this.#select(statement), { table, columns, quote: '`' })
  }

  /** Texts of two collations are compared without an index: each row with all of the other table. */
  async countDangling(reference: ReferringColumn): Promise<ReferenceCounts> {
    const isMariadb = (await this.#server()) === 'mariadb'
    const limited = (statement: string): string =>
      isMariadb
        ? `SET STATEMENT max_statement_time=${COUNT_SECONDS} FOR ${statement}`
        : statement.replace('SELECT', `SELECT /*+ MAX_EXECUTION_TIME(${COUNT_SECONDS * 1000}) */`)
    const select: SelectRows = (statement) => this.#select(limited(statement))
    return countDangling(select, reference, { quote: '`', most: ROWS_LOOKED_AT })
  }

  storedValues(table: string, columns: readonly LiveColumn[]): Promise<ReadonlyMap<string, StoredValues>> {
    return mysqlStoredValues((statement) => this.#select(statement), table, columns)
  }

  async describe(): Promise<LiveSchema> {
    return mysqlCatalogue((statement) => this.#select(statement), await this.#server())
  }

  async unseen(): Promise<readonly string[]> {
    return this.#rights.unseen(await this.#server())
  }

  async procedures(names?: readonly string[]): Promise<LiveProcedures> {
    const found = await mysqlProcedures((statement) => this.#select(statement), names)
    return { found, grantOf: await this.#rights.grantOfExecute() }
  }

  readonly textOperand = mysqlTextOperand

  sortOrders(live: LiveSchema): ReadonlyMap<string, string> {
    const served = new Map<string, string>()
    for (const { name: table, indexes, primaryKey } of live.tables.values()) {
      if (primaryKey.length > 0)
        served.set(`${table}: ${primaryKey.map((column) => `${column} ASC`).join()}`, 'PRIMARY')
      for (const { name, unique, sorted, keys } of indexes) {
        const columns = keys.map(({ column, prefix }) => (prefix === undefined ? column : undefined))
        // A unique index is not sorted by the primary key, which every other one ends in, declared or not.
        if (unique || !sorted || columns.includes(undefined)) continue
        const declared = keys.map(({ column = '', descending }) => `${column} ${descending ? 'DESC' : 'ASC'}`)
        const rest = primaryKey.filter((column) => !columns.includes(column)).map((column) => `${column} ASC`)
        served.set(`${table}: ${[...declared, ...rest].join()}`, name)
      }
    }
    return served
  }

  /** Needs only the right to SELECT. */
  async appliedMigrations(own: OwnTables): Promise<ReadonlySet<string>> {
    const record = own.sql.schema_migrations
    try {
      const rows = await this.#select<{ name: string }>(`SELECT \`name\` FROM ${record}`)
      return new Set(rows.map(({ name }) => name))
    } catch (error) {
      const errno = errnoOf(error)
      if (errno === NO_SUCH_TABLE) return new Set()
      // The server does not tell an account without any right whether the table exists.
      throw errno === COMMAND_DENIED ? await this.#rights.errorOf(`SELECT on ${record}`, own) : error
    }
  }

  defaultText(): Promise<string> {
    return Promise.resolve('DEFAULT')
  }

  migrationRemedy(error: unknown, own: OwnTables): Promise<string | undefined> {
    return this.#rights.migrationRemedy(error, own)
  }

  missingRights(statements: readonly string[], own: OwnTables): Promise<string | undefined> {
    return this.#rights.missingRights(statements, own)
  }

  grants(account: string, options: GrantsOptions): Promise<Grants> {
    return this.#rights.grants(account, options)
  }

  checkRights(needed: readonly TableRights[], own: OwnTables): Promise<void> {
    return this.#rights.check(needed, own)
  }

  /**
   * Takes two connections of the pool: the lock needs a connection of its own, since it must be held until the work is
   * committed. The nodes of a Galera cluster do not share such locks.
   */
  withLock<Result>(name: string, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return this.#sequelize.transaction(async (transaction) => {
      // Lock names are global to the server and have at most 64 characters. Versions that run side by side have the same
      // name, which is made here since MySQL has no MD5() from 9.6 on.
      const [database] = await this.#sequelize.query<{ name: string }>('SELECT DATABASE() AS name', {
        transaction,
        type: QueryTypes.SELECT
      })
      const lock = `${createHash('md5')
        .update(database?.name ?? '')
        .digest('hex')}:${name}`
      const options = { bind: { lock }, transaction, type: QueryTypes.SELECT } as const
      const [row] = await this.#sequelize.query<{ got: unknown }>(
        `SELECT GET_LOCK($lock, ${LOCK_TIMEOUT_SECONDS}) AS got`,
        options
      )
      if (Number(row?.got) !== 1) {
        throw new Error(`The database's ${name} lock was not free within ${LOCK_TIMEOUT_SECONDS} s`)
      }
      try {
        return await this.#sequelize.transaction(work)
      } finally {
        await this.#sequelize.query('SELECT RELEASE_LOCK($lock)', options)
      }
    })
  }

  async #server(): Promise<MysqlServer> {
    const [row] = await this.#select<{ version: string }>('SELECT VERSION() AS version')
    return serverOf(row?.version ?? '')
  }

  #select<Row extends object>(statement: string): Promise<Row[]> {
    return this.#sequelize.query<Row>(statement, { type: QueryTypes.SELECT })
  }
}
