import type { Sequelize, Transaction } from 'sequelize'
import { int } from '../../entity/field.js'
import type { Children, Column, Entity } from '../../entity/entity.js'
import type { Value } from '../../entity/value.js'
import type { SampleRow } from './sample-aggregate.js'
import { SampleRandom } from './sample-random.js'
import { storedValue } from './stored-value.js'

/** Most values of one statement. SQLite looks named parameters up one by one, so few of them are faster there. */
const MAX_VALUES = { sqlite: 500, mysql: 16_000 }

/** A table and its columns without the row version; the id may be missing where the database gives it. */
export interface Target {
  readonly table: string
  readonly columns: readonly Column[]
}

export function rootTarget(entity: Entity): Target {
  return { table: entity.table, columns: entity.columns }
}

/** The table of children; a row's root is its property `rootId`. */
export function childTarget({ table, foreignKey, columns }: Children): Target {
  return { table, columns: [...columns, { name: 'rootId', column: foreignKey, field: int() }] }
}

/** Eight bytes that the table and the row alone decide. */
function rowVersionOf(table: string, row: number): Buffer {
  return new SampleRandom(`${table}.row_version`, row).bytes(8)
}

export interface Batch {
  readonly target: Target
  readonly rows: readonly SampleRow[]
  /** Decides the row versions: the number of the first row, 1 for the table's first. */
  readonly firstNumber: number
}

/** Inserts rows, many in one statement. A row that lacks a column is a TypeError before anything is sent. */
export async function insertRows(sequelize: Sequelize, batch: Batch, transaction: Transaction): Promise<void> {
  const sqlite = sequelize.getDialect() === 'sqlite'
  const { table, columns } = batch.target
  const width = columns.length + 1
  const rowsAtOnce = Math.max(1, Math.floor((sqlite ? MAX_VALUES.sqlite : MAX_VALUES.mysql) / width))
  for (let start = 0; start < batch.rows.length; start += rowsAtOnce) {
    const rows = batch.rows.slice(start, start + rowsAtOnce)
    const bind = rows.flatMap((row, index): Value[] => [
      ...columns.map(({ name, field }) => storedValue(field, valueOf(row, name, table), sqlite)),
      rowVersionOf(table, batch.firstNumber + start + index)
    ])
    await sequelize.query(insertStatement(batch.target, rows.length), { bind, transaction, raw: true })
  }
}

function valueOf(row: SampleRow, name: string, table: string): Value {
  const value = row[name]
  if (value === undefined) throw new TypeError(`A sample row of ${table} has no ${name}`)
  return value
}

function insertStatement({ table, columns }: Target, rows: number): string {
  const names = [...columns.map(({ column }) => column), 'row_version'].map((column) => `\`${column}\``)
  const tuples = Array.from(
    { length: rows },
    (_, row) => `(${names.map((_name, index) => `$${row * names.length + index + 1}`).join(', ')})`
  )
  return `INSERT INTO \`${table}\` (${names.join(', ')}) VALUES ${tuples.join(', ')}`
}
