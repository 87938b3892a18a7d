import { bracketed, type Escapes, isToken, listed, sqlTokens } from './sql-tokens.js'

/** The tables and views of an opened database as its catalogue describes them, whoever made them. Plain data. */
export interface LiveSchema {
  /** What the database is: `sqlite`, `mysql` or `mariadb`. The two servers differ in types and in what their catalogues say. */
  readonly server: string
  /** By name as the database spells it, in the order of names. Without system tables, sequences and virtual tables. */
  readonly tables: ReadonlyMap<string, LiveTable>
  /** What a person may take for a table and is not described, by name, with the reason: "it is a sequence". */
  readonly others: ReadonlyMap<string, string>
}

export interface LiveTable {
  readonly name: string
  readonly kind: 'table' | 'view'
  /** Empty where there is none, and on SQLite, which has none. */
  readonly comment: string
  /** In the order of the table. A view that the database cannot read has none, and `broken`. */
  readonly columns: readonly LiveColumn[]
  /** The columns of the primary key in order. Empty for a view and a table without one. */
  readonly primaryKey: readonly string[]
  /** All indexes but that of the primary key, in the order of names. */
  readonly indexes: readonly LiveIndex[]
  /** In the order of names on MySQL, and of declaration on SQLite. */
  readonly foreignKeys: readonly LiveForeignKey[]
  /** In the order of names. */
  readonly triggers: readonly LiveTrigger[]
  /** The expressions of its CHECK constraints, as the database spells them. */
  readonly checks: readonly string[]
  /** The database's reason why a view cannot be read, such as a column that is gone. */
  readonly broken?: string
  /** The storage engine of MySQL or MariaDB, `MyISAM`, if it has no transactions: what a statement wrote cannot be taken back. */
  readonly withoutTransactions?: string
  /** Of SQLite alone: whether the table is STRICT, and whether it is WITHOUT ROWID. */
  readonly storage?: { readonly strict: boolean; readonly withoutRowid: boolean }
}

export interface LiveColumn {
  readonly name: string
  /** The type as the database says it, `int(10) unsigned`; empty on SQLite for a column that declares none. */
  readonly nativeType: string
  readonly type: NativeType
  readonly nullable: boolean
  /** undefined: no default, or NULL. */
  readonly default: LiveDefault | undefined
  /** The column is computed by the database; `expression` is empty if this account may not see it. */
  readonly generated: { readonly kind: 'virtual' | 'stored'; readonly expression: string } | undefined
  /** Whether the database numbers new rows: AUTO_INCREMENT, or the rowid of a SQLite table under this name. */
  readonly autoIncrement: boolean
  /** The expression of ON UPDATE, `current_timestamp(3)`. MySQL and MariaDB alone. */
  readonly onUpdate: string | undefined
  /** `utf8mb4_bin`, or on SQLite `NOCASE`, `RTRIM`, `BINARY`; undefined for a column that holds no text, and of a view of SQLite. */
  readonly collation: string | undefined
  readonly comment: string
  /** The words of a CHECK that says nothing but `column IN ('a', 'b')`. Those of an enum are in its type. */
  readonly checkedWords: readonly string[] | undefined
}

/** A native type in its parts. */
export interface NativeType {
  /**
   * The name in lower case without numbers and attributes, `varchar`, `double precision`. A column of MariaDB that is `JSON`
   * is a LONGTEXT with a CHECK of json_valid(…); its base is `json`. Empty if none is declared.
   */
  readonly base: string
  /** Of text and bytes the longest value, of `bit` the bits, of a whole number the display width. */
  readonly length: number | undefined
  /** Of decimals all digits, of times and datetimes the digits of the fraction of a second. */
  readonly precision: number | undefined
  /** Of decimals the digits after the point. */
  readonly scale: number | undefined
  readonly unsigned: boolean
  /** The words of an enum or a set in order. */
  readonly words: readonly string[] | undefined
  /** What SQLite makes of the declared type (https://sqlite.org/datatype3.html#determination_of_column_affinity). */
  readonly affinity: 'integer' | 'text' | 'blob' | 'real' | 'numeric' | undefined
}

/** A literal as the text of its value without quotes, `1.50`; bits as `0` and `1`. An expression as the database spells it. */
export type LiveDefault =
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'expression'; readonly text: string }

export interface LiveIndex {
  readonly name: string
  readonly unique: boolean
  readonly keys: readonly LiveIndexKey[]
  /** A partial index of SQLite holds the rows that satisfy its WHERE alone. */
  readonly partial: boolean
  /** Whether it is sorted, so that it serves comparisons and orders: not that of full text, of places, and of a hash. */
  readonly sorted: boolean
  /** Whether it holds the words of texts. */
  readonly fullText?: true
}

export interface LiveIndexKey {
  /** undefined for an expression that is no function of one column. */
  readonly column: string | undefined
  /** The expression of the key where it is more than the column: ``sort_key(`name`)``. */
  readonly expression: string | undefined
  readonly descending: boolean
  /** Only so many characters or bytes of the column are in the index. */
  readonly prefix: number | undefined
  /** Of SQLite: the collation by which it is sorted. */
  readonly collation: string | undefined
}

export interface LiveForeignKey {
  /** undefined on SQLite, whose catalogue has no names of constraints. */
  readonly name: string | undefined
  readonly columns: readonly string[]
  readonly table: string
  /** The schema of the table where it is another one than that of the foreign key. */
  readonly schema: string | undefined
  readonly referencedColumns: readonly string[]
  readonly onDelete: ReferentialAction
  readonly onUpdate: ReferentialAction
}

export type ReferentialAction = 'cascade' | 'restrict' | 'set null' | 'set default' | 'no action'

export function referentialAction(word: string | undefined, otherwise: ReferentialAction): ReferentialAction {
  const words: readonly ReferentialAction[] = ['cascade', 'restrict', 'set null', 'set default', 'no action']
  return words.find((one) => one === word?.toLowerCase()) ?? otherwise
}

export interface LiveTrigger {
  readonly name: string
  readonly timing: 'before' | 'after' | 'instead of'
  readonly event: 'insert' | 'update' | 'delete'
  /** What it runs. undefined if this account may not see it: MySQL hides such a trigger altogether, MariaDB its body. */
  readonly body: string | undefined
}

/** The procedures of a database that the account may see. */
export interface LiveProcedures {
  /** In the order of names. */
  readonly found: readonly LiveProcedure[]
  /** The statement that lets this account call a procedure. */
  readonly grantOf: (name: string) => string
}

export interface LiveProcedure {
  readonly name: string
  readonly comment: string
  readonly mayCall: boolean
  /** Whether it says of itself that it changes nothing. No server checks that. */
  readonly readsOnly: boolean
  /** In their order. The mode is IN, OUT or INOUT. */
  readonly parameters: readonly { readonly mode: string; readonly column: LiveColumn }[]
}

/** The parts of `decimal(10,2) unsigned`, `enum('a','it''s')`, `VARCHAR ( 20 )`, without what only one engine knows. */
export function parseNativeType(text: string, escapes: Escapes): NativeType {
  const tokens = sqlTokens(text, escapes)
  const open = tokens.findIndex((token) => isToken(token, '('))
  const { inner, close } = open < 0 ? { inner: [], close: -1 } : bracketed(tokens, open)
  const outside = tokens.filter((_, at) => open < 0 || at < open || at > close).map(({ value }) => value.toLowerCase())
  const base = outside.filter((word) => !ATTRIBUTES.includes(word)).join(' ')
  const isWords = base === 'enum' || base === 'set'
  const arguments_ = listed(inner).map((part) => part.map(({ value }) => value).join(''))
  const [one, two] = isWords
    ? []
    : arguments_.map((digits) => (/^\+?\d{1,9}$/.test(digits) ? Number(digits) : undefined))
  const role = roleOfNumbers(base)
  return {
    base,
    length: role === 'length' ? one : undefined,
    precision: role === 'length' ? undefined : one,
    scale: role === 'decimal' ? two : undefined,
    // ZEROFILL makes a column UNSIGNED.
    unsigned: outside.includes('unsigned') || outside.includes('zerofill'),
    words: isWords ? arguments_ : undefined,
    affinity: undefined
  }
}

const ATTRIBUTES: readonly string[] = ['unsigned', 'signed', 'zerofill']

const TYPES_WITH_SCALE: readonly string[] = [
  'decimal',
  'dec',
  'numeric',
  'number',
  'fixed',
  'float',
  'double',
  'double precision',
  'real'
]

function roleOfNumbers(base: string): 'length' | 'decimal' | 'fraction' {
  if (/^(?:datetime|timestamp|time)\b/.test(base)) return 'fraction'
  return TYPES_WITH_SCALE.includes(base) ? 'decimal' : 'length'
}

/** Rows of a catalogue by the table that they are of. */
export function rowsByTable<Row>(rows: readonly Row[], tableOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(tableOf(row))
    if (group === undefined) groups.set(tableOf(row), [row])
    else group.push(row)
  }
  return groups
}

/** Of all rows: how many have NULL in one of the columns, and how many share all of them with another row. */
export interface KeyCounts {
  readonly rows: number
  readonly nulls: number
  readonly duplicates: number
}

/** The rows of a SELECT. */
export type SelectRows = <Row extends object>(statement: string) => Promise<Row[]>

export async function countKey(
  select: SelectRows,
  { table, columns, quote }: { readonly table: string; readonly columns: readonly string[]; readonly quote: string }
): Promise<KeyCounts> {
  const quoted = (name: string): string => `${quote}${name.replaceAll(quote, quote + quote)}${quote}`
  const names = columns.map(quoted)
  const isNull = names.map((name) => `${name} IS NULL`).join(' OR ')
  const [counted] = await select<{ rows: unknown; nulls: unknown }>(
    `SELECT COUNT(*) AS ${quoted('rows')}, SUM(${isNull}) AS nulls FROM ${quoted(table)}`
  )
  const [shared] = await select<{ rows: unknown }>(
    `SELECT COUNT(*) AS ${quoted('rows')} FROM (SELECT 1 FROM ${quoted(table)} GROUP BY ${names.join(', ')} ` +
      `HAVING COUNT(*) > 1) AS shared_keys`
  )
  return { rows: Number(counted?.rows), nulls: Number(counted?.nulls ?? 0), duplicates: Number(shared?.rows) }
}

/** One column that may refer to the key of another table. */
export interface ReferringColumn {
  readonly table: string
  readonly column: string
  readonly to: string
  readonly toColumn: string
}

/** Of the first rows that have a value in the column: how many there are, and how many values the other table has not. */
export interface ReferenceCounts {
  readonly rows: number
  readonly dangling: number
}

export async function countDangling(
  select: SelectRows,
  { table, column, to, toColumn }: ReferringColumn,
  { quote, most }: { readonly quote: string; readonly most: number }
): Promise<ReferenceCounts> {
  const [value, key, from, target] = [column, toColumn, table, to].map(
    (name) => `${quote}${name.replaceAll(quote, quote + quote)}${quote}`
  )
  const [counted] = await select<{ counted: unknown; dangling: unknown }>(
    `SELECT COUNT(*) AS counted, SUM(there.${key} IS NULL) AS dangling FROM ` +
      `(SELECT ${value} AS referred FROM ${from} WHERE ${value} IS NOT NULL LIMIT ${most}) AS looked_at ` +
      `LEFT JOIN ${target} AS there ON there.${key} = looked_at.referred`
  )
  return { rows: Number(counted?.counted), dangling: Number(counted?.dangling ?? 0) }
}

/** What keeps two rows of the table from the same values in these columns. */
export function keptApart(
  { primaryKey, indexes }: LiveTable,
  columns: readonly string[]
): 'primary key' | 'unique index' | undefined {
  const names = columns.map((name) => name.toLowerCase())
  const isSame = (others: readonly (string | undefined)[]): boolean =>
    others.length === names.length && others.every((one) => one !== undefined && names.includes(one.toLowerCase()))
  if (isSame(primaryKey)) return 'primary key'
  const isUnique = indexes.some(
    ({ unique, partial, keys }) =>
      unique && !partial && isSame(keys.map((one) => (one.prefix === undefined ? one.column : undefined)))
  )
  return isUnique ? 'unique index' : undefined
}

/** Whether two rows of a table that is there may have the same key, as far as its indexes say. */
export function mayShareKeys(
  table: LiveTable | undefined,
  { key }: { readonly key: readonly { readonly column: string }[] }
): table is LiveTable {
  if (table === undefined || key.length === 0) return false
  return (
    keptApart(
      table,
      key.map(({ column }) => column)
    ) === undefined
  )
}
