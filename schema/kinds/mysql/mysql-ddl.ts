import {
  columnOfTable,
  type ForeignKey,
  type PresentTable,
  primaryKeyOf,
  quotedList,
  type Table,
  type TableChange,
  type TableColumn,
  type TableIndex,
  type TablePart,
  versionOfOld
} from '../../model/tables.js'

export const TABLE_OPTIONS = 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4'

/**
 * The statements of a change. Each of them commits by itself, so that an interrupted migration runs again from its start:
 * a change is one ALTER TABLE, which takes effect as a whole, and what is `present` already (undefined: all is as `before`
 * says) is left out of it.
 */
export function mysqlStatements(
  { step, before, after }: TableChange,
  collation: string,
  present: PresentTable | undefined
): readonly string[] {
  const write = (column: TableColumn): string => columnDefinition(column, collation)
  const alter = (clauses: readonly string[]): string[] =>
    clauses.length === 0 ? [] : [`ALTER TABLE \`${step.table}\` ${clauses.join(', ')}`]
  /** What an earlier run of the migration has not added, and what none has dropped yet. */
  const missing = <P extends { readonly name: string }>(part: TablePart, all: readonly P[]): P[] =>
    all.filter(({ name }) => present?.[part].has(name) !== true)
  const there = (part: TablePart, names: readonly string[]): string[] =>
    names.filter((name) => present?.[part].has(name) !== false)
  const added = (indexes: readonly TableIndex[]): string[] =>
    missing('indexes', resolved(after, indexes)).flatMap((index) =>
      indexDefinition(index, collation).map((part) => `ADD ${part}`)
    )
  const dropped = (names: readonly string[]): string[] =>
    there('indexes', names).flatMap((name) => {
      const isFullText = before?.indexes.some((one) => one.name === name && one.fullText === true)
      return [`DROP INDEX \`${name}\``, ...(isFullText === true ? [`DROP COLUMN \`${name}\``] : [])]
    })
  switch (step.kind) {
    case 'createTable':
      return after === undefined ? [] : [mysqlCreateTable(after, write, collation)]
    case 'renameTable':
      return present?.columns.size === 0 ? [] : alter([`RENAME TO \`${step.to}\``])
    case 'dropTable':
      return [`DROP TABLE IF EXISTS \`${step.table}\``]
    case 'addColumns':
      return alter([
        ...missing('columns', step.columns).map((column) => `ADD COLUMN ${write(column)}${versionOfOld(column)}`),
        ...added(step.indexes),
        ...missing('foreignKeys', step.foreignKeys).map((key) => `ADD ${foreignKeyDefinition(key)}`)
      ])
    case 'alterColumn':
      return [...fillNulls(before, step), ...alter([`MODIFY COLUMN ${write(asInTable(after, step.column))}`])]
    case 'renameColumn':
      return there('columns', [step.from]).flatMap(() => alter([`RENAME COLUMN \`${step.from}\` TO \`${step.to}\``]))
    case 'dropColumns': {
      const gone = <P extends { readonly name: string }>(part: (table: Table) => readonly P[]): string[] => {
        const left = after === undefined ? [] : part(after).map(({ name }) => name)
        return before === undefined ? [] : part(before).flatMap(({ name }) => (left.includes(name) ? [] : [name]))
      }
      return alter([
        ...there(
          'foreignKeys',
          gone((table) => table.foreignKeys)
        ).map((name) => `DROP FOREIGN KEY \`${name}\``),
        ...dropped(gone((table) => table.indexes)),
        ...there('columns', step.columns).map((name) => `DROP COLUMN \`${name}\``)
      ])
    }
    case 'addIndexes':
      return alter(added(step.indexes))
    case 'dropIndexes':
      return alter(dropped(step.indexes))
    case 'addForeignKeys':
      return alter(missing('foreignKeys', step.foreignKeys).map((key) => `ADD ${foreignKeyDefinition(key)}`))
    case 'dropForeignKeys':
      return alter(there('foreignKeys', step.foreignKeys).map((name) => `DROP FOREIGN KEY \`${name}\``))
  }
}

/** A SELECT of the `kind` and `name` of all that a table has. `schema` is its database, where it is another. */
export function mysqlPresence(table: string, schema: string | undefined): string {
  const database = schema === undefined ? 'DATABASE()' : quotedText(schema)
  const of = `WHERE TABLE_SCHEMA = ${database} AND TABLE_NAME = ${quotedText(table)}`
  return (
    `SELECT 'column' AS kind, COLUMN_NAME AS name, NULL AS text FROM information_schema.COLUMNS ${of} UNION ALL ` +
    `SELECT DISTINCT 'index', INDEX_NAME, NULL FROM information_schema.STATISTICS ${of} UNION ALL ` +
    `SELECT 'foreignKey', CONSTRAINT_NAME, NULL FROM information_schema.TABLE_CONSTRAINTS ${of} ` +
    "AND CONSTRAINT_TYPE = 'FOREIGN KEY'"
  )
}

/** A table is made together with its indexes, since each statement commits by itself. */
function mysqlCreateTable(table: Table, write: (column: TableColumn) => string, collation: string): string {
  const { name, columns, indexes, foreignKeys } = table
  const primary = primaryKeyOf(table)
  const lines = [
    ...columns.map(write),
    ...(primary.length === 0 ? [] : [`PRIMARY KEY (${quotedList(primary)})`]),
    ...indexes.flatMap((index) => indexDefinition(index, collation)),
    ...foreignKeys.map(foreignKeyDefinition)
  ]
  return `CREATE TABLE IF NOT EXISTS \`${name}\` (${lines.join(', ')}) ${TABLE_OPTIONS}`
}

function columnDefinition(column: TableColumn, collation: string): string {
  const { name, nullable, key, defaultTo } = column
  const type = `${columnType(column, collation)}${nullable ? '' : ' NOT NULL'}`
  const filled = defaultTo === undefined ? type : `${type} DEFAULT ${mysqlLiteral(column)}`
  return `\`${name}\` ${filled}${key === 'autoIncrement' ? ' AUTO_INCREMENT' : ''}${checkOf(column)}`
}

/** The words of an enum that is kept as text. A CHECK of the column goes with it when it is altered again. */
function checkOf({ name, type }: TableColumn): string {
  if (type.kind !== 'enum' || type.length === undefined) return ''
  return ` CHECK (\`${name}\` IN (${type.words.map(quotedText).join(', ')}))`
}

function columnType({ type }: TableColumn, collation: string): string {
  switch (type.kind) {
    case 'varchar':
      return `VARCHAR(${type.length}) CHARACTER SET utf8mb4 COLLATE ${collation}`
    case 'text':
      return `${sizeWord(type.bytes)}TEXT CHARACTER SET utf8mb4 COLLATE ${collation}`
    case 'boolean':
      return 'TINYINT(1)'
    case 'tinyint':
    case 'smallint':
    case 'mediumint':
    case 'int':
    case 'bigint':
      return `${type.kind.toUpperCase()}${type.unsigned === true ? ' UNSIGNED' : ''}`
    case 'bit':
      return `BIT(${type.bits})`
    case 'year':
    case 'double':
    case 'float':
    case 'date':
      return type.kind.toUpperCase()
    case 'time':
      return `TIME(${type.precision ?? 0})`
    case 'enum':
    case 'set':
      if ('length' in type) return `VARCHAR(${type.length}) CHARACTER SET utf8mb4 COLLATE ${collation}`
      return `${type.kind.toUpperCase()}(${type.words.map(quotedText).join(', ')}) CHARACTER SET utf8mb4 COLLATE ${collation}`
    case 'json':
      // The type JSON of MySQL keeps numbers as doubles. This is what MariaDB makes of JSON.
      return 'LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin'
    case 'varbinary':
      return type.length <= LONGEST_VARBINARY ? `VARBINARY(${type.length})` : `${sizeWord(type.length)}BLOB`
    case 'binary':
      return `BINARY(${type.length})`
    case 'decimal':
      return `DECIMAL(${type.precision},${type.scale})`
    case 'datetime':
      return `DATETIME(${type.precision ?? 3})`
    case 'guid':
      return 'CHAR(36) CHARACTER SET ascii COLLATE ascii_bin'
    case 'rowVersion':
      return 'BINARY(8)'
  }
}

/** Bytes. A longer one would take too much of the 65,535 that a row has. */
const LONGEST_VARBINARY = 16_383

/** The size of a TEXT or BLOB that so many bytes fit into. */
function sizeWord(bytes: number): 'TINY' | '' | 'MEDIUM' | 'LONG' {
  return bytes < 2 ** 8 ? 'TINY' : bytes < 2 ** 16 ? '' : bytes < 2 ** 24 ? 'MEDIUM' : 'LONG'
}

function mysqlLiteral({ type, defaultTo }: TableColumn): string {
  if (typeof defaultTo !== 'string') return String(Number(defaultTo))
  switch (type.kind) {
    case 'datetime':
      return `'${defaultTo.replace('T', ' ').replace('Z', '')}'`
    case 'varchar':
    case 'guid':
    case 'enum':
    case 'date':
    case 'time':
    case 'set':
      return quotedText(defaultTo)
    // MySQL takes no literal for these, and from 8.0.13 an expression; MariaDB takes both.
    case 'text':
    case 'json':
      return `(${quotedText(defaultTo)})`
    case 'varbinary':
    case 'binary':
      return `(x'${Buffer.from(defaultTo, 'base64').toString('hex')}')`
    default:
      return defaultTo
  }
}

/** A text as a literal of a statement. */
export function quotedText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
}

/** A column that was nullable gets its default in the rows without a value. */
function fillNulls(before: Table | undefined, { column }: { readonly column: TableColumn }): readonly string[] {
  if (before === undefined || column.nullable || column.defaultTo === undefined) return []
  if (!asInTable(before, column).nullable) return []
  return [`UPDATE \`${before.name}\` SET \`${column.name}\` = ${mysqlLiteral(column)} WHERE \`${column.name}\` IS NULL`]
}

function asInTable(table: Table | undefined, column: TableColumn): TableColumn {
  return table === undefined ? column : columnOfTable(table, column.name)
}

/** The indexes of a step as the table has them: with the primary key. */
function resolved(after: Table | undefined, indexes: readonly TableIndex[]): TableIndex[] {
  return (after?.indexes ?? []).filter(({ name }) => indexes.some((one) => one.name === name))
}

/**
 * The parts of a table that make an index. In a collation that tells accents apart MariaDB does not find all words with a
 * beginning, so a full-text index is of a copy of the texts in one that does not.
 */
export function indexDefinition({ name, unique, keys, fullText }: TableIndex, collation: string): string[] {
  if (fullText) {
    const type = `MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE ${collation.replace('_as_', '_ai_')}`
    const texts = quotedList(keys.map(({ column }) => column))
    return [`\`${name}\` ${type} AS (CONCAT_WS(' ', ${texts})) STORED`, `FULLTEXT INDEX \`${name}\` (\`${name}\`)`]
  }
  const parts = keys.map(({ column, descending }) => `\`${column}\`${descending ? ' DESC' : ''}`)
  return [`${unique ? 'UNIQUE ' : ''}INDEX \`${name}\` (${parts.join(', ')})`]
}

function foreignKeyDefinition({ name, columns, to, toColumns, onDelete }: ForeignKey): string {
  return (
    `CONSTRAINT \`${name}\` FOREIGN KEY (${quotedList(columns)}) ` +
    `REFERENCES \`${to}\` (${quotedList(toColumns)}) ON DELETE ${onDelete.toUpperCase()}`
  )
}
