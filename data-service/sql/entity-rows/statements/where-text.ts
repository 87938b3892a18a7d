import { createHash } from 'node:crypto'
import { fn, literal, Op, where, type WhereOptions } from 'sequelize'
import type { Column } from '../../../entity/entity.js'
import type { Field } from '../../../entity/fields/field.js'
import type { VersionedTable } from '../../../entity/fields/row-version.js'
import { type Comparison, OPERATORS } from '../../../entity/fields/operators.js'
import type { Path, SortKey } from '../../../plan/model/plans.js'
import {
  anyOfTuples,
  type Expression,
  quotedIdentifier,
  type SqlDialect,
  type TextMatch,
  type TextOperand
} from '../../engines/statement.js'
import {
  aliasOf,
  type AnyComparison,
  type ColumnComparison,
  isComparison,
  isOfKeys,
  isOfOne,
  isOperator,
  isText,
  type KeyComparison,
  type KeyListComparison,
  paddedOperands,
  partsOf,
  type RowCondition
} from './conditions.js'

/** The SELECT that a text is made for. */
export interface TextContext {
  readonly dialect: SqlDialect
  /** Alias of the root's table. */
  readonly root: string
}

/**
 * The conditions joined with AND. Only their shape is in the text; `boundValues` of conditions.ts makes the operands.
 * `first` is the number of the first comparison.
 */
export function whereAll(conditions: readonly RowCondition[], context: TextContext, first = 0): WhereOptions {
  let next = first
  // Numbered in the order of comparisonsOf.
  const whereOf = (condition: RowCondition): WhereOptions => {
    if (isComparison(condition)) return whereComparison(condition, `${next++}`, context)
    const parts = partsOf(condition)
    // Sequelize leaves an empty list out, and then every row would match.
    if (parts.length === 0) throw new TypeError('A combined condition has no parts')
    if ('allOf' in condition) return { [Op.and]: parts.map(whereOf) }
    if ('notAllOf' in condition) {
      // NOT would leave out the rows whose comparison has no answer.
      return where(fn('IFNULL', { [Op.and]: parts.map(whereOf) }, literal('0')), Op.eq, literal('0'))
    }
    const either = { [Op.or]: parts.map(whereOf) }
    return condition.isFilter === true ? where(fn('IFNULL', either, literal('0')), Op.eq, literal('1')) : either
  }
  return { [Op.and]: conditions.map(whereOf) }
}

/** The expression of a column in the select list. */
export function columnExpression({ through, column }: Path, { dialect, root }: TextContext): Expression {
  const alias = aliasOf(through, root)
  return isVersion(column) ? versionExpression(alias, column.versionOf, dialect) : columnNamed(alias, column.column)
}

/** A table whose rows have a version. */
export interface VersionedRows extends VersionedTable {
  readonly table: string
  readonly columns: readonly Column[]
}

/** The row version in the place of a column of a joined row. */
export interface VersionColumn extends Column {
  readonly versionOf: VersionedRows
}

function isVersion(column: Column | VersionColumn): column is VersionColumn {
  return 'versionOf' in column
}

/** The version of the rows of an alias: its column, or what is made of all columns. */
export function versionExpression(
  alias: string,
  { table, columns, versionColumn, contentVersion }: VersionedRows,
  dialect: SqlDialect
): Expression {
  if (versionColumn !== undefined) return columnNamed(alias, versionColumn)
  if (!contentVersion) throw new TypeError(`${table} has no row version`)
  // The names too: a field that is added or taken away makes other versions.
  const names = JSON.stringify([table, ...columns.map(({ column }) => column)])
  const values = columns.map(({ column, field }) => ({
    text: `${quotedIdentifier(alias)}.${quotedIdentifier(column)}`,
    type: field.type
  }))
  return literal(dialect.contentVersion(values, createHash('sha256').update(names).digest('hex')))
}

/** A column of the table or join of this alias. Sequelize's `col` would take a point in a name for a separator. */
export function columnNamed(alias: string, column: string): Expression {
  return literal(`${quotedIdentifier(alias)}.${quotedIdentifier(column)}`)
}

/** The expression of a column in sort orders and, with `equal`, in comparisons that do not depend on an order. */
function keyExpression(path: Path, context: TextContext, use: 'equal' | 'order' = 'order'): Expression {
  return literal(keyText(path, context, use))
}

/** The column in the form in which it is sorted or, with `equal`, compared, as text. */
function keyText(path: Path, context: TextContext, use: 'equal' | 'order'): string {
  return keyForm(path.column, quotedColumn(path, context), { dialect: context.dialect, use })
}

/** The text of a column in the form that it is compared and sorted by. */
export function keyForm(
  column: Column,
  text: string,
  { dialect, use }: { readonly dialect: SqlDialect; readonly use: 'equal' | 'order' }
): string {
  if (dialect.isAnyNumber(column)) return `(${text} <> 0)`
  const keyFunction = dialect.keyFunction(dialect.isTextOfWords(column) ? 'string' : column.field.type, use)
  return keyFunction === undefined ? text : `${keyFunction}(${text})`
}

/** How the values of a column are read. A flag that is compared as it is has to be 0 or 1: any other number is not shown. */
export function fieldRead(column: Column, dialect: SqlDialect): Field {
  const { field } = column
  const isOwnFlag = field.type === 'bool' && field.storage === 'usual' && !dialect.isAnyNumber(column)
  return isOwnFlag ? { ...field, storage: 'flag' } : field
}

/** The expression by which rows are sorted. */
export function sortExpression(path: Path, context: TextContext): Expression {
  return literal(sortText(path, context))
}

/** Numbers rows from 1 among those with the same values in columns of the row itself, in an order. */
export function numberWithin(by: readonly Column[], order: readonly SortKey[], context: TextContext): Expression {
  const columns = by.map((column) => quotedColumn({ through: null, column }, context))
  const keys = order.map(({ path, descending }) => `${sortText(path, context)}${descending ? ' DESC' : ''}`)
  // A row whose key is the foreign key is the only one of its owner.
  const within = [`PARTITION BY ${columns.join(', ')}`, ...(keys.length === 0 ? [] : [`ORDER BY ${keys.join(', ')}`])]
  return literal(`ROW_NUMBER() OVER (${within.join(' ')})`)
}

function sortText(path: Path, context: TextContext): string {
  const text = path.exact === true ? exactText(path, context) : keyText(path, context, 'order')
  return path.digest === true ? context.dialect.digest(text) : text
}

/** The characters of a text. */
function exactText(path: Path, context: TextContext): string {
  return context.dialect.exactText(quotedColumn(path, context))
}

/** The column as the text of a statement has it. */
export function quotedColumn(path: Path, context: TextContext): string {
  return columnText(path, path.column.column, context)
}

/** A column of the row that a path leads to. */
function columnText({ through }: Path, column: string, { root }: TextContext): string {
  return `${quotedIdentifier(aliasOf(through, root))}.${quotedIdentifier(column)}`
}

function wordsOf({ dialect: { words } }: TextContext): NonNullable<SqlDialect['words']> {
  if (words === undefined) throw new TypeError('The database knows no words')
  return words
}

function whereComparison(condition: AnyComparison, number: string, context: TextContext): WhereOptions {
  if ('paths' in condition) return whereTuples(condition, number, context)
  const { path, comparison } = condition
  if (isText(path.column) && isOfKeys(comparison)) {
    return whereKeyText({ path, comparison, operands: condition.operands }, number, context)
  }
  if (path.exact !== true || !isOperator(comparison)) return whereOne(condition, `f${number}`, context)
  const exactly = whereExactly({ ...condition, comparison }, number, context)
  // Texts of the same characters are the same to every collation, and an index knows the collation alone.
  return HAVE_INDEX.has(OPERATORS[comparison].sql.kind) && !isNegated(comparison)
    ? { [Op.and]: [whereOne(condition, `f${number}`, context), exactly] }
    : exactly
}

/** What an index serves of comparisons by the rules of filters, of those that the exact ones are a part of. */
const HAVE_INDEX: ReadonlySet<string> = new Set(['equal', 'in', 'match', 'empty'])

/** A comparison of the operator table by the exact characters. */
function whereExactly(
  condition: ColumnComparison & { readonly comparison: Comparison },
  number: string,
  context: TextContext
): WhereOptions {
  const { path, comparison } = condition
  const written = textOperandOf(path, context)
  const exact = (text: string): string => context.dialect.exactText(written(text))
  const [column, empty] = [exactText(path, context), exact("''")]
  const operands = paddedOperands(condition).map((_, position) => exact(`$t${number}_${position}`))
  const matches = ({ match, negated, operand }: Matching): WhereOptions =>
    literalCondition(`(${context.dialect.hasExactly(match, column, operand)}) = ${negated ? '0' : '1'}`)
  return whereOperator(comparison, { path, key: literal(column), operands, empty, matches }, context)
}

/** A comparison of texts of keys: as they are, and also in their sorted form if the index of the column has that form. */
function whereKeyText(
  { path, comparison, operands }: ColumnComparison & { readonly comparison: KeyComparison },
  number: string,
  context: TextContext
): WhereOptions {
  const column = quotedColumn(path, context)
  const written = textOperandOf(path, context)
  if (comparison === 'isKey') {
    const [operand, { exactText: exact }] = [written(`$t${number}_0`), context.dialect]
    return literalCondition(`${column} = ${operand} AND ${exact(column)} = ${exact(operand)}`)
  }
  const list = (prefix: 'f' | 't'): string =>
    paddedOperands({ path, comparison, operands })
      .map((_, position) => written(`$${prefix}${number}_${position}`))
      .join(', ') || 'NULL'
  const plain = `${column} IN (${list('t')})`
  const sorted = keyText(path, context, 'equal')
  return literalCondition(
    comparison === 'isKeyIn' || sorted === column ? plain : `${sorted} IN (${list('f')}) AND ${plain}`
  )
}

function whereTuples(
  { paths, comparison, operands }: KeyListComparison,
  number: string,
  context: TextContext
): WhereOptions {
  const hasTexts = paths.some(({ column }) => isText(column))
  const tuples = (isPlain: boolean): string => {
    const columns = paths.map((path) => (isPlain ? quotedColumn(path, context) : keyText(path, context, 'equal')))
    const names = operands.map((_, position): string => {
      const path = paths[position % paths.length]
      if (path === undefined) throw new TypeError('A key has no column')
      return isPlain && isText(path.column)
        ? textOperandOf(path, context)(`$t${number}_${position}`)
        : operandText(path, { name: `f${number}_${position}`, isAlone: path.column.field.type === 'dateTime' }, context)
    })
    const rows = Array.from({ length: names.length / paths.length }, (_, row) =>
      names.slice(row * paths.length, (row + 1) * paths.length)
    )
    if (rows.length === 0) return '(NULL)'
    // No index serves a list of tuples of which one is an expression.
    return `(${isPlain ? context.dialect.isOneOfTuples(columns, rows) : anyOfTuples(columns, rows)})`
  }
  const isSorted =
    hasTexts &&
    comparison === 'refersToIn' &&
    paths.some((path) => keyText(path, context, 'equal') !== quotedColumn(path, context))
  return literalCondition(isSorted ? `${tuples(false)} AND ${tuples(true)}` : tuples(true))
}

function literalCondition(text: string): WhereOptions {
  return literal(`(${text})`)
}

/** The symbols of operators as Sequelize's generator takes them. */
const ORDERS = { '>': Op.gt, '>=': Op.gte, '<': Op.lt, '<=': Op.lte } as const

function whereOne(condition: ColumnComparison, name: string, context: TextContext): WhereOptions {
  const { path, comparison } = condition
  const key = keyExpression(path, context, isOrder(comparison) ? 'order' : 'equal')
  // A server casts a moment of a list, and makes NULL of one of zeros, which a key may be: each is a comparison of its own.
  const areMoments =
    context.dialect.isServer &&
    path.column.field.type === 'dateTime' &&
    (comparison === 'isKeyIn' || comparison === 'refersToIn')
  const isAlone = areMoments || isOfOne(comparison)
  const operands = paddedOperands(condition).map((_, position) =>
    operandText(path, { name: `${name}_${position}`, isAlone }, context)
  )
  switch (comparison) {
    case 'isNull':
      return isNull(key)
    case 'isNotNull':
      return isNotNull(key)
    case 'lessThanNull':
      return where(key, Op.lt, literal('NULL'))
    case 'beginsWord':
      return literalCondition(wordsOf(context).begins(quotedColumn(path, context), operands.join()))
    case 'inFullText': {
      const columns = context.dialect.fullTextIndex(path.column)?.map((one) => columnText(path, one, context))
      // The index may have texts of other columns, whose character sets have more characters.
      const words = context.dialect.operand(`${name}_0`, path.column.field, isAlone)
      // An index that is dropped while the service runs costs time alone: other conditions look for the words.
      return literalCondition(columns === undefined ? '1 = 1' : wordsOf(context).match(columns, words))
    }
    case 'never':
      return where(fn('LENGTH', columnExpression(path, context)), Op.lt, literal('0'))
    case 'isKey':
    case 'refersTo':
      return where(key, Op.eq, literal(operands.join()))
    case 'isKeyIn':
    case 'refersToIn':
      return areMoments && operands.length > 0
        ? literalCondition(
            anyOfTuples(
              [keyText(path, context, 'equal')],
              operands.map((one) => [one])
            )
          )
        : where(key, Op.in, literal(`(${operands.join(', ') || 'NULL'})`))
    default: {
      const empty = textOperandOf(path, context)("''")
      const matches = (matching: Matching): WhereOptions => whereText(path, matching, context)
      return whereOperator(comparison, { path, key, operands, empty, matches }, context)
    }
  }
}

/** What a comparison of the operator table compares. */
interface WrittenComparison {
  readonly path: Path
  readonly key: Expression
  readonly operands: readonly string[]
  /** The empty text. */
  readonly empty: string
  readonly matches: (matching: Matching) => WhereOptions
}

function whereOperator(comparison: Comparison, written: WrittenComparison, context: TextContext): WhereOptions {
  const { path, key, operands } = written
  const compared = whereCompared(comparison, written)
  if (!isNegated(comparison)) return compared
  const kept = orWithoutValue(compared, path, key)
  // No value is equal to an operand that the column's character set cannot hold.
  const unequal = context.dialect.textOperand(path.column) === undefined ? [] : operands
  return unequal.length === 0 ? kept : { [Op.or]: [kept, ...unequal.map((one) => literal(`${one} IS NULL`))] }
}

function isOrder(comparison: ColumnComparison['comparison']): boolean {
  const kind = isOperator(comparison) ? OPERATORS[comparison].sql.kind : comparison
  return kind === 'order' || kind === 'between' || kind === 'lessThanNull'
}

/** The operand bound under a name, as the column is compared with it. */
function operandText(
  path: Path,
  { name, isAlone }: { readonly name: string; readonly isAlone: boolean },
  context: TextContext
): string {
  return textOperandOf(path, context)(context.dialect.operand(name, path.column.field, isAlone))
}

/** How operands of a text column are written. */
function textOperandOf({ column }: Path, { dialect }: TextContext): TextOperand {
  return dialect.textOperand(column) ?? ((operand) => operand)
}

/** The SQL of a comparison, by the operator table. */
function whereCompared(
  comparison: Comparison,
  { path, key, operands, empty, matches }: WrittenComparison
): WhereOptions {
  const { sql } = OPERATORS[comparison]
  const negated = isNegated(comparison)
  const emptyText = literal(empty)
  switch (sql.kind) {
    case 'equal':
      return where(key, negated ? Op.ne : Op.eq, literal(operands.join()))
    case 'order':
      return where(key, ORDERS[sql.symbol], literal(operands.join()))
    case 'in':
      return where(key, negated ? Op.notIn : Op.in, literal(`(${operands.join(', ') || 'NULL'})`))
    case 'between':
      return where(key, negated ? Op.notBetween : Op.between, literal(operands.join(' AND ')))
    case 'match':
      return matches({ match: sql.match, negated, operand: operands.join() })
    case 'empty':
      return hasEmptyText(path) ? { [Op.or]: [isNull(key), where(key, Op.eq, emptyText)] } : isNull(key)
    case 'notEmpty':
      return hasEmptyText(path) ? where(key, Op.ne, emptyText) : isNotNull(key)
  }
}

/** Types that can hold the empty text. A set without words is one, and MySQL stores it for a word that an enum lacks. */
function hasEmptyText({ column: { field } }: Path): boolean {
  return field.type === 'string' || field.type === 'enum' || field.type === 'set'
}

function isNegated(comparison: Comparison): boolean {
  return 'negated' in OPERATORS[comparison].sql
}

interface Matching {
  readonly match: TextMatch
  readonly negated: boolean
  readonly operand: string
}

function whereText(path: Path, { match, negated, operand }: Matching, context: TextContext): WhereOptions {
  const column = columnExpression(path, context)
  if (path.column.field.type === 'set') {
    return where(context.dialect.hasWord(column, operand), Op.eq, literal(negated ? '0' : '1'))
  }
  const matchFunction = context.dialect.matchFunction(match)
  if (matchFunction === undefined)
    return where(column, negated ? Op.notLike : Op.like, literal(`${operand} ESCAPE '!'`))
  return where(fn(matchFunction, column, literal(operand)), Op.eq, literal(negated ? '0' : '1'))
}

/** A negative comparison also matches rows without a value. A column that is never null needs no OR: the index stays usable. */
function orWithoutValue(negative: WhereOptions, path: Path, key: Expression): WhereOptions {
  return path.column.field.nullable || path.through !== null ? { [Op.or]: [negative, isNull(key)] } : negative
}

function isNull(key: Expression): WhereOptions {
  return where(key, Op.is, literal('NULL'))
}

function isNotNull(key: Expression): WhereOptions {
  return where(key, Op.not, literal('NULL'))
}

/** What the live schema says of columns of text and of flags. */
export interface LiveTexts {
  /** Those whose operands are written in a way of their own. */
  readonly operands: ReadonlyMap<Column, TextOperand>
  /** Those that hold the words of an enum. */
  readonly words: ReadonlySet<Column>
  /** Flags that may be any numbers. */
  readonly numbers: ReadonlySet<Column>
  /** The columns of full-text indexes, by the first property that each serves. */
  readonly fullText: ReadonlyMap<Column, readonly string[]>
}

export function withVersionKey(dialect: SqlDialect, versionKey: string | undefined): SqlDialect {
  return versionKey === undefined ? dialect : { ...dialect, versionKey }
}

export function withLiveTexts(dialect: SqlDialect, texts: LiveTexts | undefined): SqlDialect {
  if (texts === undefined) return dialect
  const { operands, words, numbers, fullText } = texts
  return {
    ...dialect,
    textOperand: (column) => operands.get(column),
    isTextOfWords: (column) => words.has(column),
    isAnyNumber: (column) => numbers.has(column),
    fullTextIndex: (column) => fullText.get(column),
    isIndexMissing: (error) => dialect.isIndexMissing(error, [...fullText.values()].flat())
  }
}
