import {
  type LiveColumn,
  type LiveDefault,
  type LiveForeignKey,
  type LiveIndex,
  type LiveSchema,
  type LiveTable,
  type LiveTrigger,
  parseNativeType,
  referentialAction,
  rowsByTable,
  type SelectRows
} from '../../model/live-schema.js'
import { isToken, sqlTokens, wordsOfCheck } from '../../model/sql-tokens.js'
import { quotedIdentifier } from '../../../data-service/sql/engines/statement.js'

/**
 * Reads the catalogue of the connection's database with one SELECT for each kind of thing, however many tables there are;
 * CHECKs of MariaDB table by table where that lists none. A server shows an account the tables that it has any right to, and
 * foreign keys and triggers only with more than SELECT.
 */
export async function mysqlCatalogue(select: SelectRows, server: 'mysql' | 'mariadb'): Promise<LiveSchema> {
  const present = await select<TableRow>(TABLES)
  const grouped = <Row extends Named>(rows: readonly Row[]) => rowsByTable(rows, (row) => row.TABLE_NAME)
  const [columns, statistics, keys, rules, triggers, checks] = [
    grouped(await select<ColumnRow>(TABLE_COLUMNS)),
    grouped(await select<StatisticsRow>(STATISTICS)),
    grouped(await select<KeyRow>(KEY_COLUMNS)),
    grouped(await select<RuleRow>(RULES)),
    grouped(await select<TriggerRow>(TRIGGERS)),
    grouped(await checksOf(select, server, present))
  ]
  const [settings] = await select<{ areUsual: unknown }>(FULL_TEXT_SETTINGS)
  const tables = present.filter(({ TABLE_TYPE: type }) => type !== 'SEQUENCE')
  const sequences = present
    .filter((row) => !tables.includes(row))
    .map((row): [string, string] => [row.TABLE_NAME, SEQUENCE])
  const described = tables.map((row): [string, LiveTable] => {
    const name = row.TABLE_NAME
    const clauses = (checks.get(name) ?? []).map(({ CHECK_CLAUSE }) => CHECK_CLAUSE)
    const isView = row.TABLE_TYPE === 'VIEW'
    const ownColumns = columns.get(name) ?? []
    const periods = ownColumns.filter(isOfPeriod).map(({ COLUMN_NAME }) => COLUMN_NAME)
    const indexes = mysqlIndexes(
      (statistics.get(name) ?? []).filter(({ COLUMN_NAME: one }) => !periods.includes(one ?? '')),
      Number(settings?.areUsual) === 1
    )
    return [
      name,
      {
        name,
        kind: isView ? 'view' : 'table',
        // That of each view is VIEW.
        comment: isView ? '' : row.TABLE_COMMENT,
        columns: ownColumns.map((column) => mysqlColumn(column, { clauses, server, isView })),
        primaryKey: (indexes.get('PRIMARY')?.keys ?? []).flatMap(({ column }) => column ?? []),
        indexes: [...indexes.values()].filter((index) => index.name !== 'PRIMARY'),
        foreignKeys: mysqlForeignKeys(keys.get(name) ?? [], rules.get(name) ?? []),
        triggers: (triggers.get(name) ?? []).map(mysqlTrigger),
        checks: clauses,
        ...(row.TRANSACTIONS === 'NO' && row.ENGINE !== null ? { withoutTransactions: row.ENGINE } : {}),
        ...(isView && ownColumns.length === 0 ? { broken: NO_COLUMNS } : {})
      }
    ]
  })
  return { server, tables: new Map(described), others: new Map(sequences) }
}

const HERE = 'TABLE_SCHEMA = DATABASE()'

/** Column names are in upper case, as information_schema of both servers has them. */
interface Named {
  readonly TABLE_NAME: string
}

interface TableRow extends Named {
  readonly TABLE_TYPE: string
  readonly TABLE_COMMENT: string
  /** null for a view. */
  readonly ENGINE: string | null
  readonly TRANSACTIONS: string | null
}

const SEQUENCE = 'it is a sequence, which numbers the rows of tables'

/** What a server shows of a view that names a table or column which is gone, or which its definer may not read. */
const NO_COLUMNS = 'the server shows no columns of it: a table or column that it names is gone, or may not be read'

/** Sequences of MariaDB are listed among the tables. A table that keeps its history is a table like others. */
const TABLES =
  'SELECT TABLE_NAME AS TABLE_NAME, TABLE_TYPE AS TABLE_TYPE, TABLE_COMMENT AS TABLE_COMMENT, t.ENGINE AS ENGINE, ' +
  'e.TRANSACTIONS AS TRANSACTIONS FROM information_schema.TABLES t LEFT JOIN information_schema.ENGINES e ' +
  `ON e.ENGINE = t.ENGINE WHERE ${HERE} AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW', 'SEQUENCE') ` +
  'ORDER BY TABLE_NAME'

interface ColumnRow extends Named {
  readonly COLUMN_NAME: string
  readonly COLUMN_DEFAULT: string | null
  readonly IS_NULLABLE: string
  readonly COLUMN_TYPE: string
  readonly COLLATION_NAME: string | null
  readonly EXTRA: string
  readonly COLUMN_COMMENT: string
  readonly GENERATION_EXPRESSION: string | null
}

const TABLE_COLUMNS = `SELECT * FROM information_schema.COLUMNS WHERE ${HERE} ORDER BY TABLE_NAME, ORDINAL_POSITION`

function mysqlColumn(
  row: ColumnRow,
  table: { readonly clauses: readonly string[]; readonly server: 'mysql' | 'mariadb'; readonly isView: boolean }
): LiveColumn {
  const { COLUMN_NAME: name, COLUMN_TYPE: nativeType, EXTRA, GENERATION_EXPRESSION } = row
  const parsed = parseNativeType(nativeType, 'backslash')
  const isJson = parsed.base === 'longtext' && table.clauses.some((clause) => isJsonCheck(clause, name))
  const type = isJson ? { ...parsed, base: 'json' } : parsed
  const extra = EXTRA.toLowerCase()
  const update = extra.indexOf('on update ')
  const isGenerated = extra.includes('virtual generated') || extra.includes('stored generated')
  return {
    name,
    nativeType,
    type,
    nullable: row.IS_NULLABLE === 'YES',
    default: isGenerated || table.isView ? undefined : mysqlDefault(row, type.base, table.server),
    generated: isGenerated
      ? {
          kind: extra.includes('virtual') ? 'virtual' : 'stored',
          expression: table.server === 'mysql' ? unescaped(GENERATION_EXPRESSION ?? '') : (GENERATION_EXPRESSION ?? '')
        }
      : undefined,
    autoIncrement: extra.includes('auto_increment'),
    onUpdate: update < 0 ? undefined : EXTRA.slice(update + 'on update '.length).split(',')[0],
    collation: row.COLLATION_NAME ?? undefined,
    comment: row.COLUMN_COMMENT,
    checkedWords: table.clauses
      .map((clause) => wordsOfCheck(clause, 'backslash'))
      .find((check) => check?.column.toLowerCase() === name.toLowerCase())?.words
  }
}

/** A column of a table that keeps its history, which MariaDB adds to the primary key and to each unique one. */
function isOfPeriod({ GENERATION_EXPRESSION: expression }: ColumnRow): boolean {
  return expression === 'ROW START' || expression === 'ROW END'
}

/** The CHECK that MariaDB gives to a column of the type JSON. */
function isJsonCheck(clause: string, column: string): boolean {
  return clause.toLowerCase() === `json_valid(\`${column.toLowerCase()}\`)`
}

const BYTES: readonly string[] = ['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob']

/** MariaDB writes SQL, `'abc'`, and `NULL`; MySQL writes a literal without quotes, and says of expressions that they are one. */
function mysqlDefault(row: ColumnRow, base: string, server: 'mysql' | 'mariadb'): LiveDefault | undefined {
  const { COLUMN_DEFAULT: text, EXTRA } = row
  if (text === null || (server === 'mariadb' && text === 'NULL')) return undefined
  // The catalogue is text, in which bytes are not what they were.
  if (BYTES.includes(base)) return { kind: 'expression', text }
  const [first, second, third] = sqlTokens(text, 'backslash')
  if (base === 'bit' && first?.value.toLowerCase() === 'b' && second?.kind === 'string' && third === undefined) {
    return { kind: 'literal', value: second.value }
  }
  if (server === 'mysql') {
    // Before MySQL 8 only a timestamp could have an expression.
    const isExpression = EXTRA.includes('DEFAULT_GENERATED') || (isMoment(base) && isToken(first, 'CURRENT_TIMESTAMP'))
    return isExpression ? { kind: 'expression', text: unescaped(text) } : { kind: 'literal', value: text }
  }
  if (first?.kind === 'string' && second === undefined) return { kind: 'literal', value: first.value }
  if (/^-?[\d.]+(?:e[+-]?\d+)?$/i.test(text)) return { kind: 'literal', value: text }
  return { kind: 'expression', text }
}

function isMoment(base: string): boolean {
  return base === 'timestamp' || base === 'datetime'
}

/** The collation D is that of a descending key. An index of an expression, of MySQL 8 alone, has no column. */
interface StatisticsRow extends Named {
  readonly INDEX_NAME: string
  readonly NON_UNIQUE: number | string | bigint
  readonly COLUMN_NAME: string | null
  readonly COLLATION: string | null
  readonly SUB_PART: number | string | null
  readonly INDEX_TYPE: string
  readonly EXPRESSION?: string | null
}

const STATISTICS = `SELECT * FROM information_schema.STATISTICS WHERE ${HERE} ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`

/** Whether a full-text index has the words that `mysqlWords` expects: other settings may leave out more of them. */
const FULL_TEXT_SETTINGS =
  'SELECT @@GLOBAL.innodb_ft_min_token_size <= 3 AND @@GLOBAL.innodb_ft_max_token_size >= 84 AND ' +
  "COALESCE(@@GLOBAL.innodb_ft_server_stopword_table, @@GLOBAL.innodb_ft_user_stopword_table, '') = '' AS areUsual"

function mysqlIndexes(rows: readonly StatisticsRow[], holdsWords: boolean): ReadonlyMap<string, LiveIndex> {
  const indexes = new Map<string, LiveIndex>()
  for (const row of rows) {
    const name = row.INDEX_NAME
    const key = {
      column: row.COLUMN_NAME ?? undefined,
      expression: typeof row.EXPRESSION === 'string' ? unescaped(row.EXPRESSION) : undefined,
      descending: row.COLLATION === 'D',
      prefix: row.SUB_PART === null ? undefined : Number(row.SUB_PART),
      collation: undefined
    }
    indexes.set(name, {
      name,
      unique: Number(row.NON_UNIQUE) === 0,
      keys: [...(indexes.get(name)?.keys ?? []), key],
      partial: false,
      sorted: row.INDEX_TYPE === 'BTREE',
      ...(row.INDEX_TYPE === 'FULLTEXT' && holdsWords ? { fullText: true } : {})
    })
  }
  return indexes
}

interface KeyRow extends Named {
  readonly CONSTRAINT_NAME: string
  readonly COLUMN_NAME: string
  readonly TABLE_SCHEMA: string
  readonly REFERENCED_TABLE_SCHEMA: string
  readonly REFERENCED_TABLE_NAME: string
  readonly REFERENCED_COLUMN_NAME: string
}

const KEY_COLUMNS =
  `SELECT * FROM information_schema.KEY_COLUMN_USAGE WHERE ${HERE} AND REFERENCED_TABLE_NAME IS NOT NULL ` +
  'ORDER BY TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION'

interface RuleRow extends Named {
  readonly CONSTRAINT_NAME: string
  readonly UPDATE_RULE: string
  readonly DELETE_RULE: string
}

const RULES = 'SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE()'

function mysqlForeignKeys(rows: readonly KeyRow[], rules: readonly RuleRow[]): LiveForeignKey[] {
  return [...new Set(rows.map((row) => row.CONSTRAINT_NAME))].map((name) => {
    const parts = rows.filter((row) => row.CONSTRAINT_NAME === name)
    const [first] = parts
    const rule = rules.find((one) => one.CONSTRAINT_NAME === name)
    const schema = first?.REFERENCED_TABLE_SCHEMA
    return {
      name,
      columns: parts.map((row) => row.COLUMN_NAME),
      table: first?.REFERENCED_TABLE_NAME ?? '',
      schema: schema === first?.TABLE_SCHEMA ? undefined : schema,
      referencedColumns: parts.map((row) => row.REFERENCED_COLUMN_NAME),
      // An account with SELECT alone sees foreign keys of MariaDB, but not what they do.
      onDelete: referentialAction(rule?.DELETE_RULE, 'restrict'),
      onUpdate: referentialAction(rule?.UPDATE_RULE, 'restrict')
    }
  })
}

interface TriggerRow extends Named {
  readonly TRIGGER_NAME: string
  readonly ACTION_TIMING: string
  readonly EVENT_MANIPULATION: string
  readonly ACTION_STATEMENT: string | null
}

const TRIGGERS =
  'SELECT EVENT_OBJECT_TABLE AS TABLE_NAME, TRIGGER_NAME AS TRIGGER_NAME, ACTION_TIMING AS ACTION_TIMING, ' +
  'EVENT_MANIPULATION AS EVENT_MANIPULATION, ACTION_STATEMENT AS ACTION_STATEMENT ' +
  'FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() ORDER BY EVENT_OBJECT_TABLE, TRIGGER_NAME'

function mysqlTrigger(row: TriggerRow): LiveTrigger {
  const event = row.EVENT_MANIPULATION.toLowerCase()
  return {
    name: row.TRIGGER_NAME,
    timing: row.ACTION_TIMING.toLowerCase() === 'before' ? 'before' : 'after',
    event: event === 'insert' || event === 'delete' ? event : 'update',
    body: row.ACTION_STATEMENT ?? undefined
  }
}

interface CheckRow extends Named {
  readonly CHECK_CLAUSE: string
}

const CHECKS = {
  mariadb:
    'SELECT TABLE_NAME AS TABLE_NAME, CHECK_CLAUSE AS CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS ' +
    'WHERE CONSTRAINT_SCHEMA = DATABASE() ORDER BY TABLE_NAME, CONSTRAINT_NAME',
  mysql:
    'SELECT t.TABLE_NAME AS TABLE_NAME, c.CHECK_CLAUSE AS CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS c ' +
    'JOIN information_schema.TABLE_CONSTRAINTS t ON t.CONSTRAINT_SCHEMA = c.CONSTRAINT_SCHEMA ' +
    'AND t.CONSTRAINT_NAME = c.CONSTRAINT_NAME WHERE c.CONSTRAINT_SCHEMA = DATABASE() ' +
    'ORDER BY t.TABLE_NAME, c.CONSTRAINT_NAME'
} as const

/** What is before the condition in a line of SHOW CREATE TABLE, at whose end it is. */
const CHECK_OPENING = ' CHECK ('

/** MariaDB lists the CHECKs of a table to accounts that may alter it. In its definition whoever reads it sees them. */
async function checksOf(
  select: SelectRows,
  server: 'mysql' | 'mariadb',
  present: readonly TableRow[]
): Promise<readonly CheckRow[]> {
  const listed = await select<CheckRow>(CHECKS[server])
  if (listed.length > 0 || server === 'mysql') return listed.map((row) => readable(row, server))
  const defined: CheckRow[] = []
  for (const { TABLE_NAME, TABLE_TYPE } of present) {
    if (TABLE_TYPE !== 'BASE TABLE' && TABLE_TYPE !== 'SYSTEM VERSIONED') continue
    const definition = select<{ readonly 'Create Table': string }>(`SHOW CREATE TABLE ${quotedIdentifier(TABLE_NAME)}`)
    // Not even that may be allowed: then the check at start says what the columns lack.
    const [shown] = await definition.catch(() => [])
    for (const line of shown?.['Create Table'].split('\n') ?? []) {
      const at = line.lastIndexOf(CHECK_OPENING)
      const clause = line.slice(at + CHECK_OPENING.length, line.lastIndexOf(')'))
      if (at !== -1) defined.push({ TABLE_NAME, CHECK_CLAUSE: clause })
    }
  }
  return defined
}

function readable(row: CheckRow, server: 'mysql' | 'mariadb'): CheckRow {
  return server === 'mysql' ? { ...row, CHECK_CLAUSE: unescaped(row.CHECK_CLAUSE) } : row
}

/** MySQL shows expressions as texts of which quotes and backslashes are escaped once more: `_utf8mb4\'a\'`. */
function unescaped(expression: string): string {
  return expression.replaceAll(/\\([\\'"])/g, '$1')
}
