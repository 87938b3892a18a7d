import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { type Children, type Column, type Database, type Entity, type Field, int, type Value } from 'uniform-rest'
import { NUMBERED_GUIDS, numberOfGuid, SampleRandom, type SampleRow } from './values.js'

/** The bound form of a value for a column, by the column types of the migrations. No digit is lost. */
function storedValue(field: Field, value: Value, sqlite: boolean): Value {
  if (value === null || Buffer.isBuffer(value)) return value
  switch (field.type) {
    case 'bool':
      return value === true ? 1 : 0
    case 'decimal':
      return sqlite ? String(value).replace('.', '') : value
    case 'dateTime':
      return sqlite ? value : String(value).replace('T', ' ').replace('Z', '')
    default:
      return value
  }
}

/** Values of one statement at most. SQLite searches for named parameters one by one, so few of them are faster there. */
const MAX_VALUES = { sqlite: 500, mysql: 16_000 }

/** A table and its columns without the row version, and without the id if the database gives it. */
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

/** Eight bytes that depend on the table and the row only. */
function rowVersionOf(table: string, row: number): Buffer {
  return new SampleRandom(`${table}.row_version`, row).bytes(8)
}

export interface Batch {
  readonly target: Target
  readonly rows: readonly SampleRow[]
  /** The number of the first row (the table's first is 1), from which the row versions are made. */
  readonly firstNumber: number
}

/** Inserts rows, many in one statement. If a row lacks a column it throws a TypeError before it sends anything. */
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

/**
 * Reserves `count` consecutive numbers for new roots and returns the first. For int and long ids they come from the
 * table's own numbering: they are above all numbers ever given, and rows that a running service adds get higher ones.
 * Guids continue after those of the existing sample rows and are not protected from a second loader.
 */
export async function reserveIds(
  { sequelize, schema }: Database,
  { table, columns }: Entity,
  count: number
): Promise<number> {
  if (columns[0]?.field.type === 'guid') return nextGuidNumber(sequelize, table)
  return schema.withLock('sample', (transaction) => {
    const numbering = { table, count, transaction }
    return sequelize.getDialect() === 'sqlite'
      ? reserveSqlite(sequelize, numbering)
      : reserveMysql(sequelize, numbering)
  })
}

async function nextGuidNumber(sequelize: Sequelize, table: string): Promise<number> {
  const [row] = await sequelize.query<{ last: string | null }>(
    `SELECT MAX(id) AS last FROM \`${table}\` WHERE id BETWEEN $first AND $beyond`,
    { bind: { first: NUMBERED_GUIDS, beyond: `${NUMBERED_GUIDS}g` }, type: QueryTypes.SELECT }
  )
  const last = row?.last ?? undefined
  return last === undefined ? 1 : numberOfGuid(last) + 1
}

interface Numbering {
  readonly table: string
  readonly count: number
  readonly transaction: Transaction
}

async function reserveSqlite(sequelize: Sequelize, { table, count, transaction }: Numbering): Promise<number> {
  const bind = { table, count }
  const [row] = await sequelize.query<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = $table', {
    bind: { table },
    transaction,
    type: QueryTypes.SELECT
  })
  const statement =
    row === undefined
      ? 'INSERT INTO sqlite_sequence (name, seq) VALUES ($table, $count)'
      : 'UPDATE sqlite_sequence SET seq = seq + $count WHERE name = $table'
  await sequelize.query(statement, { bind, transaction })
  return (row?.seq ?? 0) + 1
}

/** Reads the counter from the table's DDL. information_schema may give an old value on MySQL. */
async function reserveMysql(sequelize: Sequelize, { table, count, transaction }: Numbering): Promise<number> {
  await sequelize.query(`LOCK TABLES \`${table}\` WRITE`, { transaction })
  try {
    const [row] = await sequelize.query<{ 'Create Table': string }>(`SHOW CREATE TABLE \`${table}\``, {
      transaction,
      type: QueryTypes.SELECT
    })
    const first = Number(/ AUTO_INCREMENT=(\d+)/.exec(row?.['Create Table'] ?? '')?.[1] ?? 1)
    await sequelize.query(`ALTER TABLE \`${table}\` AUTO_INCREMENT = ${first + count}`, { transaction })
    return first
  } finally {
    await sequelize.query('UNLOCK TABLES', { transaction })
  }
}
