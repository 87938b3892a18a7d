import { createHash } from 'node:crypto'
import { QueryTypes, type Transaction } from 'sequelize'
import { StartError } from '../shared/start-error.js'
import type { Children, Column, Entity, StoreName } from '../data-service/entity/entity.js'
import { decimal } from '../data-service/entity/fields/words.js'
import type { Value } from '../data-service/entity/fields/field.js'
import { keyMaker } from '../data-service/entity/key.js'
import type { Database } from '../data-service/sql/engines/engine.js'
import { type BoundValue, quotedIdentifier } from '../data-service/sql/engines/statement.js'
import { schemaOf } from './kinds/kinds.js'

/** Values by property, without row version and, for children, without the id of the root. */
export type SampleRow = Readonly<Record<string, Value>>

/** A root with its children of either store by their names in the entity file. */
export interface SampleAggregate {
  readonly root: SampleRow
  readonly children?: Readonly<Record<string, readonly SampleRow[]>>
}

/** What a sample can do with the first database of an application, past all rules of its entities. */
export interface SampleDatabase {
  /**
   * Inserts aggregates in one transaction, with their children of the first database, which numbers these. Throws an Error
   * for a resource that is no entity, and a TypeError for a row without a value that its column needs.
   */
  insert(resource: string, aggregates: readonly SampleAggregate[]): Promise<void>
  /**
   * Reserves `count` consecutive ids of an int or long for new roots and returns the first: they are above all ids ever
   * given, and rows that a running service adds get higher ones.
   */
  reserveIds(resource: string, count: number): Promise<number>
  /** The rows of a SELECT, with values bound by name (`$name`). */
  select<Row extends object>(statement: string, values?: Readonly<Record<string, unknown>>): Promise<Row[]>
  /** The digits of a decimal that `select` answered, whose form there depends on the database. */
  decimal(raw: unknown, scale: number): string
}

export function sampleDatabase(database: Database, entities: readonly Entity[]): SampleDatabase {
  const { sequelize, bulk, dialect } = database
  return {
    select: (statement, values = {}) => sequelize.query(statement, { bind: { ...values }, type: QueryTypes.SELECT }),
    decimal: (raw, scale) => String(dialect.decode(decimal(18, scale))(typeof raw === 'number' ? BigInt(raw) : raw)),
    reserveIds: (resource, count) => {
      const { table } = entityNamed(entities, resource)
      return schemaOf(database).withLock('sample', (transaction) => bulk.reserveIds(table, count, transaction))
    },
    insert: (resource, aggregates) =>
      sequelize.transaction(async (transaction) => {
        if (bulk.prepare !== undefined) await sequelize.query(bulk.prepare, { transaction })
        for (const { target, rows } of tablesOf(entityNamed(entities, resource), 'primary', aggregates)) {
          const columns = target.columns.filter((column) => !target.numbered.includes(column))
          await insertRows(database, { target: { ...target, columns }, rows }, transaction)
        }
      })
  }
}

/**
 * Loads aggregates by resource into migrated, empty databases; a resource comes after those that it refers to. Does nothing
 * if the first database has any row. Each database gets all of its rows or none, and two processes that start at the same
 * time load them once. `second` is undefined without a second store. Returns whether it loaded.
 */
export async function loadSampleRows(
  { primary, second }: { readonly primary: Database; readonly second: Database | undefined },
  entities: readonly Entity[],
  rows: () => ReadonlyMap<string, readonly SampleAggregate[]>
): Promise<boolean> {
  if (!(await isEmpty(primary, { entities, store: 'primary' }))) return false
  const made = rows()
  // The second store comes first: an empty first one makes the next start load again if this one is interrupted.
  if (second !== undefined) await loadStore(second, 'second', { entities, made })
  return loadStore(primary, 'primary', { entities, made })
}

async function loadStore(
  database: Database,
  store: StoreName,
  { entities, made }: { entities: readonly Entity[]; made: ReadonlyMap<string, readonly SampleAggregate[]> }
): Promise<boolean> {
  return schemaOf(database).withLock('sample', async (transaction) => {
    if (!(await isEmpty(database, { entities, store }, transaction))) return false
    for (const [resource, aggregates] of made) {
      for (const { target, rows } of tablesOf(entityNamed(entities, resource), store, aggregates)) {
        await insertRows(database, { target, rows }, transaction).catch((error: unknown) => {
          throw error instanceof SampleMistake ? new StartError(`${error.message}.`, { cause: error }) : error
        })
      }
    }
    return true
  })
}

function entityNamed(entities: readonly Entity[], resource: string): Entity {
  const entity = entities.find(({ name }) => name === resource)
  if (entity === undefined) throw new Error(`There are sample rows of ${resource}, which is no entity`)
  return entity
}

/** A table and its columns without the row version. */
interface SampleTable {
  readonly table: string
  readonly columns: readonly Column[]
  readonly versionColumn: string | undefined
  /** Columns of children that the database numbers where many rows are added to others. */
  readonly numbered: readonly Column[]
}

/** The tables of an entity in the store with their rows, the root before its children. */
function tablesOf(
  entity: Entity,
  store: StoreName,
  aggregates: readonly SampleAggregate[]
): { readonly target: SampleTable; readonly rows: readonly SampleRow[] }[] {
  const { table, columns, versionColumn } = entity
  const root = { target: { table, columns, versionColumn, numbered: [] }, rows: aggregates.map((one) => one.root) }
  const children = entity.children
    .filter((one) => one.store === store)
    .map((one) => ({
      target: childTarget(one),
      rows: aggregates.flatMap((aggregate) => {
        const rootKey = entity.key.map(({ name }, at): [string, Value] => [
          rootProperty(at),
          aggregate.root[name] ?? null
        ])
        return (aggregate.children?.[one.name] ?? []).map((row) => ({ ...row, ...Object.fromEntries(rootKey) }))
      })
    }))
  return store === 'primary' ? [root, ...children] : children
}

/** The property of a child's row that holds a part of the key of its root; no property of an entity has such a name. */
function rootProperty(at: number): string {
  return at === 0 ? 'rootId' : `rootId ${at}`
}

/** The table of children. */
function childTarget(children: Children): SampleTable {
  const { table, foreignKey, versionColumn } = children
  const rootKey = foreignKey.map((column, at) => ({ ...column, name: rootProperty(at) }))
  const own = children.columns.filter(({ column }) => !foreignKey.some((one) => one.column === column))
  const numbered = children.key.filter((column) => keyMaker(column, children) === 'database')
  return { table, columns: [...own, ...rootKey], versionColumn, numbered }
}

/** Inserts rows, many in one statement. If a row lacks a value it throws a TypeError before it sends that statement. */
async function insertRows(
  { sequelize, dialect, bulk }: Database,
  { target, rows }: { readonly target: SampleTable; readonly rows: readonly SampleRow[] },
  transaction: Transaction
): Promise<void> {
  const { table, versionColumn } = target
  const isGiven = ({ name, field }: Column): boolean =>
    field.writability !== 'generated' && (!field.filledByDatabase || rows.some((row) => row[name] !== undefined))
  const columns = target.columns.filter(isGiven)
  const width = columns.length + (versionColumn === undefined ? 0 : 1)
  const rowsAtOnce = Math.max(1, Math.floor(bulk.maxValues / width))
  for (let start = 0; start < rows.length; start += rowsAtOnce) {
    const some = rows.slice(start, start + rowsAtOnce)
    const bind = some.flatMap((row): BoundValue[] => {
      const values = columns.map(({ name, field }) => {
        const value = sampleValue(row, { name, field }, table)
        try {
          return value === null ? null : dialect.store(value, field)
        } catch (error) {
          const text = JSON.stringify(value)
          throw new SampleMistake(`A sample row of ${table} has ${text} as ${name}, which is no ${field.type}`, {
            cause: error
          })
        }
      })
      return versionColumn === undefined ? values : [...values, rowVersionOf(table, row)]
    })
    await sequelize.query(insertStatement({ ...target, columns }, some.length), { bind, transaction, raw: true })
  }
}

function sampleValue(row: SampleRow, { name, field }: Pick<Column, 'name' | 'field'>, table: string): Value {
  const value = row[name]
  if (value !== undefined) return value
  if (field.nullable) return null
  throw new SampleMistake(`A sample row of ${table} has no ${name}`)
}

/** A row that the sample of an application states and that no statement can be made of. */
class SampleMistake extends TypeError {}

/** Eight bytes that depend on the row only, so that the same sample is the same everywhere. */
function rowVersionOf(table: string, row: SampleRow): Buffer {
  const id = String(
    row['id'] ?? JSON.stringify(row, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
  )
  return createHash('sha256').update(`${table}/${id}`).digest().subarray(0, 8)
}

function insertStatement({ table, columns, versionColumn }: SampleTable, rows: number): string {
  const names = [...columns.map(({ column }) => column), ...(versionColumn === undefined ? [] : [versionColumn])]
  const tuples = Array.from(
    { length: rows },
    (_, row) => `(${names.map((_name, index) => `$${row * names.length + index + 1}`).join(', ')})`
  )
  return `INSERT INTO ${quotedForBind(table)} (${names.map(quotedForBind).join(', ')}) VALUES ${tuples.join(', ')}`
}

/** A name in the text of `sequelize.query`, which takes `$name` for a bound value and `$$` for a `$`. */
function quotedForBind(name: string): string {
  return quotedIdentifier(name).replace(/\B\$(?=[$\w])/g, '$$$$')
}

/** Whether no table of the entities in the store has a row. */
async function isEmpty(
  { sequelize }: Database,
  { entities, store }: { readonly entities: readonly Entity[]; readonly store: StoreName },
  transaction?: Transaction
): Promise<boolean> {
  const children = entities.flatMap((one) => one.children).filter((one) => one.store === store)
  // A table in another database is the engine's own, and no sample fills it.
  const roots = entities.filter((one) => one.schema === undefined)
  const tables = (store === 'primary' ? roots : children).map(({ table }) => table)
  for (const table of tables) {
    const rows = await sequelize.query(`SELECT 1 FROM ${quotedIdentifier(table)} LIMIT 1`, {
      type: QueryTypes.SELECT,
      ...(transaction === undefined ? {} : { transaction })
    })
    if (rows.length > 0) return false
  }
  return true
}
