import { col, fn, literal, Op, where, type WhereOptions } from 'sequelize'
import type { Operand } from '../entity/field.js'
import { type Comparison, OPERATORS } from '../entity/operators.js'
import type { Path } from '../plan/plans.js'
import type { SqlDialect, TextMatch } from './engines/engine.js'
import type { BoundValue, BoundValues } from './engines/statement.js'

/** An expression as Sequelize's generator takes it. */
export type Expression = ReturnType<typeof col> | ReturnType<typeof fn>

/**
 * A condition as this folder knows it: those of plans, and those of an export's place in a run of rows that share a
 * value. `inRun` is equality and `inRunOfNulls` the lack of a value, both to be read on from an id; unlike `isEmpty`
 * the latter two know no empty string.
 */
export interface RowCondition {
  readonly path: Path
  readonly comparison: Comparison | 'inRun' | 'inRunOfNulls' | 'isNotNull'
  readonly operands: readonly Operand[]
}

/** What the text of a SELECT is made for. */
export interface TextContext {
  readonly dialect: SqlDialect
  /** Alias of the root's table; the rows that references lead to go by the reference's name. */
  readonly root: string
}

/** All conditions ANDed. Only their shape gets into the text, the operands are bound by `boundValues`. */
export function whereAll(conditions: readonly RowCondition[], context: TextContext): WhereOptions {
  return { [Op.and]: conditions.map((condition, index) => whereOne(condition, `f${index}`, context)) }
}

/** The operands of the conditions under the names that `whereAll` gave them. */
export function boundValues(conditions: readonly RowCondition[], dialect: SqlDialect): BoundValues {
  const values: BoundValues = {}
  conditions.forEach((condition, index) => {
    paddedOperands(condition).forEach((operand, position) => {
      values[`f${index}_${position}`] = boundOperand(operand, condition, dialect)
    })
  })
  return values
}

/** Conditions of one shape have one text. */
export function shapeOf(conditions: readonly RowCondition[]): string {
  return conditions
    .map((condition) => `${pathKey(condition.path)} ${condition.comparison} ${paddedOperands(condition).length}`)
    .join(';')
}

export function pathKey({ through, column }: Path): string {
  return `${through?.name ?? ''}.${column.column}`
}

/** A column where it is selected. */
export function columnOf({ through, column }: Path, { root }: TextContext): ReturnType<typeof col> {
  return col(`${through?.name ?? root}.${column.column}`)
}

/** A column where it is compared or sorted by. */
export function keyOf(path: Path, context: TextContext): Expression {
  const keyFunction = context.dialect.keyFunction(path.column.field.type)
  return keyFunction === undefined ? columnOf(path, context) : fn(keyFunction, columnOf(path, context))
}

/** The symbols of operators as Sequelize's generator takes them. */
const ORDERS = { '>': Op.gt, '>=': Op.gte, '<': Op.lt, '<=': Op.lte } as const

function whereOne(condition: RowCondition, name: string, context: TextContext): WhereOptions {
  const { path, comparison } = condition
  const key = keyOf(path, context)
  const operands = paddedOperands(condition).map((_, position) =>
    context.dialect.operand(`${name}_${position}`, path.column.field)
  )
  switch (comparison) {
    case 'inRun':
      return inRun(key, literal(operands.join()), context)
    case 'inRunOfNulls':
      return inRunOfNulls(key, context)
    case 'isNotNull':
      return isNotNull(key)
    default: {
      const compared = whereCompared(comparison, { path, key, operands }, context)
      return isNegated(comparison) ? orNull(compared, path, key) : compared
    }
  }
}

/** A comparison as the operator table tells of its SQL. */
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
      return path.column.field.type === 'string'
        ? { [Op.or]: [isNull(key), where(key, Op.eq, literal("''"))] }
        : isNull(key)
    case 'notEmpty':
      return path.column.field.type === 'string' ? where(key, Op.ne, literal("''")) : isNotNull(key)
  }
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
  const matchFunction = context.dialect.matchFunction(match)
  if (matchFunction === undefined)
    return where(column, negated ? Op.notLike : Op.like, literal(`${operand} ESCAPE '!'`))
  return where(fn(matchFunction, column, literal(operand)), Op.eq, literal(negated ? '0' : '1'))
}

/** A negative comparison keeps the rows without a value; where there are none, the index stays usable. */
function orNull(negative: WhereOptions, path: Path, key: Expression): WhereOptions {
  return path.column.field.nullable || path.through !== null ? { [Op.or]: [negative, isNull(key)] } : negative
}

function isNull(key: Expression): WhereOptions {
  return where(key, Op.is, literal('NULL'))
}

/** For an equality MySQL and MariaDB read the whole run; for a range they begin at the id. */
function inRun(key: Expression, operand: ReturnType<typeof literal>, { dialect }: TextContext): WhereOptions {
  return dialect.runsAsRanges
    ? { [Op.and]: [where(key, Op.gte, operand), where(key, Op.lte, operand)] }
    : where(key, Op.eq, operand)
}

/** For IS NULL they do the same; hidden in a function, it leaves them the primary key, which begins at the id too. */
function inRunOfNulls(key: Expression, { dialect }: TextContext): WhereOptions {
  return dialect.runsAsRanges ? where(fn('ISNULL', key), Op.eq, literal('1')) : isNull(key)
}

function isNotNull(key: Expression): WhereOptions {
  return where(key, Op.not, literal('NULL'))
}

function boundOperand(operand: Operand, { path, comparison }: RowCondition, dialect: SqlDialect): BoundValue {
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  return sql?.kind === 'match'
    ? dialect.bindMatch(String(operand), sql.match)
    : dialect.bind(operand, path.column.field)
}

/** The operands as they are bound: lists are padded. */
function paddedOperands({ comparison, operands }: RowCondition): readonly Operand[] {
  const isList = isOperator(comparison) && OPERATORS[comparison].operands === 'list'
  return isList ? padToPowerOfTwo(operands) : operands
}

/**
 * A list of values for one statement, filled up with its last member to a power of two: lists of many lengths then share
 * few texts, each of which is prepared once on every connection. An empty list stays empty.
 */
export function padToPowerOfTwo<Member>(list: readonly Member[]): readonly Member[] {
  const last = list.at(-1)
  if (last === undefined) return list
  const length = 2 ** Math.ceil(Math.log2(list.length))
  return [...list, ...Array<Member>(length - list.length).fill(last)]
}

/** Whether a condition is of the operator table; the others are known to this folder alone. */
function isOperator(comparison: RowCondition['comparison']): comparison is Comparison {
  return comparison in OPERATORS
}
