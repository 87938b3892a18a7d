import { fn, literal, Op, where, type WhereOptions } from 'sequelize'
import type { Operand } from '../entity/field.js'
import { type Comparison, OPERATORS } from '../entity/operators.js'
import { type Join, type Path, stepsOf } from '../plan/plans.js'
import type { SqlDialect, TextMatch } from './engines/engine.js'
import { type BoundValue, type BoundValues, type Expression, quoted } from './engines/statement.js'

/** A condition of a statement: a comparison, or several conditions joined by OR or by AND. */
export type RowCondition =
  ColumnComparison | { readonly anyOf: readonly RowCondition[] } | { readonly allOf: readonly RowCondition[] }

/**
 * A comparison: that of a plan, or one of keyset.ts. Unlike `isEmpty`, `isNull` and `isNotNull` treat an empty string as
 * a value. `lessThanNull` and `never` are true for no row.
 */
export interface ColumnComparison {
  readonly path: Path
  readonly comparison: Comparison | 'isNull' | 'isNotNull' | 'lessThanNull' | 'never'
  readonly operands: readonly Operand[]
}

/** The SELECT that a text is made for. */
export interface TextContext {
  readonly dialect: SqlDialect
  /** Alias of the root's table. */
  readonly root: string
}

/** The comparisons of all conditions, in the order of the text. */
export function comparisonsOf(conditions: readonly RowCondition[]): readonly ColumnComparison[] {
  // Most requests have no combined conditions.
  if (conditions.every(isComparison)) return conditions
  return conditions.flatMap((one) => (isComparison(one) ? one : comparisonsOf(partsOf(one))))
}

function isComparison(condition: RowCondition): condition is ColumnComparison {
  return 'comparison' in condition
}

function partsOf(combined: Exclude<RowCondition, ColumnComparison>): readonly RowCondition[] {
  return 'anyOf' in combined ? combined.anyOf : combined.allOf
}

/**
 * The conditions joined with AND. Only their shape is in the text; `boundValues` makes the operands. `first` is the
 * number of the first comparison.
 */
export function whereAll(conditions: readonly RowCondition[], context: TextContext, first = 0): WhereOptions {
  let next = first
  // Numbered in the order of comparisonsOf.
  const whereOf = (condition: RowCondition): WhereOptions => {
    if (isComparison(condition)) return whereOne(condition, `f${next++}`, context)
    const parts = partsOf(condition)
    // Sequelize leaves an empty list out, and then every row would match.
    if (parts.length === 0) throw new TypeError('A combined condition has no parts')
    return { ['anyOf' in condition ? Op.or : Op.and]: parts.map(whereOf) }
  }
  return { [Op.and]: conditions.map(whereOf) }
}

/** The operands of the conditions under the names that `whereAll` gave them. */
export function boundValues(conditions: readonly RowCondition[], dialect: SqlDialect): BoundValues {
  const values: BoundValues = {}
  comparisonsOf(conditions).forEach((condition, index) => {
    paddedOperands(condition).forEach((operand, position) => {
      values[`f${index}_${position}`] = boundOperand(operand, condition, dialect)
    })
  })
  return values
}

/** A key of the conditions' shape: conditions of the same shape have the same text. */
export function shapeOf(conditions: readonly RowCondition[]): string {
  return conditions.map(shapeOfOne).join(';')
}

function shapeOfOne(condition: RowCondition): string {
  if (!isComparison(condition)) return `${'anyOf' in condition ? 'any' : 'all'}(${shapeOf(partsOf(condition))})`
  return `${pathKey(condition.path)} ${condition.comparison} ${paddedOperands(condition).length}`
}

export function pathKey({ through, column }: Path): string {
  return `${through === null ? '' : joinAlias(through)}.${quoted(column.column)}`
}

/** The alias of a joined row, as Sequelize names it: `event->venue` for the venue of the row's event. */
function joinAlias(join: Join): string {
  return stepsOf(join)
    .map(({ name }) => name)
    .join('->')
}

/** The expression of a column in the select list. */
export function columnOf({ through, column }: Path, { root }: TextContext): Expression {
  return columnNamed(through === null ? root : joinAlias(through), column.column)
}

/** A column of the table or join of this alias. Sequelize's `col` would take a point in a name for a separator. */
export function columnNamed(alias: string, column: string): Expression {
  return literal(`${quoted(alias)}.${quoted(column)}`)
}

/** The expression of a column in sort orders and, with `equal`, in comparisons that do not depend on an order. */
export function keyOf(path: Path, context: TextContext, use: 'equal' | 'order' = 'order'): Expression {
  const keyFunction = context.dialect.keyFunction(path.column.field.type, use)
  return keyFunction === undefined ? columnOf(path, context) : fn(keyFunction, columnOf(path, context))
}

/** The symbols of operators as Sequelize's generator takes them. */
const ORDERS = { '>': Op.gt, '>=': Op.gte, '<': Op.lt, '<=': Op.lte } as const

function whereOne(condition: ColumnComparison, name: string, context: TextContext): WhereOptions {
  const { path, comparison } = condition
  const key = keyOf(path, context, isOrder(comparison) ? 'order' : 'equal')
  const operands = paddedOperands(condition).map((_, position) =>
    context.dialect.operand(`${name}_${position}`, path.column.field)
  )
  switch (comparison) {
    case 'isNull':
      return isNull(key)
    case 'isNotNull':
      return isNotNull(key)
    case 'lessThanNull':
      return where(key, Op.lt, literal('NULL'))
    case 'never':
      return where(fn('LENGTH', columnOf(path, context)), Op.lt, literal('0'))
    default: {
      const compared = whereCompared(comparison, { path, key, operands }, context)
      return isNegated(comparison) ? orNull(compared, path, key) : compared
    }
  }
}

function isOrder(comparison: ColumnComparison['comparison']): boolean {
  const kind = isOperator(comparison) ? OPERATORS[comparison].sql.kind : comparison
  return kind === 'order' || kind === 'between' || kind === 'lessThanNull'
}

/** The SQL of a comparison, by the operator table. */
function whereCompared(
  comparison: Comparison,
  { path, key, operands }: { readonly path: Path; readonly key: Expression; readonly operands: readonly string[] },
  context: TextContext
): WhereOptions {
  const { sql } = OPERATORS[comparison]
  const negated = isNegated(comparison)
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
      return whereText(path, { match: sql.match, negated, operand: operands.join() }, context)
    case 'empty':
      return hasEmptyText(path) ? { [Op.or]: [isNull(key), where(key, Op.eq, literal("''"))] } : isNull(key)
    case 'notEmpty':
      return hasEmptyText(path) ? where(key, Op.ne, literal("''")) : isNotNull(key)
  }
}

/** Types of which a value can be the empty text: a set without words, and an enum that MySQL had no word for. */
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
  const column = columnOf(path, context)
  if (path.column.field.type === 'set') {
    return where(context.dialect.hasWord(column, operand), Op.eq, literal(negated ? '0' : '1'))
  }
  const matchFunction = context.dialect.matchFunction(match)
  if (matchFunction === undefined)
    return where(column, negated ? Op.notLike : Op.like, literal(`${operand} ESCAPE '!'`))
  return where(fn(matchFunction, column, literal(operand)), Op.eq, literal(negated ? '0' : '1'))
}

/** A negative comparison also matches rows without a value. A column that is never null needs no OR: the index stays usable. */
function orNull(negative: WhereOptions, path: Path, key: Expression): WhereOptions {
  return path.column.field.nullable || path.through !== null ? { [Op.or]: [negative, isNull(key)] } : negative
}

function isNull(key: Expression): WhereOptions {
  return where(key, Op.is, literal('NULL'))
}

function isNotNull(key: Expression): WhereOptions {
  return where(key, Op.not, literal('NULL'))
}

function boundOperand(operand: Operand, { path, comparison }: ColumnComparison, dialect: SqlDialect): BoundValue {
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  return sql?.kind === 'match' && path.column.field.type !== 'set'
    ? dialect.bindMatch(String(operand), sql.match)
    : dialect.bind(operand, path.column.field)
}

/** The operands of a condition; lists are padded. */
function paddedOperands({ comparison, operands }: ColumnComparison): readonly Operand[] {
  const isList = isOperator(comparison) && OPERATORS[comparison].operands === 'list'
  return isList ? padToPowerOfTwo(operands) : operands
}

/**
 * A list of values, filled up with its last member to a power of two, so that lists of many lengths share few statement
 * texts. Each text is prepared once on every connection. An empty list stays empty.
 */
export function padToPowerOfTwo<Member>(list: readonly Member[]): readonly Member[] {
  const last = list.at(-1)
  if (last === undefined) return list
  const length = 2 ** Math.ceil(Math.log2(list.length))
  return [...list, ...Array<Member>(length - list.length).fill(last)]
}

/** Whether a comparison is in the operator table. The others exist only in this folder. */
function isOperator(comparison: ColumnComparison['comparison']): comparison is Comparison {
  return comparison in OPERATORS
}
