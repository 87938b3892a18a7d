import { StartError } from '../../../shared/start-error.js'
import {
  columnOfTable,
  type ColumnType,
  type ForeignKey,
  type PresentTable,
  primaryKeyOf,
  quotedList,
  type Table,
  type TableChange,
  type TableColumn,
  type TableIndex,
  VERSION_0,
  versionOfOld
} from '../../model/tables.js'

/**
 * The statements of a change. All of a migration share one transaction, so that one that was interrupted has done nothing.
 * What is `present` already (undefined: all is as `before` says) is left out of what is added.
 */
export function sqliteStatements(
  { step, before, after }: TableChange,
  present: PresentTable | undefined
): readonly string[] {
  const table = `\`${step.table}\``
  const added = (indexes: readonly TableIndex[]): string[] =>
    after === undefined
      ? []
      : createIndexes(
          after,
          after.indexes.filter(({ name }) => indexes.some((one) => one.name === name))
        )
  const dropped = (names: readonly string[]): string[] => names.map((name) => `DROP INDEX IF EXISTS \`${name}\``)
  switch (step.kind) {
    case 'createTable':
      return after === undefined
        ? []
        : [sqliteCreateTable(after, after.name), ...keyIndex(after), ...createIndexes(after)]
    case 'renameTable':
      if (present?.columns.size === 0) return []
      return [
        // The names of these are made of that of the table, and a new table of the old name would not get its own.
        ...dropped(before === undefined ? [] : madeKeyIndexes(before)),
        `ALTER TABLE ${table} RENAME TO \`${step.to}\``,
        ...(after === undefined ? [] : keyIndex(after))
      ]
    case 'dropTable':
      return [`DROP TABLE IF EXISTS ${table}`]
    case 'addIndexes':
      return added(step.indexes)
    case 'dropIndexes':
      return dropped(step.indexes)
    default:
      break
  }
  if (before === undefined || after === undefined) return []
  if (isRebuilt({ step, before, after })) return rebuild({ before, after }, present)
  switch (step.kind) {
    case 'addColumns': {
      const keyOf = (column: string): string =>
        step.foreignKeys.filter((key) => key.columns[0] === column).map((key) => ` ${references(key)}`)[0] ?? ''
      return [
        ...step.columns
          .filter(({ name }) => present?.columns.has(name) !== true)
          .map((column) => {
            const definition = `${strictColumn(column)}${versionOfOld(column)}${keyOf(column.name)}`
            return `ALTER TABLE ${table} ADD COLUMN ${definition}`
          }),
        ...added(step.indexes)
      ]
    }
    case 'renameColumn': {
      // SQLite would write the new name into the expressions of indexes in its own quotes. Made anew they are as in a new table.
      const indexes = before.indexes.filter(({ keys }) => keys.some(({ column }) => column === step.from))
      const isKey = primaryKeyOf(before).includes(step.from)
      return [
        ...dropped([...(isKey ? madeKeyIndexes(before) : []), ...indexes.map(({ name }) => name)]),
        `ALTER TABLE ${table} RENAME COLUMN \`${step.from}\` TO \`${step.to}\``,
        ...(isKey ? keyIndex(after) : []),
        ...added(indexes)
      ]
    }
    case 'dropColumns': {
      const indexes = before.indexes.filter(({ keys }) => keys.some(({ column }) => step.columns.includes(column)))
      const names = step.columns.filter((name) => present?.columns.has(name) !== false)
      return [
        ...dropped(indexes.map(({ name }) => name)),
        ...names.map((name) => `ALTER TABLE ${table} DROP COLUMN \`${name}\``)
      ]
    }
    default:
      // The type of the column is stored as before.
      return []
  }
}

/**
 * Whether a change makes a table anew or drops it. Both delete rows of a table that others refer to, for which SQLite
 * would delete the rows that refer to them, so foreign keys are off meanwhile and are checked at the end.
 */
export function isRebuilt({ step, before, after }: TableChange): boolean {
  switch (step.kind) {
    case 'dropTable':
    case 'addForeignKeys':
    case 'dropForeignKeys':
      return true
    case 'addColumns':
      // SQLite adds no column that refers to others and is never null, and no foreign key of several columns.
      return step.foreignKeys.some(
        ({ columns: [column, ...others] }) =>
          others.length > 0 || step.columns.some(({ name, nullable }) => name === column && !nullable)
      )
    case 'alterColumn': {
      if (before === undefined || after === undefined) return false
      const [old, altered] = [columnOfTable(before, step.column.name), columnOfTable(after, step.column.name)]
      return strictColumn(old) !== strictColumn(altered) || converted(old, altered) !== `\`${old.name}\``
    }
    case 'dropColumns':
      return before?.foreignKeys.some(({ columns }) => columns.some((column) => step.columns.includes(column))) ?? false
    default:
      return false
  }
}

/** Whether the default of a column is a value, or there is none. */
const IS_LITERAL =
  "dflt_value IS NULL OR dflt_value GLOB '[0-9.+-]*' OR dflt_value GLOB '[''\"]*' OR dflt_value LIKE 'x''%' " +
  "OR upper(dflt_value) IN ('NULL', 'TRUE', 'FALSE')"

/** A SELECT of the `kind` and `name` of all that a table has, and the `text` of what makes it. */
export function sqlitePresence(table: string): string {
  return (
    `SELECT 'column' AS kind, name, NULL AS text FROM pragma_table_xinfo(${sqliteText(table)}) UNION ALL ` +
    `SELECT 'computed', name, NULL FROM pragma_table_xinfo(${sqliteText(table)}) ` +
    `WHERE hidden IN (2, 3) OR NOT (${IS_LITERAL}) UNION ALL ` +
    `SELECT type, name, sql FROM sqlite_master WHERE tbl_name = ${sqliteText(table)} AND type IN ('index', 'trigger')`
  )
}

/**
 * The order of https://sqlite.org/lang_altertable.html#otheralter: a table of the new form, its rows, the old table
 * dropped, the new one renamed, and then the indexes and triggers.
 */
function rebuild(
  { before, after }: { readonly before: Table; readonly after: Table },
  present: PresentTable | undefined
): string[] {
  if (present !== undefined) refuseLosses(before, after, present)
  const fresh = `${after.name}_rebuilt`
  const known = [...[...before.indexes, ...after.indexes].map(({ name }) => name), ...keyIndexNames(after)]
  const extras = [...(present?.extras ?? [])].filter(([name]) => !known.includes(name))
  const kept = after.columns.filter(({ name }) => before.columns.some((one) => one.name === name))
  const made = after.columns.filter((column) => !kept.includes(column))
  const values = [
    ...kept.map((column) => converted(columnOfTable(before, column.name), column)),
    ...made.map((column) => (column.type.kind === 'rowVersion' ? VERSION_0 : sqliteLiteral(column)))
  ]
  const names = [...kept, ...made].map(({ name }) => `\`${name}\``)
  return [
    sqliteCreateTable(after, fresh),
    `INSERT INTO \`${fresh}\` (${names.join(', ')}) SELECT ${values.join(', ')} FROM \`${before.name}\``,
    ...(after.columns.some(({ key }) => key === 'autoIncrement') ? numberOn(before.name, fresh) : []),
    `DROP TABLE \`${before.name}\``,
    // Triggers of other tables, and views, may name the table, which is not there at this moment: SQLite checks them all unless
    // it renames as it did before version 3.25. Nothing names the new table yet, so nothing else is to be renamed.
    'PRAGMA legacy_alter_table = ON',
    `ALTER TABLE \`${fresh}\` RENAME TO \`${after.name}\``,
    'PRAGMA legacy_alter_table = OFF',
    ...keyIndex(after),
    ...createIndexes(after),
    ...extras.map(([, text]) => text)
  ]
}

/** Throws a StartError where the new table would lack what no migration has said of the old one. */
function refuseLosses(before: Table, after: Table, { columns, computed }: PresentTable): void {
  const said = new Set([...before.columns, ...after.columns].map(({ name }) => name.toLowerCase()))
  const unsaid = [...columns].filter((name) => !said.has(name.toLowerCase()))
  const kept = new Set(after.columns.map(({ name }) => name.toLowerCase()))
  const expressions = [...computed].filter((name) => kept.has(name.toLowerCase()))
  if (unsaid.length + expressions.length === 0) return
  const mistakes = [
    ...unsaid.map(
      (name) => `the column ${name}, which no migration describes: say it in the second argument of sql(…)`
    ),
    ...expressions.map((name) => `the value or the default of ${name}, which the database computes`)
  ]
  throw new StartError(
    `the table ${before.name} would have to be made anew, as SQLite changes such a table, and would lose something. ` +
      'Make the change yourself in a step of sql(…) that says in its second argument what it leaves.',
    { mistakes }
  )
}

/** No id is given twice, also not that of a row that is gone. */
function numberOn(before: string, after: string): string[] {
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${sqliteText(after)}`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${sqliteText(after)}, seq FROM sqlite_sequence WHERE name = ${sqliteText(before)}`
  ]
}

function sqliteCreateTable(table: Table, as: string): string {
  const { name, columns, foreignKeys } = table
  const primary = primaryKeyOf(table)
  const isComposite = primary.length > 1
  // Of a table that refers to itself the new one refers to the name that it gets in the end.
  const lines = [
    ...columns.map((column) => strictColumn(isComposite ? { ...column, key: 'none' } : column)),
    ...(isComposite ? [`PRIMARY KEY (${quotedList(primary)})`] : []),
    ...foreignKeys.map(
      (key) => `CONSTRAINT \`${key.name}\` FOREIGN KEY (${quotedList(key.columns)}) ${references(key)}`
    )
  ]
  return `CREATE TABLE ${as === name ? 'IF NOT EXISTS ' : ''}\`${as}\` (${lines.join(', ')}) STRICT`
}

/** Decimals are whole numbers of their smallest unit, since SQLite has no exact decimals of its own. */
const STORAGE: Record<ColumnType['kind'], StorageClass> = {
  varchar: 'TEXT',
  text: 'TEXT',
  boolean: 'INTEGER',
  tinyint: 'INTEGER',
  smallint: 'INTEGER',
  mediumint: 'INTEGER',
  int: 'INTEGER',
  bigint: 'INTEGER',
  year: 'INTEGER',
  bit: 'INTEGER',
  decimal: 'INTEGER',
  double: 'REAL',
  float: 'REAL',
  datetime: 'TEXT',
  date: 'TEXT',
  time: 'TEXT',
  enum: 'TEXT',
  set: 'TEXT',
  json: 'TEXT',
  guid: 'TEXT',
  varbinary: 'BLOB',
  binary: 'BLOB',
  rowVersion: 'BLOB'
}

type StorageClass = 'TEXT' | 'INTEGER' | 'REAL' | 'BLOB'

/**
 * An integer of 64 unsigned bits is text of 20 digits (sqlite-dialect.ts), unless SQLite numbers the rows, which it does with
 * integers alone.
 */
function storageClass({ type, key }: TableColumn): StorageClass {
  return isWideUnsigned(type) && key !== 'autoIncrement' ? 'TEXT' : STORAGE[type.kind]
}

function isWideUnsigned(type: ColumnType): boolean {
  return (type.kind === 'bigint' && type.unsigned === true) || (type.kind === 'bit' && type.bits > 32)
}

function strictColumn(column: TableColumn): string {
  const { name, nullable, key, defaultTo } = column
  const definition = `\`${name}\` ${storageClass(column)}${nullable ? '' : ' NOT NULL'}`
  if (key !== 'none') return `${definition} PRIMARY KEY${key === 'autoIncrement' ? ' AUTOINCREMENT' : ''}`
  return defaultTo === undefined ? definition : `${definition} DEFAULT ${sqliteLiteral(column)}`
}

function sqliteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

function sqliteLiteral({ type, defaultTo }: TableColumn): string {
  if (defaultTo === undefined) return 'NULL'
  if (type.kind === 'decimal') return unitsText(String(defaultTo), type.scale)
  if (isWideUnsigned(type)) return `'${String(defaultTo).padStart(20, '0')}'`
  if (typeof defaultTo !== 'string') return String(Number(defaultTo))
  switch (type.kind) {
    // As rows hold them: with all digits of the fraction.
    case 'datetime':
      return sqliteText(withFraction(defaultTo, Math.max(3, type.precision ?? 3)))
    case 'time':
      return sqliteText(withFraction(defaultTo, type.precision ?? 0))
    case 'date':
    case 'varchar':
    case 'enum':
    case 'guid':
    case 'set':
    case 'text':
    case 'json':
      return sqliteText(defaultTo)
    case 'varbinary':
    case 'binary':
      return `x'${Buffer.from(defaultTo, 'base64').toString('hex')}'`
    default:
      return defaultTo
  }
}

/** `08:00:00.500` with 6 digits as `08:00:00.500000`. */
function withFraction(text: string, digits: number): string {
  const end = text.endsWith('Z') ? 'Z' : ''
  const [whole = '', fraction = ''] = text.slice(0, text.length - end.length).split('.')
  return digits === 0 ? text : `${whole}.${fraction.padEnd(digits, '0')}${end}`
}

/** `-1.5` with scale 2 as `-150`. */
function unitsText(decimal: string, scale: number): string {
  const [whole = '', part = ''] = decimal.split('.')
  return String(BigInt(`${whole}${part.slice(0, scale).padEnd(scale, '0')}`))
}

/** The values of a column in its new type. */
function converted(before: TableColumn, after: TableColumn): string {
  const column = `\`${before.name}\``
  const value = convertedType(column, before.type, after.type)
  const isFilled = before.nullable && !after.nullable && after.defaultTo !== undefined
  return isFilled ? `COALESCE(${value}, ${sqliteLiteral(after)})` : value
}

function convertedType(column: string, before: ColumnType, after: ColumnType): string {
  const [old, altered] = [scaleOf(before), scaleOf(after)]
  if (isWideUnsigned(after) && !isWideUnsigned(before)) return `printf('%020d', ${column})`
  if (STORAGE[before.kind] === 'INTEGER' && STORAGE[after.kind] === 'TEXT') return `CAST(${column} AS TEXT)`
  if (STORAGE[before.kind] === 'INTEGER' && STORAGE[after.kind] === 'REAL') return `CAST(${column} AS REAL)`
  if (altered > old) return `${column} * ${10n ** BigInt(altered - old)}`
  if (altered === old) return column
  // Half a unit is rounded away from zero, as the servers do.
  const unit = 10n ** BigInt(old - altered)
  return `(${column} + CASE WHEN ${column} < 0 THEN -${unit / 2n} ELSE ${unit / 2n} END) / ${unit}`
}

function scaleOf(type: ColumnType): number {
  return type.kind === 'decimal' ? type.scale : 0
}

/** All but those of full text, which no search needs here. */
function createIndexes(table: Table, indexes = table.indexes): string[] {
  return indexes.filter(({ fullText }) => fullText !== true).map((index) => createIndex(table, index))
}

function createIndex(table: Table, { name, unique, keys }: TableIndex): string {
  const parts = keys.map(
    ({ column, descending }) => `${indexKey(columnOfTable(table, column))}${descending ? ' DESC' : ''}`
  )
  return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS \`${name}\` ON \`${table.name}\` (${parts.join(', ')})`
}

/** SQLite has no collation like that of the servers, so strings are indexed by a key that has the same order. */
function indexKey({ name, type }: TableColumn): string {
  return type.kind === 'varchar' || type.kind === 'enum' ? `sort_key(\`${name}\`)` : `\`${name}\``
}

/**
 * A primary key with text in it compares characters, and the servers compare it as they sort it. So a second index keeps
 * apart what is equal on the servers, and has the rows in the order of the key.
 */
function keyIndex(table: Table): string[] {
  const columns = primaryKeyOf(table).map((name) => columnOfTable(table, name))
  if (!columns.some(({ type }) => type.kind === 'varchar' || type.kind === 'enum')) return []
  const keys = columns.map(({ name }) => ({ column: name, descending: false }))
  const [uniqueName, orderName] = keyIndexNames(table)
  const unique = createIndex(table, { name: uniqueName, unique: true, keys })
  const texts = columns.filter(({ type }) => type.kind === 'varchar').map(({ name }) => `\`${name}\``)
  if (texts.length === 0) return [unique]
  // Rows are sorted by the exact text where their sort keys are equal (keyset.ts), and an expression of a unique index
  // does not tell SQLite that there are no such rows.
  const parts = [...columns.map(indexKey), ...texts].join(', ')
  return [unique, `CREATE INDEX IF NOT EXISTS \`${orderName}\` ON \`${table.name}\` (${parts})`]
}

/** The names of the indexes that `keyIndex` makes for the table. */
function madeKeyIndexes(table: Table): readonly string[] {
  return keyIndexNames(table).slice(0, keyIndex(table).length)
}

function keyIndexNames({ name }: Table): readonly [unique: string, order: string] {
  return [`${name}_key`, `${name}_key_order`]
}

/** SQLite reports a violated RESTRICT as a failed trigger. NO ACTION forbids the same and is reported as a foreign key. */
function references({ to, toColumns, onDelete }: ForeignKey): string {
  return `REFERENCES \`${to}\` (${quotedList(toColumns)}) ON DELETE ${onDelete === 'restrict' ? 'NO ACTION' : 'CASCADE'}`
}
