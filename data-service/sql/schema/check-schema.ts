import { QueryTypes, type Sequelize } from 'sequelize'
import { StartError } from '../../../shared/start-error.js'
import type { Entity, StoreName } from '../../entity/entity.js'

/** What stands in a database, as its catalogue tells. */
export interface ActualSchema {
  /** Table to its columns. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  /** `table.column ASC` or `table.column DESC` for the first key of each index and whatever it sorts by next. */
  readonly sortOrders: ReadonlySet<string>
}

interface ColumnRow {
  readonly tableName: string
  readonly columnName: string
}

interface IndexRow {
  readonly tableName: string
  readonly columnName: string
  readonly isDescending: number | bigint
}

const MYSQL_COLUMNS =
  'SELECT TABLE_NAME AS tableName, COLUMN_NAME AS columnName FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE()'

/** Leading keys. An index ends in the primary key whether that is declared or not; a unique one is not sorted by it. */
const MYSQL_INDEXES = `
  SELECT TABLE_NAME AS tableName, COLUMN_NAME AS columnName, COLLATION = 'D' AS isDescending
  FROM information_schema.STATISTICS
  WHERE TABLE_SCHEMA = DATABASE() AND SEQ_IN_INDEX = 1 AND NON_UNIQUE = 1`

const SQLITE_COLUMNS = `
  SELECT t.name AS tableName, c.name AS columnName
  FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'`

/** The key of strings is an expression, whose text the pragma does not tell: it is cut out of the index's DDL. */
const SQLITE_INDEXES = `
  SELECT i.tbl_name AS tableName, x.desc AS isDescending, COALESCE(x.name,
    SUBSTR(i.sql, INSTR(i.sql, 'sort_key(\`') + 10, INSTR(i.sql, '\`)') - INSTR(i.sql, 'sort_key(\`') - 10)) AS columnName
  FROM sqlite_master i JOIN pragma_index_list(i.tbl_name) l ON l.name = i.name JOIN pragma_index_xinfo(i.name) x
  WHERE i.type = 'index' AND i.sql IS NOT NULL AND x.seqno = 0 AND l."unique" = 0`

/** Reads the schema of a database. */
export async function readActualSchema(sequelize: Sequelize): Promise<ActualSchema> {
  const sqlite = sequelize.getDialect() === 'sqlite'
  const select = { type: QueryTypes.SELECT } as const
  const columnRows = await sequelize.query<ColumnRow>(sqlite ? SQLITE_COLUMNS : MYSQL_COLUMNS, select)
  const indexRows = await sequelize.query<IndexRow>(sqlite ? SQLITE_INDEXES : MYSQL_INDEXES, select)
  const columns = new Map<string, Set<string>>()
  for (const { tableName, columnName } of columnRows) {
    columns.set(tableName, (columns.get(tableName) ?? new Set()).add(columnName))
  }
  return {
    columns,
    sortOrders: new Set(
      indexRows.map((row) => `${row.tableName}.${row.columnName} ${Number(row.isDescending) === 1 ? 'DESC' : 'ASC'}`)
    )
  }
}

/**
 * Holds the entity files against the tables of one store: every column exists, every child is found by its root's id
 * and every sortable property has an index for each direction. Throws one StartError that lists all that is missing.
 */
export async function checkSchema(
  sequelize: Sequelize,
  /** `setting` names the database in the error. */
  { store, setting }: { readonly store: StoreName; readonly setting: string },
  entities: readonly Entity[]
): Promise<void> {
  const mistakes = schemaMistakes(await readActualSchema(sequelize), store, entities)
  if (mistakes.length === 0) return
  const count = `${mistakes.length} mistake${mistakes.length === 1 ? '' : 's'}`
  throw new StartError(`${count} in the tables of ${setting}.\n- ${mistakes.join('\n- ')}\n${ADVICE}`)
}

/** Editing a migration changes nothing where it has run. */
const ADVICE =
  'Mend this in a new migration: one that ran is not run again. On a throw-away database delete DATA_DIR instead.'

/** What is missing, a sentence each. */
export function schemaMistakes(schema: ActualSchema, store: StoreName, entities: readonly Entity[]): string[] {
  return entities.flatMap((entity) => [
    ...(store === 'primary' ? [...missingColumns(schema, entity), ...missingOrders(schema, entity, entities)] : []),
    ...missingInChildren(schema, store, entity)
  ])
}

interface Columned {
  readonly name: string
  readonly table: string
  readonly columns: readonly { readonly column: string }[]
}

function missingColumns(
  schema: ActualSchema,
  { name, table, columns }: Columned,
  more: readonly string[] = []
): string[] {
  const actual = schema.columns.get(table)
  if (actual === undefined) return [`${name}: there is no table ${table}; a new migration must create it`]
  return [...columns.map(({ column }) => column), 'row_version', ...more]
    .filter((column) => !actual.has(column))
    .map((column) => `${name}: the table ${table} has no column ${column}; a new migration must add it`)
}

function missingInChildren(schema: ActualSchema, store: StoreName, entity: Entity): string[] {
  return entity.children
    .filter((children) => children.store === store)
    .flatMap(({ name, table, foreignKey, columns }) => {
      const full = `${entity.name}.${name}`
      const missing = missingColumns(schema, { name: full, table, columns }, [foreignKey])
      if (missing.length > 0 || schema.sortOrders.has(`${table}.${foreignKey} ASC`)) return missing
      return [`${full}: no index leads with ${table}.${foreignKey}; name it under partOf or indexed in a new migration`]
    })
}

function missingOrders(schema: ActualSchema, entity: Entity, entities: readonly Entity[]): string[] {
  return [...entity.sortable].flatMap((property) => {
    const place = sortedColumn(entity, property, entities)
    if (place === undefined) return [`${entity.name}: nothing tells which column the sortable ${property} is`]
    if (place.endsWith('.id')) return []
    const table = place.slice(0, place.indexOf('.'))
    return ['ASC', 'DESC']
      .filter((direction) => schema.columns.has(table) && !schema.sortOrders.has(`${place} ${direction}`))
      .map(
        (direction) =>
          `${entity.name}: the sortable ${property} has no index (${place} ${direction}, id); ` +
          'name it under sorted in a new migration'
      )
  })
}

/** `table.column` that sorting by the property goes by: of its own table or, joined, of the referenced one. */
function sortedColumn(entity: Entity, property: string, entities: readonly Entity[]): string | undefined {
  const own = entity.columns.find(({ name }) => name === property)
  if (own !== undefined) return `${entity.table}.${own.column}`
  const joined = entity.joined.find(({ name }) => name === property)
  const target = entities.find(({ name }) => name === joined?.through.to)
  const column = target?.columns.find(({ name }) => name === joined?.property)
  return target === undefined || column === undefined ? undefined : `${target.table}.${column.column}`
}

const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE'

/** Of tables; a server hides those that an account has no right to at all. */
const COLUMNS =
  'SELECT TABLE_NAME AS name, MIN(COLUMN_NAME) AS `column` FROM information_schema.COLUMNS ' +
  'WHERE TABLE_SCHEMA = DATABASE() GROUP BY TABLE_NAME ORDER BY TABLE_NAME'

/** SELECT command denied, and the same for a column. */
const DENIED: readonly unknown[] = [1142, 1143]

/** A file that may only be read lets a transaction begin, and refuses the first statement that could write. */
const WRITES_NOTHING = "DELETE FROM `schema_migrations` WHERE `name` = ''"

/**
 * Finds out whether an SQLite file may be written to, and whether the account may read and write every table of a MySQL or MariaDB database, without writing anything:
 * a server checks rights when it prepares a statement, also while it is read-only. Throws a StartError that names what
 * is missing and the statement that grants it.
 */
export async function checkRights(sequelize: Sequelize): Promise<void> {
  if (sequelize.getDialect() === 'sqlite') {
    await sequelize.query(WRITES_NOTHING)
    return
  }
  const missing = new Map<string, string[]>()
  await sequelize.transaction(async (transaction) => {
    const tables = await sequelize.query<{ name: string; column: string }>(COLUMNS, {
      transaction,
      type: QueryTypes.SELECT
    })
    for (const { name, column } of tables) {
      for (const [right, statement] of statementsOf(name, column)) {
        try {
          await sequelize.query(`PREPARE check_rights FROM '${statement}'`, { transaction, type: QueryTypes.RAW })
        } catch (error) {
          if (!DENIED.includes(errnoOf(error))) throw error
          missing.set(right, [...(missing.get(right) ?? []), name])
        }
      }
    }
    await sequelize.query("PREPARE check_rights FROM 'SELECT 1'", { transaction })
    await sequelize.query('DEALLOCATE PREPARE check_rights', { transaction })
  })
  if (missing.size === 0) return
  const what = [...missing].map(([right, tables]) => `${right} on ${tables.join(', ')}`).join('; ')
  throw await missingRights(sequelize, what)
}

/** What the account of a running service may not do, which it has to. */
export async function missingRights(sequelize: Sequelize, what: string): Promise<StartError> {
  const grant = await grantStatement(sequelize, RIGHTS)
  return new StartError(`the account has not all rights that it takes (${what}). Grant them: ${grant};`)
}

/** `GRANT … ON db.* TO 'user'@'host'`, for the account that the server takes this one for. */
export async function grantStatement(sequelize: Sequelize, rights: string): Promise<string> {
  const [row] = await sequelize.query<{ account: string; name: string }>(
    'SELECT CURRENT_USER() AS account, DATABASE() AS name',
    { type: QueryTypes.SELECT }
  )
  const [user = '', host = ''] = (row?.account ?? '').split(/@(?=[^@]*$)/)
  return `GRANT ${rights} ON \`${row?.name ?? ''}\`.* TO '${user}'@'${host}'`
}

function statementsOf(table: string, column: string): readonly (readonly [string, string])[] {
  return [
    ['SELECT', `SELECT 1 FROM \`${table}\``],
    ['INSERT', `INSERT INTO \`${table}\` () VALUES ()`],
    ['UPDATE', `UPDATE \`${table}\` SET \`${column}\` = NULL`],
    ['DELETE', `DELETE FROM \`${table}\``]
  ]
}

function errnoOf(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined
  return 'errno' in error ? error.errno : errnoOf('parent' in error ? error.parent : undefined)
}
