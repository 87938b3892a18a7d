import { col, fn, literal, Op, where, type WhereOptions } from 'sequelize'
import type { Comparison } from '../entity/operator.js'
import type { Path } from '../plan/condition.js'
import type { Operand } from '../entity/value.js'
import type { BoundValue, SqlDialect, TextMatch } from './dialect.js'

/** An expression as Sequelize's generator takes it. */
export type Expression = ReturnType<typeof col> | ReturnType<typeof fn>

/** Values by the name they are bound under, `$f0_1` for the second operand of the first condition. */
export type BoundValues = Record<string, BoundValue>

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
    padded(condition).forEach((operand, position) => {
      values[`f${index}_${position}`] = boundOperand(operand, condition, dialect)
    })
  })
  return values
}

/** Conditions of one shape have one text. */
export function shapeOf(conditions: readonly RowCondition[]): string {
  return conditions
    .map((condition) => `${pathKey(condition.path)} ${condition.comparison} ${padded(condition).length}`)
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

function whereOne(condition: RowCondition, name: string, context: TextContext): WhereOptions {
  const { path, comparison } = condition
  const key = keyOf(path, context)
  const operands = padded(condition).map((_, position) =>
    context.dialect.operand(`${name}_${position}`, path.column.field)
  )
  switch (comparison) {
    case 'equals':
      return where(key, Op.eq, literal(operands.join()))
    case 'notEquals':
      return orNull(where(key, Op.ne, literal(operands.join())), path, key)
    case 'greaterThan':
      return where(key, Op.gt, literal(operands.join()))
    case 'greaterThanOrEqual':
      return where(key, Op.gte, literal(operands.join()))
    case 'lessThan':
      return where(key, Op.lt, literal(operands.join()))
    case 'lessThanOrEqual':
      return where(key, Op.lte, literal(operands.join()))
    case 'in':
      return where(key, Op.in, literal(`(${operands.join(', ') || 'NULL'})`))
    case 'between':
      return where(key, Op.between, literal(operands.join(' AND ')))
    case 'inRun':
      return inRun(key, literal(operands.join()), context)
    case 'inRunOfNulls':
      return inRunOfNulls(key, context)
    case 'isNotNull':
      return isNotNull(key)
    case 'isEmpty':
      return path.column.field.type === 'string'
        ? { [Op.or]: [isNull(key), where(key, Op.eq, literal("''"))] }
        : isNull(key)
    case 'isNotEmpty':
      return path.column.field.type === 'string' ? where(key, Op.ne, literal("''")) : isNotNull(key)
    case 'notContains':
      return orNull(whereText(path, { match: 'contains', negated: true, operand: operands.join() }, context), path, key)
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return whereText(path, { match: comparison, negated: false, operand: operands.join() }, context)
  }
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
  switch (comparison) {
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return dialect.bindMatch(String(operand), comparison)
    case 'notContains':
      return dialect.bindMatch(String(operand), 'contains')
    default:
      return dialect.bind(operand, path.column.field)
  }
}

/** An `in` list filled up with its last member to a power of two, so that few lengths make few texts. */
function padded({ comparison, operands }: RowCondition): readonly Operand[] {
  const last = operands.at(-1)
  if (comparison !== 'in' || last === undefined) return operands
  const length = 2 ** Math.ceil(Math.log2(operands.length))
  return [...operands, ...Array<Operand>(length - operands.length).fill(last)]
}
