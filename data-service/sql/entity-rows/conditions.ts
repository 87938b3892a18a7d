import type { Column, KeyColumns } from '../../entity/fields/columns.js'
import type { Operand } from '../../entity/fields/field.js'
import type { RowKey } from '../../entity/key.js'
import { type Comparison, OPERATORS } from '../../entity/fields/operators.js'
import { type Join, type Path, stepsOf } from '../../plan/model/plans.js'
import { type BoundValue, type BoundValues, padToPowerOfTwo, quoted, type SqlDialect } from '../engines/statement.js'

/** A condition of a statement: a comparison, or several conditions joined by OR or by AND. */
export type RowCondition =
  | ColumnComparison
  | KeyListComparison
  | { readonly anyOf: readonly RowCondition[] }
  | { readonly allOf: readonly RowCondition[] }

/**
 * A comparison: that of a plan, or one of this folder. Unlike `isEmpty`, `isNull` and `isNotNull` treat an empty string as
 * a value. `lessThanNull` and `never` are true for no row. `isKey`, `refersTo` and their lists are those of keys and of
 * foreign keys. They differ from `equals` and `in` for texts alone: a key is the operand character by character, a foreign
 * key refers to what the database takes for equal, and a list finds at least the rows of the operands.
 */
export interface ColumnComparison {
  readonly path: Path
  readonly comparison: Comparison | KeyComparison | 'isNull' | 'isNotNull' | 'lessThanNull' | 'never'
  readonly operands: readonly Operand[]
}

export type KeyComparison = 'isKey' | 'isKeyIn' | 'refersTo' | 'refersToIn'

/** Rows whose columns are one of a list of composite keys. Texts are compared as `ColumnComparison` says. */
export interface KeyListComparison {
  readonly paths: readonly [Path, Path, ...Path[]]
  readonly comparison: 'isKeyIn' | 'refersToIn'
  /** The values of all keys, one key after the other. */
  readonly operands: readonly Operand[]
}

/** The row with this key. */
export function keyIs(columns: KeyColumns, key: RowKey): RowCondition[] {
  return columns.map((column, at) => ({ path: ownPath(column), comparison: 'isKey', operands: [partOf(key, at)] }))
}

/** The rows whose foreign key refers to the row with this key. */
export function refersTo(columns: KeyColumns, key: RowKey): RowCondition[] {
  return columns.map((column, at) => ({ path: ownPath(column), comparison: 'refersTo', operands: [partOf(key, at)] }))
}

/** The rows with one of these keys, or that refer to one of them. */
export function keyIn(
  columns: KeyColumns,
  keys: readonly RowKey[],
  comparison: 'isKeyIn' | 'refersToIn'
): RowCondition {
  const [first, second, ...others] = columns
  if (second === undefined) return { path: ownPath(first), comparison, operands: keys.map(([value]) => value) }
  const paths = [ownPath(first), ownPath(second), ...others.map(ownPath)] as const
  return { paths, comparison, operands: padToPowerOfTwo(keys).flat() }
}

function ownPath(column: Column): Path {
  return { through: null, column }
}

function partOf(key: RowKey, at: number): Operand {
  const part = key[at]
  if (part === undefined) throw new TypeError('A key has fewer parts than its columns')
  return part
}

export type AnyComparison = ColumnComparison | KeyListComparison

export function pathsOf(comparison: AnyComparison): readonly Path[] {
  return 'paths' in comparison ? comparison.paths : [comparison.path]
}

/** The comparisons of all conditions, in the order of the text. */
export function comparisonsOf(conditions: readonly RowCondition[]): readonly AnyComparison[] {
  // Most requests have no combined conditions.
  if (conditions.every(isComparison)) return conditions
  return conditions.flatMap((one) => (isComparison(one) ? one : comparisonsOf(partsOf(one))))
}

export function isComparison(condition: RowCondition): condition is AnyComparison {
  return 'comparison' in condition
}

export function partsOf(combined: Exclude<RowCondition, AnyComparison>): readonly RowCondition[] {
  return 'anyOf' in combined ? combined.anyOf : combined.allOf
}

/** The operands of the conditions under the names that `whereAll` gave them. */
export function boundValues(conditions: readonly RowCondition[], dialect: SqlDialect): BoundValues {
  const values: BoundValues = {}
  comparisonsOf(conditions).forEach((condition, index) => {
    const paths = pathsOf(condition)
    paddedOperands(condition).forEach((operand, position) => {
      const path = paths[position % paths.length]
      if (path === undefined) return
      values[`f${index}_${position}`] = boundOperand(operand, { path, comparison: condition.comparison }, dialect)
      if (isOfTexts(path, condition)) values[`t${index}_${position}`] = String(operand)
    })
  })
  return values
}

/** Whether the operand is bound as the plain text too, under `t…`. */
function isOfTexts({ column, exact }: Path, { comparison }: Pick<AnyComparison, 'comparison'>): boolean {
  return isText(column) && (exact === true || isOfKeys(comparison))
}

/** Whether the column is text that a collation compares. */
export function isText({ field: { type } }: Column): boolean {
  return type === 'string' || type === 'enum'
}

const KEY_COMPARISONS: readonly string[] = ['isKey', 'isKeyIn', 'refersTo', 'refersToIn'] satisfies KeyComparison[]

export function isOfKeys(comparison: AnyComparison['comparison']): comparison is KeyComparison {
  return KEY_COMPARISONS.includes(comparison)
}

/** A key of the conditions' shape: conditions of the same shape have the same text. */
export function shapeOf(conditions: readonly RowCondition[]): string {
  return conditions.map(shapeOfOne).join(';')
}

function shapeOfOne(condition: RowCondition): string {
  if (!isComparison(condition)) return `${'anyOf' in condition ? 'any' : 'all'}(${shapeOf(partsOf(condition))})`
  const keys = pathsOf(condition).map((path) => (path.exact === true ? `${pathKey(path)}=` : pathKey(path)))
  return `${keys.join()} ${condition.comparison} ${paddedOperands(condition).length}`
}

export function pathKey({ through, column }: Path): string {
  return `${through === null ? '' : aliasOf(through, '')}.${quoted(column.column)}`
}

/** The alias of a joined row: that of its last step, which begins at the row of the root. */
export function aliasOf(through: Join | null, root: string): string {
  return (through === null ? [] : stepsOf(through)).reduce((alias, { name }) => joinAlias(alias, name), root)
}

/**
 * The alias of the row that a reference leads to: `tickets->event->venue` for the venue of the event of a ticket. It
 * begins with the alias of the row it comes from, so that a reference may have the name of its own table. Sequelize
 * makes the same of further steps.
 */
export function joinAlias(from: string, reference: string): string {
  return `${from}->${reference}`
}

function boundOperand(
  operand: Operand,
  { path, comparison }: Pick<ColumnComparison, 'path' | 'comparison'>,
  dialect: SqlDialect
): BoundValue {
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  return sql?.kind === 'match' && path.column.field.type !== 'set'
    ? dialect.bindMatch(String(operand), sql.match)
    : dialect.bind(operand, path.column.field)
}

/** The operands of a condition; lists are padded. Those of composite keys are padded already, by whole keys. */
export function paddedOperands(condition: AnyComparison): readonly Operand[] {
  const { comparison, operands } = condition
  if ('paths' in condition) return operands
  const isList = isOperator(comparison)
    ? OPERATORS[comparison].operands === 'list'
    : comparison === 'isKeyIn' || comparison === 'refersToIn'
  return isList ? padToPowerOfTwo(operands) : operands
}

/** Operands that a statement with a total may hold twice. Longer lists would make its text too long to stay prepared. */
const MAX_REPEATED = 64

/**
 * Whether a statement that reads a page of the rows should count all of them too. It spares a round trip, but counts also
 * where the page itself shows that it has all rows. That is dear where it may take reading every row of the table to find
 * few: no index serves parts of texts, words of sets, and columns of joined rows.
 */
export function isCountedAlong(conditions: readonly RowCondition[]): boolean {
  const comparisons = comparisonsOf(conditions)
  if (comparisons.reduce((sum, one) => sum + paddedOperands(one).length, 0) > MAX_REPEATED) return false
  return comparisons.every((one) => pathsOf(one).every(({ through }) => through === null) && !isPartOfText(one))
}

function isPartOfText({ comparison }: AnyComparison): boolean {
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  return sql?.kind === 'match' && !('negated' in sql) && sql.match !== 'startsWith'
}

/** Whether a comparison is in the operator table. The others exist only in this folder. */
export function isOperator(comparison: ColumnComparison['comparison']): comparison is Comparison {
  return comparison in OPERATORS
}
