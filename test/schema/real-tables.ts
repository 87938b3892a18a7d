import { QueryTypes, type Sequelize } from 'sequelize'
import { type ColumnType, primaryKeyOf, type Schema, type Table } from '../../schema/model/tables.js'
import type { DatabaseKind } from '../stack/databases.js'

/** A table in texts, the same for what migrations say and for what the database says of itself. */
interface TableTexts {
  readonly columns: readonly string[]
  /** The columns of the primary key, in its order. */
  readonly primaryKey: string
  readonly indexes: readonly string[]
  readonly foreignKeys: readonly string[]
}

const TYPES: Record<DatabaseKind, (type: ColumnType) => string> = {
  sqlite: (type) =>
    (type.kind === 'bigint' && type.unsigned === true) || (type.kind === 'bit' && type.bits > 32)
      ? 'TEXT'
      : {
          varchar: 'TEXT',
          text: 'TEXT',
          guid: 'TEXT',
          datetime: 'TEXT',
          date: 'TEXT',
          time: 'TEXT',
          enum: 'TEXT',
          set: 'TEXT',
          json: 'TEXT',
          tinyint: 'INTEGER',
          smallint: 'INTEGER',
          mediumint: 'INTEGER',
          int: 'INTEGER',
          bigint: 'INTEGER',
          year: 'INTEGER',
          bit: 'INTEGER',
          boolean: 'INTEGER',
          decimal: 'INTEGER',
          double: 'REAL',
          float: 'REAL',
          varbinary: 'BLOB',
          binary: 'BLOB',
          rowVersion: 'BLOB'
        }[type.kind],
  mysql: (type) => {
    switch (type.kind) {
      case 'varchar':
        return `varchar(${type.length})`
      case 'decimal':
        return `decimal(${type.precision},${type.scale})`
      case 'boolean':
        return 'tinyint(1)'
      case 'datetime':
        return type.precision === 0 ? 'datetime' : `datetime(${type.precision ?? 3})`
      case 'time':
        return type.precision === undefined ? 'time' : `time(${type.precision})`
      case 'text':
        return `${sizeOf(type.bytes)}text`
      case 'year':
        return 'year(4)'
      case 'bit':
        return `bit(${type.bits})`
      case 'enum':
      case 'set':
        if ('length' in type) return `varchar(${type.length})`
        return `${type.kind}(${type.words.map((word) => `'${word.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`).join()})`
      case 'json':
        return 'longtext'
      case 'varbinary':
        return type.length > 16_383 ? `${sizeOf(type.length)}blob` : `varbinary(${type.length})`
      case 'binary':
        return `binary(${type.length})`
      case 'double':
      case 'float':
      case 'date':
        return type.kind
      case 'guid':
        return 'char(36)'
      case 'rowVersion':
        return 'binary(8)'
      case 'tinyint':
      case 'smallint':
      case 'mediumint':
      case 'int':
      case 'bigint':
        return `${type.kind}${type.unsigned === true ? ' unsigned' : ''}`
    }
  }
}

/** The size of a TEXT or BLOB that so many bytes fit into. */
function sizeOf(bytes: number): string {
  return bytes < 2 ** 8 ? 'tiny' : bytes < 2 ** 16 ? '' : bytes < 2 ** 24 ? 'medium' : 'long'
}

/** What migrations say. The order of columns and indexes is left out: no statement depends on it. */
export function modelTexts(schema: Schema, kind: DatabaseKind): Record<string, TableTexts> {
  return Object.fromEntries(
    Array.from(schema, ([name, table]: [string, Table]) => {
      const { columns, indexes, foreignKeys } = table
      const sorted = indexes.filter(({ fullText }) => fullText !== true)
      // A full-text index of a server is of a column that it has besides.
      const words = kind === 'sqlite' ? [] : indexes.filter((one) => !sorted.includes(one))
      const texts: TableTexts = {
        columns: [
          ...words.map((one) => `${one.name} mediumtext`),
          ...columns.map(
            (one) => `${one.name} ${TYPES[kind](one.type)}${one.nullable ? '' : ' NOT NULL'}${keyText(one.key)}`
          )
        ].toSorted(),
        primaryKey: primaryKeyOf(table).join(),
        indexes: [
          ...(kind === 'sqlite' ? keyIndexes(table) : []),
          ...words.map((one) => `${one.name} (${one.name})`),
          ...sorted.map(({ name: index, unique, keys }) => {
            const parts = keys.map(({ column, descending }) => `${column}${descending ? ' DESC' : ''}`)
            return `${index}${unique ? ' unique' : ''} (${parts.join(', ')})`
          })
        ].toSorted(),
        foreignKeys: foreignKeys
          .map(({ columns: own, to, toColumns, onDelete }) => `${own.join()} → ${to}.${toColumns.join()} ${onDelete}`)
          .toSorted()
      }
      return [name, texts]
    })
  )
}

/** The indexes that SQLite needs of a key with texts, besides the one that it makes itself (decision 024). */
function keyIndexes(table: Table): string[] {
  const primary = primaryKeyOf(table)
  const ofKind = (...kinds: readonly ColumnType['kind'][]): string[] =>
    primary.filter((one) => table.columns.some(({ name, type }) => name === one && kinds.includes(type.kind)))
  if (ofKind('varchar', 'enum').length === 0) return []
  const texts = ofKind('varchar')
  return [
    `${table.name}_key unique (${primary.join(', ')})`,
    ...(texts.length === 0 ? [] : [`${table.name}_key_order (${[...primary, ...texts].join(', ')})`])
  ]
}

function keyText(key: string): string {
  return key === 'none' ? '' : ' KEY'
}

/** What the database says of the tables. */
export async function realTexts(
  sequelize: Sequelize,
  { kind, tables }: { readonly kind: DatabaseKind; readonly tables: Iterable<string> }
): Promise<Record<string, TableTexts>> {
  const select = (sql: string): Promise<Record<string, unknown>[]> => sequelize.query(sql, { type: QueryTypes.SELECT })
  const texts = async (sql: string): Promise<string[]> => (await select(sql)).map(({ text }) => String(text)).toSorted()
  const found: Record<string, TableTexts> = {}
  for (const table of tables) {
    found[table] =
      kind === 'sqlite'
        ? {
            columns: await texts(
              `SELECT name || ' ' || type || IIF("notnull", ' NOT NULL', '') || IIF(pk, ' KEY', '') AS text
              FROM pragma_table_info('${table}')`
            ),
            primaryKey: (await select(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`))
              .map(({ name }) => String(name))
              .join(),
            indexes: (
              await select(
                `SELECT sql FROM sqlite_master WHERE tbl_name = '${table}' AND type = 'index' AND sql IS NOT NULL`
              )
            )
              .map(({ sql }) => indexText(String(sql)))
              .toSorted(),
            foreignKeys: await texts(
              `SELECT group_concat("from") || ' → ' || "table" || '.' || group_concat("to") ||
                IIF(on_delete = 'CASCADE', ' cascade', ' restrict') AS text
              FROM (SELECT * FROM pragma_foreign_key_list('${table}') ORDER BY id, seq) GROUP BY id`
            )
          }
        : {
            columns: (
              await texts(
                `SELECT CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, IF(IS_NULLABLE = 'YES', '', ' NOT NULL'),
                IF(COLUMN_KEY = 'PRI', ' KEY', '')) AS text FROM information_schema.COLUMNS
                WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'`
              )
            ).map((text) => text.replace(/\b(tinyint|smallint|mediumint|int|bigint)\((?!1\))\d+\)/, '$1')),
            primaryKey: (
              await texts(
                `SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) AS text FROM information_schema.STATISTICS
                WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}' AND INDEX_NAME = 'PRIMARY'`
              )
            ).join(),
            indexes: await texts(
              `SELECT CONCAT(INDEX_NAME, IF(NON_UNIQUE, '', ' unique'), ' (', GROUP_CONCAT(
                CONCAT(COLUMN_NAME, IF(COLLATION = 'D', ' DESC', '')) ORDER BY SEQ_IN_INDEX SEPARATOR ', '), ')') AS text
              FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '${table}'
              AND INDEX_NAME <> 'PRIMARY' GROUP BY INDEX_NAME, NON_UNIQUE`
            ),
            foreignKeys: await texts(
              `SELECT CONCAT(GROUP_CONCAT(k.COLUMN_NAME ORDER BY k.ORDINAL_POSITION), ' → ', k.REFERENCED_TABLE_NAME, '.',
                GROUP_CONCAT(k.REFERENCED_COLUMN_NAME ORDER BY k.ORDINAL_POSITION), ' ', LOWER(r.DELETE_RULE)) AS text
              FROM information_schema.KEY_COLUMN_USAGE k JOIN information_schema.REFERENTIAL_CONSTRAINTS r
                ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME
              WHERE k.TABLE_SCHEMA = DATABASE() AND k.TABLE_NAME = '${table}'
              GROUP BY k.CONSTRAINT_NAME, k.REFERENCED_TABLE_NAME, r.DELETE_RULE`
            )
          }
  }
  return found
}

/** `CREATE UNIQUE INDEX IF NOT EXISTS \`a\` ON \`t\` (sort_key(\`b\`) DESC, \`id\`)` in the form of the others. */
function indexText(sql: string): string {
  const [, unique, name = '', keys = ''] = /^CREATE (UNIQUE )?INDEX `([^`]+)` ON `[^`]+` \((.*)\)$/.exec(
    sql.replace('IF NOT EXISTS ', '')
  ) ?? [undefined, undefined, sql]
  return `${name}${unique === undefined ? '' : ' unique'} (${keys.replaceAll(/sort_key\(`(\w+)`\)|`(\w+)`/g, '$1$2')})`
}
