import type { Transaction } from 'sequelize'
import type { ColumnTypes, StoredValues } from './column-types.js'
import type {
  KeyCounts,
  LiveColumn,
  LiveProcedures,
  LiveSchema,
  LiveTable,
  ReferenceCounts,
  ReferringColumn
} from './live-schema.js'
import type { OwnTables, OwnTablesMigration } from '../../data-service/sql/engines/own-tables.js'
import type { ChecksOf } from './schema-checks.js'
import type { TextOperand } from '../../data-service/sql/engines/statement.js'
import type { PresentTable, TableChange } from './tables.js'

/** What stands in a live database, and how it holds the values of fields. */
export interface CatalogueTools {
  /**
   * The tables and views of the database, or of another one of the same server (`OwnNames.schema`), by name. A server
   * hides those to which the account has no right at all.
   */
  present(schema?: string): Promise<ReadonlyMap<string, PresentRelation>>
  /**
   * The tables and views that are there now, whoever made them. The number of statements does not depend on that of the
   * tables. Needs only the right to SELECT; what an account may not see is missing (`LiveSchema`).
   */
  describe(): Promise<LiveSchema>
  /**
   * What `describe` leaves out because the account may not see it, a sentence each, as far as the server tells. Empty for a
   * kind of database without accounts, and for an account whose rights come by a role.
   */
  unseen(): Promise<readonly string[]>
  /** All, or those of `names`. undefined for a kind of database without procedures. Changes nothing. */
  procedures(names?: readonly string[]): Promise<LiveProcedures | undefined>
  /** What the service does with a column of each native type. */
  readonly columnTypes: ColumnTypes
  /** What the first hundred thousand rows of a table hold in columns whose declared type leaves it open. */
  storedValues(table: string, columns: readonly LiveColumn[]): Promise<ReadonlyMap<string, StoredValues>>
  /** Of all rows of a table or view: how many have NULL in one of the columns, and how many share all of them with another. */
  countKey(table: string, columns: readonly string[]): Promise<KeyCounts>
  /** Of the first hundred thousand rows with a value in the column: how many refer to no row of the other table. */
  countDangling(reference: ReferringColumn): Promise<ReferenceCounts>
  /** How operands for a text column have to be written (`SqlDialect.textOperand`); undefined for one that takes them as they are. */
  textOperand(table: LiveTable, column: LiveColumn): TextOperand | undefined
  /**
   * The orders of rows that an index serves, as `products: category_id ASC,price DESC,id ASC`, each with the name of the
   * index. Empty for a kind of database whose statements name no index.
   */
  sortOrders(live: LiveSchema): ReadonlyMap<string, string>
  /** The SQL that an UPDATE sets a column to its default with. undefined for a column without a default. */
  defaultText(table: string, column: string): Promise<string | undefined>
  /** How columns of a live schema hold the values of fields, and how to mend them. */
  readonly checksOf: ChecksOf
}

/** What changes a schema. */
export interface MigrationTools {
  ddl(own: OwnTables): Promise<Ddl>
  /**
   * Names of the migrations that have run in the database, read without a lock. Empty if it has no record of them.
   */
  appliedMigrations(own: OwnTables): Promise<ReadonlySet<string>>
  /** What the operator can do about an error of a migration. undefined if that is not known. */
  migrationRemedy(error: unknown, own: OwnTables): Promise<string | undefined>
  /**
   * Runs `work` in a transaction while no other process runs work under the same `name` against the same database;
   * others wait until it has committed. The lock of a process that dies is released. With `checkedAtEnd` an engine that
   * makes tables anew checks foreign keys at the end of the transaction and not before, and deletes no row for them.
   */
  withLock<Result>(
    name: string,
    work: (transaction: Transaction) => Promise<Result>,
    foreignKeys?: 'checkedAtEnd'
  ): Promise<Result>
}

/** What an account may do, and what it needs. */
export interface RightsTools {
  /**
   * As `migrationRemedy`, before the first statement: where the server says that the account has not all rights that these
   * statements take. undefined if it has them, or if that cannot be known.
   */
  missingRights(statements: readonly string[], own: OwnTables): Promise<string | undefined>
  /**
   * Throws a StartError that names the missing rights: those `needed` for the tables of entities, and all to the tables of
   * the engine, of whose record of migrations SELECT is enough. Other tables are not looked at. Writes nothing.
   */
  checkRights(needed: readonly TableRights[], own: OwnTables): Promise<void>
  /**
   * The GRANT statements for an account that migrates, and for one that serves with these rights. undefined for a kind of
   * database without accounts. Throws a StartError for an account that cannot be read.
   */
  grants(account: string, options: GrantsOptions): Promise<Grants | undefined>
}

/** What migrations and the checks at start need. Queries go through Sequelize; errors are its own. */
export interface SchemaTools extends CatalogueTools, MigrationTools, RightsTools {}

export type TableRight = 'SELECT' | 'INSERT' | 'UPDATE' | 'DELETE'

export interface GrantsOptions {
  /** What an account that serves needs. */
  readonly needed: readonly TableRights[]
  readonly own: OwnTables
  /** The names of the procedures that operations call. */
  readonly procedures: readonly string[]
  /** Whether migrations of the application make or alter tables of rows, as all do but baselines. */
  readonly altersRows: boolean
}

export interface Grants {
  readonly migrating: readonly string[]
  readonly serving: readonly string[]
}

/** What the service does with the rows of a table. */
export interface TableRights {
  readonly table: string
  readonly rights: readonly TableRight[]
  /** A column that an UPDATE can name. */
  readonly column: string
}

/** A table or a view that stands in a database. */
export interface PresentRelation {
  readonly kind: 'table' | 'view'
  readonly columns: ReadonlySet<string>
}

/** The texts of DDL statements. */
export interface Ddl {
  /** The name of the kind of database, an `EngineName` of engines.ts. */
  readonly engine: string
  /**
   * The statements of a change, repeatable: they leave out what `present` shows to be done. Without it they are those for a
   * table as the change expects it.
   */
  statements(change: TableChange, present?: PresentTable): readonly string[]
  /** A SELECT of all that a table has: `kind` (`column`, `index`, `foreignKey`, …), `name`, and the `text` that makes it. */
  presence(table: string): string
  /** Whether a change takes `foreignKeys: 'checkedAtEnd'` of `withLock`. */
  defersForeignKeys(change: TableChange): boolean
  /**
   * The statements of each migration of the service's own tables, with the names that these have in the database. They
   * are never changed after their release.
   */
  readonly ownTables: Readonly<Record<OwnTablesMigration, readonly string[]>>
  /** Whether a DDL statement failed because the column or index that it adds exists. */
  isColumnThere(error: unknown): boolean
  /** Makes the record of the migrations that have run. */
  readonly createMigrationRecord: string
  /** An INSERT of `$name` into it, which changes nothing if the name exists. */
  readonly recordMigration: string
  /** A DELETE of `$name` from it. */
  readonly forgetMigration: string
  /** A SELECT of each `name` in it. */
  readonly recorded: string
}
