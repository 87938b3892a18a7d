import type { Column } from '../../data-service/entity/fields/columns.js'
import type { Field } from '../../data-service/entity/fields/field.js'
import type { LiveColumn, LiveIndexKey, LiveSchema, LiveTable } from './live-schema.js'

/** What the check of tables that somebody else made needs of a kind of database: check-schema.ts puts it in words. */
export interface SchemaChecks {
  /** Why the column does not hold the values of the field. undefined where it does. */
  misfit(field: Field, column: LiveColumn): Misfit | undefined
  /** How texts of the column are compared otherwise than contract.md section 4 says: `accents do not count`. */
  comparesOtherwise(column: LiveColumn): string | undefined
  /** Whether the column holds row versions: 8 bytes that nothing converts. */
  holdsVersions(column: LiveColumn): boolean
  /** Whether an index key has the order in which rows are sorted by the property. */
  isSortedBy(key: LiveIndexKey, column: Column): boolean
  /** Whether the catalogue says of each column whether it may be null. That of SQLite does not for views. */
  knowsNulls(table: LiveTable): boolean
  readonly mend: MendingStatements
}

/** A difference between a field and a column. */
export interface Misfit {
  /**
   * `reads`: some values of the column would not be served as they are stored. `writes`: some values that the field takes
   * could not be stored as they are.
   */
  readonly harms: 'reads' | 'writes'
  /** A sentence without its point: `it rounds to whole seconds`. */
  readonly why: string
  /** What the entity file could say, `dateTime({ precision: 0 })`; undefined where no word reads the column. */
  readonly word: string | undefined
  /** The type of a column that holds the values, in the words of the database; undefined where none is meant. */
  readonly columnType: string | undefined
}

/** A trigger that advances row versions for programs that do not know them. */
export interface VersionTrigger {
  readonly name: string
  readonly event: 'insert' | 'update'
  readonly statement: string
}

/** A version column of a table. */
export interface VersionedTable {
  readonly table: string
  readonly column: string
  /** The primary key, or the columns that stand for it. */
  readonly key: readonly string[]
}

/** Texts of statements that are printed and never run. */
export interface MendingStatements {
  /** Adds a column of row versions without a copy of the table where the server can. Rows that are there get version 0. */
  addVersion(of: VersionedTable): string
  versionTriggers(of: VersionedTable): readonly VersionTrigger[]
  /** Gives a table a storage engine with transactions. undefined where all tables have them. */
  changeEngine(table: string): string | undefined
  /** undefined where the database has no such statement. */
  changeColumn(table: string, column: LiveColumn, to: ColumnChange): string | undefined
  /** undefined for an order that no index has. */
  addIndex(of: MissingIndex): AddedIndex | undefined
  /** The index that `t.fullText` makes, where the database has such indexes. */
  addFullText?(table: LiveTable, columns: readonly string[]): string
  addForeignKey(of: MissingForeignKey): string | undefined
}

/** What becomes of a column, all else of it staying as it is. */
export interface ColumnChange {
  readonly type?: string
  readonly nullable?: boolean
}

/** An index that begins with a column, ascending. */
export interface MissingIndex {
  readonly table: string
  readonly column: Column
  readonly live: LiveColumn
  /** The columns of the primary key, by which rows of equal values are ordered. */
  readonly key: readonly string[]
}

export interface AddedIndex {
  /** None where only a migration of the service can make it. */
  readonly statements: readonly string[]
  /** What a person has to know besides, a sentence without its point. */
  readonly note?: string
}

export interface MissingForeignKey {
  readonly table: string
  readonly columns: readonly string[]
  readonly to: string
  readonly toColumns: readonly string[]
}

/** Makes the checks for a live schema, since the servers of one kind differ. */
export type ChecksOf = (live: LiveSchema) => SchemaChecks
