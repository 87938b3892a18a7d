import {
  type LiveColumn,
  type LiveDefault,
  type LiveForeignKey,
  type LiveIndex,
  type LiveIndexKey,
  type LiveSchema,
  type LiveTable,
  type LiveTrigger,
  type NativeType,
  parseNativeType,
  referentialAction,
  rowsByTable,
  type SelectRows
} from '../../model/live-schema.js'
import { bracketed, isToken, listed, type SqlToken, sqlTokens, wordsOfCheck } from '../../model/sql-tokens.js'

/**
 * Reads the catalogue of a file with one SELECT for each kind of thing, however many tables there are. What the pragmas do
 * not say, such as a CHECK, is read from the statements that made the tables.
 */
export async function sqliteCatalogue(select: SelectRows): Promise<LiveSchema> {
  const present = (await select<TableListRow>(TABLE_LIST)).filter(({ name }) => !name.startsWith('sqlite_'))
  const tables = present.filter(({ type }) => type !== 'virtual')
  const made = await select<MadeRow>(MADE)
  const grouped = <Row extends OfTable>(rows: readonly Row[]) => rowsByTable(rows, (row) => row.tableName)
  const columns = grouped(await select<ColumnInfoRow>(columnsStatement('table')))
  const broken = new Map<string, string>()
  for (const row of await viewColumns(select, tables, broken)) {
    columns.set(row.tableName, [...(columns.get(row.tableName) ?? []), row])
  }
  const indexes = grouped(await select<IndexRow>(INDEXES))
  const keys = grouped(await select<ForeignKeyRow>(FOREIGN_KEYS))
  const texts = new Map(made.map(({ type, name, sql }) => [`${type} ${name}`, sql ?? '']))
  const primaryKeys = new Map(
    tables.map(({ name }) => [name, sqlitePrimaryKey(columns.get(name) ?? [], indexes.get(name) ?? [])])
  )
  const described = tables.map(({ name, type, wr, strict }): [string, LiveTable] => {
    const definition = type === 'view' ? NO_DEFINITION : readDefinition(texts.get(`table ${name}`) ?? '')
    const primaryKey = primaryKeys.get(name) ?? []
    const storage = { strict: strict === 1, withoutRowid: wr === 1 }
    const reason = broken.get(name)
    const rows = (columns.get(name) ?? []).filter(({ hidden }) => hidden !== 1)
    return [
      name,
      {
        name,
        kind: type === 'view' ? 'view' : 'table',
        comment: '',
        columns: rows.map((row) => sqliteColumn(row, { definition, primaryKey, storage, isView: type === 'view' })),
        primaryKey,
        indexes: sqliteIndexes(indexes.get(name) ?? [], (index) => texts.get(`index ${index}`) ?? ''),
        foreignKeys: sqliteForeignKeys(keys.get(name) ?? [], primaryKeys),
        triggers: made.filter((one) => one.type === 'trigger' && one.tbl_name === name).map(sqliteTrigger),
        checks: definition.checks,
        ...(reason === undefined ? {} : { broken: reason }),
        ...(type === 'view' ? {} : { storage })
      }
    ]
  })
  const others = present.filter(({ type }) => type === 'virtual').map(({ name }): [string, string] => [name, VIRTUAL])
  return { server: 'sqlite', tables: new Map(described), others: new Map(others) }
}

interface TableListRow {
  readonly name: string
  readonly type: string
  /** WITHOUT ROWID */
  readonly wr: number
  readonly strict: number
}

/** Tables that hold the data of virtual ones (`shadow`) are left out. */
const TABLE_LIST =
  'SELECT name, type, wr, strict FROM pragma_table_list ' +
  "WHERE schema = 'main' AND type IN ('table', 'view', 'virtual') ORDER BY name"

/** The columns of a virtual table, such as one of fts5, have no types and no key. */
const VIRTUAL = 'it is a virtual table; a view of it can be served'

interface MadeRow {
  readonly type: string
  readonly name: string
  readonly tbl_name: string
  readonly sql: string | null
}

const MADE = 'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name'

interface OfTable {
  readonly tableName: string
}

interface ColumnInfoRow extends OfTable {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  /** The place in the primary key, from 1; 0 for others. */
  readonly pk: number
  /** 1: a column of a virtual table; 2: VIRTUAL, 3: STORED. */
  readonly hidden: number
}

function columnsStatement(type: 'table' | 'view', name?: string): string {
  const one = name === undefined ? '' : ` AND t.name = '${name.replaceAll("'", "''")}'`
  return (
    'SELECT t.name AS tableName, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden ' +
    `FROM sqlite_master t JOIN pragma_table_xinfo(t.name) c WHERE t.type = '${type}'${one} ORDER BY t.name, c.cid`
  )
}

/** The statement fails as a whole if a single view names what is gone. Then each view is read by itself. */
async function viewColumns(
  select: SelectRows,
  tables: readonly TableListRow[],
  broken: Map<string, string>
): Promise<readonly ColumnInfoRow[]> {
  const read = async (name?: string): Promise<ColumnInfoRow[] | string> => {
    try {
      return await select<ColumnInfoRow>(columnsStatement('view', name))
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
  const all = await read()
  if (typeof all !== 'string') return all
  const rows: ColumnInfoRow[] = []
  for (const { name } of tables.filter(({ type }) => type === 'view')) {
    const found = await read(name)
    if (typeof found === 'string') broken.set(name, found.replace(/^SQLITE_ERROR: /, ''))
    else rows.push(...found)
  }
  return rows
}

function sqliteColumn(
  row: ColumnInfoRow,
  table: {
    readonly definition: Definition
    readonly primaryKey: readonly string[]
    readonly storage: { readonly strict: boolean; readonly withoutRowid: boolean }
    readonly isView: boolean
  }
): LiveColumn {
  const { definition, primaryKey, storage, isView } = table
  const { name } = row
  const type = { ...parseNativeType(row.type, 'none'), unsigned: false, affinity: affinityOf(row.type) }
  const isKey = primaryKey.includes(name)
  const parts = definition.columns.get(name.toLowerCase())
  // https://sqlite.org/lang_createtable.html#rowid: only this spelling makes the column the rowid.
  const isRowid =
    isKey && primaryKey.length === 1 && type.base === 'integer' && !storage.withoutRowid && parts?.isRowid !== false
  return {
    name,
    nativeType: row.type,
    type,
    // A primary key of a table with rowid that is not STRICT takes NULL, unless it is the rowid.
    nullable: row.notnull === 0 && !(isKey && (isRowid || storage.withoutRowid || storage.strict)),
    default: isView ? undefined : sqliteDefault(row.dflt_value),
    generated:
      row.hidden > 1
        ? { kind: row.hidden === 2 ? 'virtual' : 'stored', expression: parts?.generated ?? '' }
        : undefined,
    autoIncrement: isRowid && !isView,
    onUpdate: undefined,
    collation: isView || type.affinity !== 'text' ? undefined : (parts?.collation ?? 'BINARY'),
    comment: '',
    checkedWords: definition.checks
      .map((check) => wordsOfCheck(check, 'none'))
      .find((check) => check?.column.toLowerCase() === name.toLowerCase())?.words
  }
}

/** https://sqlite.org/datatype3.html#determination_of_column_affinity. ANY of a STRICT table keeps each value as it is. */
function affinityOf(declared: string): NonNullable<NativeType['affinity']> {
  const name = declared.toUpperCase()
  if (name === 'ANY') return 'blob'
  if (name.includes('INT')) return 'integer'
  if (['CHAR', 'CLOB', 'TEXT'].some((part) => name.includes(part))) return 'text'
  if (name === '' || name.includes('BLOB')) return 'blob'
  return ['REAL', 'FLOA', 'DOUB'].some((part) => name.includes(part)) ? 'real' : 'numeric'
}

function sqliteDefault(text: string | null): LiveDefault | undefined {
  if (text === null) return undefined
  const [first, second] = sqlTokens(text, 'none')
  if (isToken(first, 'NULL') && second === undefined) return undefined
  if (isToken(first, 'TRUE', 'FALSE') && second === undefined) {
    return { kind: 'literal', value: isToken(first, 'TRUE') ? '1' : '0' }
  }
  if (first?.kind === 'string' && second === undefined) return { kind: 'literal', value: first.value }
  // A name in double quotes that is no column is a text.
  if (first?.kind === 'name' && second === undefined && text.startsWith('"')) {
    return { kind: 'literal', value: first.value }
  }
  if (/^[+-]?[\d.]+(?:e[+-]?\d+)?$/i.test(text)) return { kind: 'literal', value: text.replace(/^\+/, '') }
  return { kind: 'expression', text }
}

interface IndexRow extends OfTable {
  readonly indexName: string
  readonly isUnique: number
  readonly origin: string
  readonly partial: number
  readonly seqno: number
  /** -1 for the rowid, -2 for an expression */
  readonly cid: number
  readonly name: string | null
  readonly desc: number
  readonly coll: string
}

const INDEXES =
  'SELECT t.name AS tableName, l.name AS indexName, l."unique" AS isUnique, l.origin, l.partial, x.seqno, x.cid, x.name, ' +
  'x.desc, x.coll FROM sqlite_master t JOIN pragma_index_list(t.name) l JOIN pragma_index_xinfo(l.name) x ' +
  "WHERE t.type = 'table' AND x.key = 1 ORDER BY t.name, l.name, x.seqno"

/** An index keeps the order in which the primary key names its columns. A rowid has none. */
function sqlitePrimaryKey(columns: readonly ColumnInfoRow[], indexes: readonly IndexRow[]): string[] {
  const indexed = indexes.flatMap(({ origin, name }) => (origin === 'pk' ? (name ?? []) : []))
  if (indexed.length > 0) return indexed
  return columns
    .filter(({ pk }) => pk > 0)
    .toSorted((one, other) => one.pk - other.pk)
    .map(({ name }) => name)
}

function sqliteIndexes(rows: readonly IndexRow[], textOf: (index: string) => string): LiveIndex[] {
  const indexes = new Map<string, LiveIndex>()
  for (const row of rows) {
    if (row.origin === 'pk') continue
    const before = indexes.get(row.indexName)
    indexes.set(row.indexName, {
      name: row.indexName,
      unique: row.isUnique === 1,
      keys: [...(before?.keys ?? []), indexKeyOf(row, textOf(row.indexName))],
      partial: row.partial === 1,
      sorted: true
    })
  }
  return [...indexes.values()]
}

function indexKeyOf(row: IndexRow, sql: string): LiveIndexKey {
  const shared = { descending: row.desc === 1, prefix: undefined, collation: row.coll.toUpperCase() }
  if (row.name !== null) return { column: row.name, expression: undefined, ...shared }
  const tokens = sqlTokens(sql, 'none')
  const open = tokens.findIndex((token) => isToken(token, '('))
  const part = open < 0 ? [] : (listed(bracketed(tokens, open).inner)[row.seqno] ?? [])
  const expression = part.filter((token, at) => !(at === part.length - 1 && isToken(token, 'ASC', 'DESC')))
  const names = expression.filter(
    ({ kind }, at) => kind === 'name' || (kind === 'word' && !isToken(expression[at + 1], '('))
  )
  const [only, second] = names
  return {
    column: only !== undefined && second === undefined && expression.length === 4 ? only.value : undefined,
    expression: spelled(expression, sql),
    ...shared
  }
}

function spelled(tokens: readonly SqlToken[], sql: string): string {
  return sql.slice(tokens[0]?.start ?? 0, tokens.at(-1)?.end ?? 0)
}

interface ForeignKeyRow extends OfTable {
  readonly id: number
  readonly seq: number
  readonly table: string
  readonly from: string
  /** null: the primary key of the table. */
  readonly to: string | null
  readonly on_update: string
  readonly on_delete: string
}

/** The last one that was declared comes first in the pragma. */
const FOREIGN_KEYS =
  'SELECT t.name AS tableName, k.id, k.seq, k."table", k."from", k."to", k.on_update, k.on_delete ' +
  "FROM sqlite_master t JOIN pragma_foreign_key_list(t.name) k WHERE t.type = 'table' ORDER BY t.name, k.id DESC, k.seq"

function sqliteForeignKeys(
  rows: readonly ForeignKeyRow[],
  primaryKeys: ReadonlyMap<string, readonly string[]>
): LiveForeignKey[] {
  return [...new Set(rows.map(({ id }) => id))].map((id) => {
    const parts = rows.filter((row) => row.id === id)
    const table = parts[0]?.table ?? ''
    const named = parts.flatMap(({ to }) => to ?? [])
    const spelledTable = [...primaryKeys.keys()].find((one) => one.toLowerCase() === table.toLowerCase())
    return {
      name: undefined,
      columns: parts.map(({ from }) => from),
      table: spelledTable ?? table,
      schema: undefined,
      referencedColumns: named.length > 0 ? named : (primaryKeys.get(spelledTable ?? '') ?? []),
      onDelete: referentialAction(parts[0]?.on_delete, 'no action'),
      onUpdate: referentialAction(parts[0]?.on_update, 'no action')
    }
  })
}

/** `CREATE TRIGGER name [BEFORE | AFTER | INSTEAD OF] DELETE | INSERT | UPDATE … ON table … BEGIN …`. The default is BEFORE. */
function sqliteTrigger({ name, sql }: MadeRow): LiveTrigger {
  const text = sql ?? ''
  const tokens = sqlTokens(text, 'none')
  // Its own name may be any word, but stands before these.
  const at = tokens.findIndex((token, index) => index > 2 && isToken(token, 'DELETE', 'INSERT', 'UPDATE'))
  const event = isToken(tokens[at], 'DELETE') ? 'delete' : isToken(tokens[at], 'INSERT') ? 'insert' : 'update'
  const before = tokens[at - 1]
  const body = tokens.find((token) => isToken(token, 'BEGIN'))
  return {
    name,
    timing: isToken(before, 'OF') ? 'instead of' : isToken(before, 'AFTER') ? 'after' : 'before',
    event,
    body: text.slice(body?.start ?? 0)
  }
}

/** What only the text of CREATE TABLE says. Columns are in lower case. */
interface Definition {
  readonly columns: ReadonlyMap<string, ColumnDefinition>
  readonly checks: readonly string[]
}

interface ColumnDefinition {
  readonly collation: string | undefined
  readonly generated: string | undefined
  /** false for `INTEGER PRIMARY KEY DESC`, which is no rowid. */
  readonly isRowid: boolean
}

const NO_DEFINITION: Definition = { columns: new Map(), checks: [] }

function readDefinition(sql: string): Definition {
  const tokens = sqlTokens(sql, 'none')
  const open = tokens.findIndex((token) => isToken(token, '('))
  if (open < 0) return NO_DEFINITION
  const columns = new Map<string, ColumnDefinition>()
  const checks: string[] = []
  for (const part of listed(bracketed(tokens, open).inner)) {
    const [first] = part
    /** The text within the brackets that come after the token. */
    const within = (at: number): string => spelled(bracketed(part, at + 1).inner, sql)
    let depth = 0
    part.forEach((token, at) => {
      if (isToken(token, '(')) depth++
      else if (isToken(token, ')')) depth--
      if (depth === 0 && isToken(token, 'CHECK') && isToken(part[at + 1], '(')) checks.push(within(at))
    })
    if (first === undefined || isToken(first, 'CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN')) continue
    const after = (...words: readonly string[]): number =>
      part.findIndex((token, at) => at > 0 && isToken(token, ...words))
    const collate = after('COLLATE')
    const generated = part.findIndex((token, at) => at > 0 && isToken(token, 'AS') && isToken(part[at + 1], '('))
    const primary = after('PRIMARY')
    columns.set(first.value.toLowerCase(), {
      collation: collate < 0 ? undefined : part[collate + 1]?.value.toUpperCase(),
      generated: generated < 0 ? undefined : within(generated),
      isRowid: !(primary > 0 && isToken(part[primary + 2], 'DESC'))
    })
  }
  return { columns, checks }
}
