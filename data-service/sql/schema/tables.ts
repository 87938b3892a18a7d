import type { Field, FieldType } from '../../entity/field.js'
import { snakeCase } from '../../entity/names.js'
import { collationOf } from '../engines/mysql-connection.js'
import type { DatabaseKind, Migration, MigrationDatabase } from './migrate.js'

type Columns = Readonly<Record<string, Field>> & { readonly id: Field<'int' | 'long' | 'guid'> }

/** What a migration says of a new table, in the property names of the entity file; columns are named in snake_case. */
export interface TableDefinition<C extends Columns> {
  /** The row version is not listed: every table has one. An `id` that is int or long numbers itself. */
  readonly columns: C
  /** Columns that rows are sorted by, each way, with the id as the tie-break. */
  readonly sorted?: readonly (keyof C & string)[]
  /** Column to the table of the aggregate's root: its rows go with the root. */
  readonly partOf?: { readonly [K in keyof C]?: string }
  /** Column to the table it refers to: a row that is referred to cannot be deleted. */
  readonly references?: { readonly [K in keyof C]?: string }
  /** Columns that rows are found by without any of the above, as an id from another database is. */
  readonly indexed?: readonly (keyof C & string)[]
  /** Columns of which no two rows have all values alike; a single one says `unique` instead. */
  readonly uniqueTogether?: readonly (readonly [keyof C & string, ...(keyof C & string)[]])[]
}

/** A table as the renderers need it. */
export interface Table {
  readonly name: string
  readonly columns: ReadonlyMap<string, Field>
  readonly sorted: ReadonlySet<string>
  readonly indexed: ReadonlySet<string>
  readonly uniqueTogether: readonly (readonly string[])[]
  readonly foreignKeys: readonly ForeignKey[]
}

export interface ForeignKey {
  readonly from: string
  readonly to: string
  readonly onDelete: 'CASCADE' | 'RESTRICT'
}

/** Describes a table. Every foreign key is indexed, whether rows are sorted by it or not. */
export function table<const C extends Columns>(name: string, definition: TableDefinition<C>): Table {
  const foreignKeys = [
    ...foreignKeysOf(definition.partOf ?? {}, 'CASCADE'),
    ...foreignKeysOf(definition.references ?? {}, 'RESTRICT')
  ]
  return {
    name,
    columns: new Map(Object.entries(definition.columns)),
    sorted: new Set(definition.sorted),
    indexed: new Set([...(definition.indexed ?? []), ...foreignKeys.map(({ from }) => from)]),
    uniqueTogether: definition.uniqueTogether ?? [],
    foreignKeys
  }
}

function foreignKeysOf(targets: Readonly<Record<string, string | undefined>>, onDelete: ForeignKey['onDelete']) {
  return Object.entries(targets).flatMap(([from, to]): ForeignKey[] =>
    to === undefined ? [] : [{ from, to, onDelete }]
  )
}

export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  /** Key parts as they stand in the DDL. */
  readonly keys: readonly string[]
}

/**
 * The indexes of a table. Sorting by a column needs (column, id) and (column DESC, id), since the tie-break is the id
 * ascending whichever way the column goes; a unique index alone serves neither without a filesort on MariaDB.
 */
export function indexesOf(table: Table, kind: DatabaseKind): TableIndex[] {
  const indexes: TableIndex[] = []
  for (const [property, field] of table.columns) {
    if (property === 'id') continue
    const key = keyOf(property, field, kind)
    const name = `${table.name}_${snakeCase(property)}`
    if (field.unique) indexes.push({ name: `${name}_unique`, unique: true, keys: [key] })
    if (table.sorted.has(property) || table.indexed.has(property)) {
      indexes.push({ name, unique: false, keys: [key, '`id`'] })
    }
    if (table.sorted.has(property)) indexes.push({ name: `${name}_desc`, unique: false, keys: [`${key} DESC`, '`id`'] })
  }
  for (const properties of table.uniqueTogether) {
    const name = [table.name, ...properties.map(snakeCase), 'unique'].join('_')
    const keys = properties.map((property) => keyOf(property, columnOf(table, property), kind))
    indexes.push({ name, unique: true, keys })
  }
  return indexes
}

function columnOf({ name, columns }: Table, property: string): Field {
  const field = columns.get(property)
  if (field === undefined) throw new TypeError(`${name} has no column ${property}`)
  return field
}

/** SQLite has no collation like the other databases', so its strings are indexed by the key that sorts as one. */
function keyOf(property: string, field: Field, kind: DatabaseKind): string {
  const column = `\`${snakeCase(property)}\``
  return kind === 'sqlite' && field.type === 'string' ? `sort_key(${column})` : column
}

/** Decimals are whole numbers of their smallest unit on SQLite, which has no exact decimals of its own. */
const SQLITE_TYPE: Record<FieldType, string> = {
  string: 'TEXT',
  bool: 'INTEGER',
  int: 'INTEGER',
  long: 'INTEGER',
  decimal: 'INTEGER',
  dateTime: 'TEXT',
  guid: 'TEXT'
}

/** The type that a column of the field has in a database, without its NULL or NOT NULL. */
export function columnType(field: Field, kind: DatabaseKind): string {
  if (kind === 'sqlite') return SQLITE_TYPE[field.type]
  switch (field.type) {
    case 'string':
      return `VARCHAR(${field.maxLength}) CHARACTER SET utf8mb4 COLLATE ${collationOf(kind)}`
    case 'bool':
      return 'TINYINT(1)'
    case 'int':
      return 'INT'
    case 'long':
      return 'BIGINT'
    case 'decimal':
      return `DECIMAL(${field.precision},${field.scale})`
    case 'dateTime':
      return 'DATETIME(3)'
    case 'guid':
      return 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin'
  }
}

/** The type of `row_version`, eight bytes that every row of a root and of a child has. */
export function rowVersionType(kind: DatabaseKind): string {
  return kind === 'sqlite' ? 'BLOB' : 'BINARY(8)'
}

/** The `up` of a migration that makes tables, in the order given: what is referred to comes first. */
export function createTables(...tables: readonly Table[]): Migration['up'] {
  return async (database) => {
    for (const table of tables) {
      for (const statement of createTable(table, database.kind)) await database.run(statement)
    }
  }
}

/** A table with its indexes as DDL: one statement, which is atomic, on MariaDB and MySQL. */
export function createTable(table: Table, kind: DatabaseKind): string[] {
  const columns = [
    ...[...table.columns].map(([property, field]) => columnDefinition(property, field, kind)),
    `\`row_version\` ${rowVersionType(kind)} NOT NULL`
  ]
  const foreignKeys = table.foreignKeys.map((key) => foreignKeyDefinition(table, key, kind))
  const indexes = indexesOf(table, kind)
  if (kind === 'sqlite') {
    return [
      `CREATE TABLE IF NOT EXISTS \`${table.name}\` (${[...columns, ...foreignKeys].join(', ')}) STRICT`,
      ...indexes.map(
        ({ name, unique, keys }) =>
          `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS \`${name}\` ON \`${table.name}\` (${keys.join(', ')})`
      )
    ]
  }
  const inline = indexes.map(
    ({ name, unique, keys }) => `${unique ? 'UNIQUE ' : ''}INDEX \`${name}\` (${keys.join(', ')})`
  )
  const lines = [...columns, 'PRIMARY KEY (`id`)', ...inline, ...foreignKeys]
  return [
    `CREATE TABLE IF NOT EXISTS \`${table.name}\` (${lines.join(', ')}) ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4`
  ]
}

/** A column as it stands in a CREATE TABLE or behind ADD COLUMN. */
export function columnDefinition(property: string, field: Field, kind: DatabaseKind): string {
  const definition = `\`${snakeCase(property)}\` ${columnType(field, kind)}${field.nullable ? '' : ' NOT NULL'}`
  if (property !== 'id') return definition
  const numbered = field.type === 'int' || field.type === 'long'
  if (kind === 'sqlite') return `${definition} PRIMARY KEY${numbered ? ' AUTOINCREMENT' : ''}`
  return numbered ? `${definition} AUTO_INCREMENT` : definition
}

function foreignKeyDefinition(table: Table, { from, to, onDelete }: ForeignKey, kind: DatabaseKind): string {
  const column = snakeCase(from)
  // SQLite reports RESTRICT as a failed trigger, NO ACTION, which refuses just the same, as the foreign key it is.
  const action = kind === 'sqlite' && onDelete === 'RESTRICT' ? 'NO ACTION' : onDelete
  return (
    `CONSTRAINT \`${table.name}_${column}_fk\` FOREIGN KEY (\`${column}\`) ` +
    `REFERENCES \`${to}\` (\`id\`) ON DELETE ${action}`
  )
}

/** What a migration adds to a table that is there, in the property names of the entity file. */
export interface AddedColumns<C extends Readonly<Record<string, Field>>> {
  /** Each `optional`: the rows that are there have no value in it, and replicas of the version before write none. */
  readonly columns: C
  /** As in a new table. */
  readonly sorted?: readonly (keyof C & string)[]
  readonly indexed?: readonly (keyof C & string)[]
}

/**
 * The `up` of a migration that adds columns with their indexes to a table. Columns that are there already are left as
 * they are, so it stands being repeated.
 */
export function addColumns<const C extends Readonly<Record<string, Field>>>(
  name: string,
  { columns, sorted, indexed }: AddedColumns<C>
): Migration['up'] {
  for (const [property, field] of Object.entries(columns)) {
    if (!field.nullable) throw new TypeError(`${name}.${property} must be optional: rows that are there lack it`)
  }
  return async (database) => {
    const present = await columnsIn(database, name)
    const added = new Map(Object.entries(columns).filter(([property]) => !present.has(snakeCase(property))))
    if (added.size === 0) return
    const table: Table = {
      name,
      columns: added,
      sorted: new Set(sorted),
      indexed: new Set(indexed),
      uniqueTogether: [],
      foreignKeys: []
    }
    for (const statement of alterTable(table, database)) await database.run(statement)
  }
}

/** One statement, which is atomic, on MariaDB and MySQL; SQLite runs them in the transaction of all migrations. */
function alterTable(table: Table, { kind }: MigrationDatabase): string[] {
  const columns = [...table.columns].map(([property, field]) => `ADD COLUMN ${columnDefinition(property, field, kind)}`)
  const indexes = indexesOf(table, kind).map(({ name, unique, keys }) => ({
    definition: `${unique ? 'UNIQUE ' : ''}INDEX`,
    name,
    keys: keys.join(', ')
  }))
  const alter = `ALTER TABLE \`${table.name}\``
  if (kind !== 'sqlite') {
    const added = indexes.map(({ definition, name, keys }) => `ADD ${definition} \`${name}\` (${keys})`)
    return [`${alter} ${[...columns, ...added].join(', ')}`]
  }
  return [
    ...columns.map((column) => `${alter} ${column}`),
    ...indexes.map(
      ({ definition, name, keys }) => `CREATE ${definition} IF NOT EXISTS \`${name}\` ON \`${table.name}\` (${keys})`
    )
  ]
}

async function columnsIn({ kind, select }: MigrationDatabase, table: string): Promise<ReadonlySet<string>> {
  const rows = await select(
    kind === 'sqlite'
      ? `SELECT name AS columnName FROM pragma_table_info('${table}')`
      : 'SELECT COLUMN_NAME AS columnName FROM information_schema.COLUMNS ' +
          `WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'`
  )
  return new Set(rows.map(({ columnName }) => String(columnName)))
}
