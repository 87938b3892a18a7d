import type { cast, fn, literal } from 'sequelize'
import { type CellWriter, type CsvWriter } from '../../entity/fields/csv-text.js'
import type { Column } from '../../entity/fields/columns.js'
import type { Field, FieldType, Operand, Value } from '../../entity/fields/field.js'
import { type JsonWriter, type ValueWriter } from '../../entity/fields/json-text.js'
import { UnshownValue } from '../../entity/fields/unshown.js'
import { ROW_VERSION_BYTES } from '../../entity/fields/row-version.js'
import { cellWriter, valueWriter, widthOf } from '../../entity/types/types.js'
import { bytesOf } from './answer-bytes.js'

/** An expression as Sequelize's generator takes it. */
export type Expression = ReturnType<typeof literal> | ReturnType<typeof fn> | ReturnType<typeof cast>

/** A value that is sent apart from the statement's text. Numbers are digits or bigint; a `number` is a safe integer. */
export type BoundValue = string | bigint | number | Buffer | null

/** The bind name of `SqlDialect.versionKey`. */
export const VERSION_KEY = 'versionKey'

/** Values by their bind name, such as `$f0_1` for the second operand of the first condition. */
export type BoundValues = Record<string, BoundValue>

/**
 * The names `s0`, `s1` and so on. Each is made once, since a text that was just joined has to be hashed before it can name a
 * value.
 */
export function bindNames(prefix: string): (index: number) => string {
  const names: string[] = []
  return (index) => (names[index] ??= `${prefix}${index}`)
}

/** The same for two numbers: `r0_0`, `r0_1`, `r1_0`. */
export function bindNamesOfTwo(prefix: string): (first: number, second: number) => string {
  const names: ((second: number) => string)[] = []
  return (first, second) => (names[first] ??= bindNames(`${prefix}${first}_`))(second)
}

/** The text of one shape of statement. It is compiled once and runs with any values. */
export interface StatementText {
  /** The text with `?` for every value. */
  readonly sql: string
  /** Names of the values in the order of the text. */
  readonly binds: readonly string[]
  /**
   * The same statement with the condition that a transaction is open, for MariaDB: outside of one it changes nothing. So it
   * may be sent before the answer to the statement that starts the transaction. undefined for most statements.
   */
  readonly inTransaction?: string
}

/** A SELECT. */
export interface Statement extends StatementText {
  readonly decode: readonly ((raw: unknown) => Value)[]
  /** Set for the CALL of a procedure, which may answer no rows, or several sets of them. */
  readonly procedure?: { readonly name: string; readonly maxRows: number }
  /** For errors: the name of each column, `table.column`. */
  readonly names?: readonly string[]
  /** For errors: the places of the row's key among the columns; none if it is not selected. */
  readonly keyAt?: readonly number[]
  /** Whether a column may hold integers beyond 2^53. */
  readonly exact: boolean
}

/** A SELECT whose values can be shown. */
export interface ShownStatement extends Statement {
  readonly fields: readonly SelectedField['field'][]
  /** The most bytes that the values of a row have, as far as their columns say. */
  readonly width: number
  /** Write the decoded values as JSON. */
  readonly write: readonly ValueWriter[]
  /** Write them as cells of CSV. */
  readonly writeCell: readonly CellWriter[]
}

/** A column that a statement selects, or the row version. */
export interface SelectedField {
  /** `table.column`. */
  readonly name: string
  readonly field: Field | 'rowVersion'
  /** Whether it names the row, in errors. */
  readonly isKey?: boolean
}

/** Makes a SELECT from a text with `$name` placeholders. `decode` is the dialect's. */
export function selectStatement(
  text: string,
  selected: readonly SelectedField[],
  decode: (field: Field) => (raw: unknown) => Value
): ShownStatement {
  const fields = selected.map(({ field }) => field)
  return {
    ...statementText(text),
    decode: fields.map((field) => (field === 'rowVersion' ? bytes : decode(field))),
    write: fields.map((field) => valueWriter(field === 'rowVersion' ? 'bytes' : field.type)),
    writeCell: fields.map((field) => cellWriter(field === 'rowVersion' ? 'bytes' : field.type)),
    fields,
    width: fields.reduce((sum, field) => sum + (field === 'rowVersion' ? ROW_VERSION_BYTES : widthOf(field)), 0),
    names: selected.map(({ name }) => name),
    keyAt: selected.flatMap(({ isKey }, index) => (isKey === true ? [index] : [])),
    exact: fields.some((field) => field !== 'rowVersion' && (field.type === 'long' || field.type === 'decimal'))
  }
}

/** A quoted name, which may contain a `$`, or a placeholder. */
const QUOTED_OR_PLACEHOLDER = /`[^`]*`|\$(\w+)/g

/** Replaces the `$name` placeholders of a text by `?`, and removes the final semicolon of Sequelize's generator. */
export function statementText(text: string): StatementText {
  const binds: string[] = []
  const sql = text.replace(/;$/, '').replace(QUOTED_OR_PLACEHOLDER, (found, name: string | undefined) => {
    if (name === undefined) return found
    binds.push(name)
    return '?'
  })
  return { sql, binds }
}

/** A name of a table or a column in a statement. No name has a backtick: that is a mistake of the entity file. */
export function quotedIdentifier(name: string): string {
  return `\`${name}\``
}

/** A condition that the columns are one of the tuples, each as comparisons of its own. All parts are texts of a statement. */
export function anyOfTuples(columns: readonly string[], tuples: readonly (readonly string[])[]): string {
  const equal = (tuple: readonly string[]): string =>
    columns.map((column, at) => `${column} = ${tuple[at]}`).join(' AND ')
  return tuples.map((tuple) => `(${equal(tuple)})`).join(' OR ')
}

/**
 * A list of values, filled up with its last member to a power of two, so that lists of many lengths share few statement
 * texts. Each text is prepared once on every connection. An empty list stays empty.
 */
export function padToPowerOfTwo<Member>(list: readonly Member[]): readonly Member[] {
  const last = list.at(-1)
  if (last === undefined) return list
  const length = 2 ** Math.ceil(Math.log2(list.length))
  if (length === list.length) return list
  return [...list, ...Array<Member>(length - list.length).fill(last)]
}

/** The values in the order of the statement's text. */
export function valuesOf({ binds }: StatementText, values: BoundValues): BoundValue[] {
  return binds.map((name) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`No value is bound to ${name}`)
    return value
  })
}

/** The values of a row. Throws an UnshownValue if one of them is none of its type. */
export function decodeRow(statement: Statement, raw: readonly unknown[]): Value[] {
  return allShown(decodeParts(statement, raw))
}

/** The values of a row, with an UnshownValue in the place of one that is none of its type. */
export function decodeParts(
  { decode, names, keyAt = [] }: Statement,
  raw: readonly unknown[]
): (Value | UnshownValue)[] {
  const parts = Array<Value | UnshownValue>(decode.length)
  let at = 0
  const decodeOn = (): void => {
    for (; at < decode.length; at++) parts[at] = decode[at]?.(raw[at]) ?? null
  }
  while (at < decode.length) {
    try {
      decodeOn()
    } catch (cause) {
      const id = keyAt.length === 0 ? undefined : keyAt.map((place) => String(raw[place])).join()
      parts[at] = new UnshownValue(names?.[at] ?? `Column ${at + 1}`, id, { cause })
      at += 1
    }
  }
  return parts
}

/** The same values. Throws the first that cannot be shown. */
export function allShown(parts: (Value | UnshownValue)[]): Value[] {
  const odd = parts.find((one) => one instanceof UnshownValue)
  if (odd !== undefined) throw odd
  return parts as Value[] // None is odd.
}

export function shownAt(parts: readonly (Value | UnshownValue)[], at: number): Value {
  const part = parts[at] ?? null
  if (part instanceof UnshownValue) throw part
  return part
}

/** A value of a row, or an UnshownValue in its place. */
export function partOf(row: Pick<FoundRow, 'value'>, at: number): Value | UnshownValue {
  try {
    return row.value(at)
  } catch (error) {
    if (error instanceof UnshownValue) return error
    throw error
  }
}

/**
 * A row of a SELECT. Its values may be decoded when they are asked for: each member throws an UnshownValue for a value that is
 * none of its type, and `values` if any is.
 */
export interface FoundRow {
  readonly values: readonly Value[]
  /** About as many bytes as its values take. */
  readonly bytes: number
  /** One value; null for a place beyond the last. */
  value(at: number): Value
  /** Writes one value as JSON. */
  write(at: number, out: JsonWriter): void
}

/** A row that can be written as CSV too. */
export interface CsvRow extends FoundRow {
  /** Writes some values as cells with commas between them; nothing for null. */
  writeCells(some: readonly number[], out: CsvWriter): void
}

/** Rows that cannot have more bytes are all taken for as large. */
const SMALL_ROW = 1024

/** A row whose values are decoded. */
export class DecodedRow implements CsvRow {
  readonly #parts: (Value | UnshownValue)[]
  readonly bytes: number
  readonly #statement: ShownStatement

  constructor(statement: ShownStatement, raw: readonly unknown[]) {
    this.#parts = decodeParts(statement, raw)
    this.bytes = statement.width > SMALL_ROW ? bytesOf(raw) : statement.width
    this.#statement = statement
  }

  get values(): readonly Value[] {
    return allShown(this.#parts)
  }

  value(at: number): Value {
    return shownAt(this.#parts, at)
  }

  write(at: number, out: JsonWriter): void {
    this.#statement.write[at]?.(this.value(at), out)
  }

  writeCells(some: readonly number[], out: CsvWriter): void {
    const { writeCell } = this.#statement
    some.forEach((at, index) => {
      if (index > 0) out.comma()
      writeCell[at]?.(this.value(at), out)
    })
  }
}

/** The text of a JSON value, unchanged. Text that is no JSON would spoil the answer that it is put into. */
export function jsonOfColumn(raw: unknown): string {
  if (typeof raw !== 'string') throw undecodable('json', raw)
  try {
    JSON.parse(raw)
  } catch {
    // The error of the parser would bring the text into the log.
    throw undecodable('json', raw)
  }
  return raw
}

/** The words of a set, which are stored with commas between. */
export function setOfColumn(raw: unknown): string[] {
  if (typeof raw !== 'string') throw undecodable('set', raw)
  return raw === '' ? [] : raw.split(',')
}

/** The value of a column of bytes, as a Buffer. */
export function bytes(raw: unknown): Buffer {
  if (!(raw instanceof Uint8Array)) throw new TypeError(`A column of bytes holds a ${typeof raw}`)
  return Buffer.isBuffer(raw) ? raw : Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
}

/** The same as the text that stands for them where they identify a row. */
export function base64urlOfBytes(raw: unknown): string {
  return bytes(raw).toString('base64url')
}

/** The bytes that such a text stands for. It was checked when it was read. */
export function bytesOfBase64url(text: Operand): Buffer {
  return Buffer.from(String(text), 'base64url')
}

/**
 * A number as other programs take it for a flag: everything but 0 is true, in filters and orders too (`isAnyNumber`). Where
 * these compare it as it is, only 0 and 1 are flags.
 */
export function flag(raw: number | bigint, { storage }: Pick<Field, 'storage'>): boolean {
  const value = Number(raw)
  if (Number.isNaN(value) || (storage === 'flag' && value !== 0 && value !== 1)) throw undecodable('bool', raw)
  return value !== 0
}

/** The error for a value that the column's type cannot have: the table differs from the entity file. */
export function undecodable(type: FieldType, raw: unknown): TypeError {
  return new TypeError(`A ${type} column holds a ${typeof raw} that is no ${type}`)
}

/** A value of its field's type that this kind of database cannot hold. The message goes on after the name: "has more digits than …". */
export class Unstorable extends Error {
  override readonly name = 'Unstorable'
}

/** Comparisons with a part of a text. */
export type TextMatch = 'contains' | 'startsWith' | 'endsWith'

/** Makes the SQL of an operand, a `$name` or a literal, that is compared with a text column. */
export type TextOperand = (operand: string) => string

/** Parts of statements of MariaDB. MySQL knows neither the variable of an open transaction nor an INSERT that returns its row. */
export interface StatementGuards {
  /** The condition that a transaction is open. */
  readonly inTransaction: string
  /** The condition that a transaction is open and that the statement before has changed one row. */
  readonly afterOneRow: string
  /** The value of a column that the database numbers. The INSERT fails unless the condition holds. */
  readonly numberIf: (condition: string) => string
  /** The number that the last INSERT was given. */
  readonly lastNumber: string
}

/** A unique or foreign key as the error of a database names it, as far as it does. */
export interface ViolatedKey {
  /** `foreign`: the database does not say which end of the key. */
  readonly kind: 'unique' | 'reference' | 'referenced' | 'foreign'
  readonly index?: string
  readonly columns?: readonly string[]
  /** The name of a foreign key, where the database says it. */
  readonly constraint?: string
}

/** How the values of totals are computed. All texts are of quoted columns and of the SQL that is made of them. */
export interface TotalsDialect {
  /** The text of a group whose bytes in UTF-8 come first. */
  readonly leastText: (text: string, field: Field) => string
  /** Whether a text is the beginning of a moment, of so many characters, or NULL. undefined where columns hold nothing else. */
  readonly isPart?: (text: string, length: number) => string
  /** Of whole numbers and decimals. */
  readonly sum: {
    /** The columns that a sum is selected in, which are all null for a sum of no values. */
    readonly parts: (
      column: string,
      field: Field
    ) => readonly { readonly text: string; readonly field: SelectedField['field'] }[]
    /** The sum, in units of the last digit of the column. Takes the values of at least these columns. */
    readonly value: (parts: readonly Value[], field: Field) => bigint
    /** What groups are sorted by in the order of their sums. */
    readonly order: (column: string, field: Field) => string
    /** The same for averages, as far as they are shown: rounded to four digits more, half away from zero. */
    readonly averageOrder: (column: string, field: Field) => string
  }
  /** A condition that holds for every row and lets a statement be stopped while it reads rows, where nothing else does. */
  readonly look: string | undefined
}

/** How words of texts are found. All texts are quoted columns and `$names`. */
export interface WordDialect {
  /** A condition that a word of a text begins with an operand in the form of `bind`. */
  readonly begins: (text: string, operand: string) => string
  readonly bind: (word: string) => string
  /** What a full-text index is asked for, so that it finds at least the rows with these words; undefined if it has none of them. */
  readonly query: (words: readonly string[]) => string | undefined
  /** A condition that the full-text index of the columns finds a row. */
  readonly match: (columns: readonly string[], operand: string) => string
}

/** How values are bound, written into statements, and read. */
export interface ValueForms {
  /**
   * The SQL of an operand bound under a name, with a type so that the column is not compared as a double. `isAlone`: one that
   * stands in no list and no `between`.
   */
  readonly operand: (name: string, field: Field, isAlone: boolean) => string
  /** The bound form of an operand that stands in a comparison as `operand` writes it. */
  readonly bindOperand: (operand: Operand, field: Field, isAlone: boolean) => BoundValue
  /** The bound form of a value in a statement that is not written here. */
  readonly bind: (operand: Operand, field: Field) => BoundValue
  /** The bound form of a value that is written into a column. Throws an Unstorable. */
  readonly store: (value: Exclude<Value, null>, field: Field) => BoundValue
  /** Decodes a value of the driver. Throws `undecodable` for what is no value of the field. */
  readonly decode: (field: Field) => (raw: unknown) => Value
  /** Whether the column of a bool may hold other numbers than 0 and 1, which no index sorts as flags. */
  readonly isAnyNumber: (column: Column) => boolean
  /** Whether a set, a column's expression, has the word that is bound as an operand: an expression that is 1 or 0. */
  readonly hasWord: (column: Expression, operand: string) => Expression
}

/** How texts are compared, sorted and searched. */
export interface TextForms {
  /**
   * The function that a column of the type is compared and sorted by, to get the order of the contract. `equal` is for
   * comparisons that do not depend on an order.
   */
  readonly keyFunction: (type: FieldType, use: 'equal' | 'order') => string | undefined
  /**
   * How an operand is written that is compared with this text column; undefined as it is. What it makes is NULL for an
   * operand that the column's character set cannot hold, which no value of the column is equal to.
   */
  readonly textOperand: (column: Column) => TextOperand | undefined
  /** Whether the words of an enum are in a column of text, which an index sorts as it sorts other texts. */
  readonly isTextOfWords: (column: Column) => boolean
  /** A text, a quoted column or an operand, in a form of which two are equal only if they have the same characters. */
  readonly exactText: (text: string) => string
  /** Few bytes for those of an expression, where the database sorts by a bounded number of bytes; else the expression. */
  readonly digest: (text: string) => string
  /** A condition that the exact form of one text has that of another one in it. */
  readonly hasExactly: (match: TextMatch, text: string, part: string) => string
  /** A function of (column, operand) that returns 1 or 0. undefined: LIKE is used. */
  readonly matchFunction: (match: TextMatch) => string | undefined
  readonly bindMatch: (operand: string, match: TextMatch) => BoundValue
  /** undefined for a database without full-text indexes, on which `search` finds parts of texts. */
  readonly words: WordDialect | undefined
  /** The columns of the full-text index that serves searches whose first property is this column. */
  readonly fullTextIndex: (column: Column) => readonly string[] | undefined
}

/** How the optimizer of the database reads rows, and what a statement says so that it uses an index. */
export interface ReadPlans {
  /** Whether each statement is a round trip to a server, which takes longer than a count by an index of a few rows. */
  readonly isServer: boolean
  /**
   * Whether the optimizer reads an OR of ranges of one index as these ranges, in the order of the index. If not, each
   * range is a SELECT of its own, and UNION ALL joins them.
   */
  readonly readsRangesOfOr: boolean
  /** The join that reads the rows on its left first, whatever the optimizer makes of their numbers. */
  readonly joinInOrder: 'STRAIGHT_JOIN' | 'CROSS JOIN'
  /** Rows whose columns are one of a list of tuples, by an index of the columns. All parts are quoted columns and `$names`. */
  readonly isOneOfTuples: (columns: readonly string[], tuples: readonly (readonly string[])[]) => string
  /** Whether a statement failed because an index that it names does not exist, or one of the columns of full-text indexes. */
  isIndexMissing(error: unknown, columns?: readonly string[]): boolean
}

/** What an INSERT or UPDATE says besides its columns, and how rows are locked. */
export interface WriteTexts {
  /** An INSERT that only locks the row if one with the same unique `key` exists. */
  readonly insertOrKeep: (insert: string, key: string) => string
  /** An INSERT that makes the assignment `update` if a row with the same unique `key` exists. */
  readonly insertOrUpdate: (insert: string, key: string, update: string) => string
  /**
   * An INSERT of one row that takes effect only if the statement before it on the connection has changed a row. It may be
   * sent before the answer to that statement (`OpenTransaction.batch`). `into` is the text up to the values.
   */
  readonly insertAfterChange: (into: string, values: string) => string
  /** For statements that are sent before the answers to those that they depend on. undefined where nothing is sent so. */
  readonly guards: StatementGuards | undefined
  /** Whether an UPDATE counts the rows whose values it changes, and not those that it finds. */
  readonly countsChangedRows: boolean
  /**
   * The version after the one in a column of 8 bytes: one more as a big-endian number, after the highest one 0. No version
   * of a row repeats, and two writers of a row cannot make the same one.
   */
  readonly nextVersion: (column: string) => string
  /**
   * A version of 8 bytes that is made of the stored values of columns, quoted as the text has them, and of `names`, digits in
   * base 16. It is different for every other value, also one that a collation equates, and takes the bound `versionKey`.
   */
  readonly contentVersion: (
    values: readonly { readonly text: string; readonly type: FieldType }[],
    names: string
  ) => string
  /** What keeps callers from guessing values by a version of the content: digits in base 16. undefined where no table has one. */
  readonly versionKey?: string
  /** The end of a SELECT that locks its rows until the transaction ends. Empty if the database has one writer at a time. */
  readonly forUpdate: string
  /**
   * The same, which fails at once with a `lockTimeout` if another transaction holds one of them. undefined if the database has
   * one writer at a time.
   */
  readonly forUpdateNow: string | undefined
}

/** What an error of a write is about. */
export interface WriteErrors {
  /** The column whose character set lacks a character of a value that a statement wrote; undefined for any other error. */
  columnWithoutCharacter(error: unknown): string | undefined
  /** The key that does not allow a write; undefined for an error of another kind. */
  violatedKey(error: unknown): ViolatedKey | undefined
}

/** The differences between databases in the text and the values of statements. */
export interface SqlDialect extends ValueForms, TextForms, ReadPlans, WriteTexts, WriteErrors {
  readonly totals: TotalsDialect
}
