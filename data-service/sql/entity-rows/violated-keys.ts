import type { ConflictReason } from '../../../shared/errors.js'
import type { Column } from '../../entity/entity.js'
import { KeyConflict } from '../../plan/model/key-conflict.js'
import type { SqlDialect, ViolatedKey } from '../engines/statement.js'

/** A statement that writes rows of a table. */
export interface RowChange {
  readonly verb: 'insert' | 'update' | 'delete'
  readonly into: {
    readonly table: string
    readonly columns: readonly Column[]
    /** Of children: the columns that refer to the row that they belong to, which the same write has seen. */
    readonly foreignKey?: readonly Column[]
  }
  /** The columns that get a value. */
  readonly written: readonly Column[]
}

/** The keys of a table. */
export interface KeyedTable {
  /** The columns of the primary key in order. Empty for a view and a table without one. */
  readonly primaryKey: readonly string[]
  /** All indexes but that of the primary key. `column` is undefined for an expression. */
  readonly indexes: readonly {
    readonly name: string
    readonly keys: readonly { readonly column: string | undefined }[]
  }[]
  readonly foreignKeys: readonly {
    readonly columns: readonly string[]
    readonly table: string
    readonly referencedColumns: readonly string[]
  }[]
}

/** What keys the tables have, by which the error of a statement tells the property that is the reason. */
export class ViolatedKeys {
  readonly #dialect: SqlDialect
  readonly #tables: ReadonlyMap<string, KeyedTable> | undefined

  /** Without the tables no index is known, and a property is named where the database names its column. */
  constructor(dialect: SqlDialect, tables: ReadonlyMap<string, KeyedTable> | undefined) {
    this.#dialect = dialect
    this.#tables = tables
  }

  /** undefined for an error of which no key is the reason. */
  conflictOf(error: unknown, change: RowChange): KeyConflict | undefined {
    const key = this.#dialect.violatedKey(error)
    if (key === undefined) return undefined
    const { table, columns } = change.into
    const kind = this.#kindOf(key, change)
    const names = this.#columnsOf(key, kind, change)
    const [name, ...others] = names
    const column = others.length > 0 ? undefined : columns.find((one) => isNamed(one, name))
    const of = names.length === 0 ? table : `${table} (${names.join(', ')})`
    const constraint = key.constraint === undefined ? '' : `, constraint ${key.constraint}`
    const reason = `${kind} key of ${of}${constraint}`
    return new KeyConflict(kind, column && { table, column }, { reason, cause: error })
  }

  /**
   * Which end of a foreign key it is can be seen by the statement: none changes a primary key that others refer to. They
   * may refer to another unique column, and which end failed is not known where an UPDATE sets such a one.
   */
  #kindOf({ kind }: ViolatedKey, { verb, into, written }: RowChange): ConflictReason['kind'] {
    if (kind !== 'foreign') return kind
    if (verb === 'delete') return 'referenced'
    if (verb === 'insert') return 'reference'
    const tables = this.#tables
    const isReferredTo = (name: string): boolean =>
      tables === undefined ||
      [...tables.values()].some(({ foreignKeys }) =>
        foreignKeys.some((one) => isSame(one.table, into.table) && one.referencedColumns.some((of) => isSame(of, name)))
      )
    return written.some(({ field, column }) => field.unique && isReferredTo(column)) ? 'unspecified' : 'reference'
  }

  #columnsOf(key: ViolatedKey, kind: ConflictReason['kind'], change: RowChange): readonly string[] {
    if (key.columns !== undefined) return key.columns
    const table = this.#tables?.get(change.into.table)
    if (table === undefined) return []
    if (kind === 'unique') return indexedColumns(table, key.index)
    return kind === 'reference' ? referringColumns(table, change) : []
  }
}

function indexedColumns({ primaryKey, indexes }: KeyedTable, index = ''): readonly string[] {
  if (index === 'PRIMARY') return primaryKey
  const found = indexes.find(({ name }) => name === index)
  return found?.keys.map(({ column = '' }) => column) ?? []
}

/** The columns of the one foreign key that the statement sets; none where it sets several, of which any may be the reason. */
function referringColumns({ foreignKeys }: KeyedTable, { into, written }: RowChange): readonly string[] {
  const set = foreignKeys.filter(
    ({ columns }) =>
      columns.some((name) => written.some((one) => isNamed(one, name))) &&
      !columns.every((name) => into.foreignKey?.some((one) => isNamed(one, name)))
  )
  return set.length === 1 ? (set[0]?.columns ?? []) : []
}

function isNamed({ column }: Column, name: string | undefined): boolean {
  return isSame(column, name)
}

/** Both databases ignore the letter case of such names. */
function isSame(one: string, other: string | undefined): boolean {
  return one.toLowerCase() === other?.toLowerCase()
}
