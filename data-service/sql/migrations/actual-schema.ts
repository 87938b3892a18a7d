import { QueryTypes, type Sequelize } from 'sequelize'

/** What stands in a database, as its catalogue tells. */
export interface ActualSchema {
  /** Table to its columns. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  /** `table.column ASC` or `table.column DESC` for the first key of each index and whatever it sorts by next. */
  readonly orders: ReadonlySet<string>
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
    orders: new Set(
      indexRows.map((row) => `${row.tableName}.${row.columnName} ${Number(row.isDescending) === 1 ? 'DESC' : 'ASC'}`)
    )
  }
}
