import type { Column, KeyColumns } from '../../../entity/fields/columns.js'
import type { Operand } from '../../../entity/fields/field.js'
import { idText, type RowKey } from '../../../entity/key.js'
import { type Comparison, OPERATORS } from '../../../entity/fields/operators.js'
import { type Join, type Path, type RowScope, stepsOf } from '../../../plan/model/plans.js'
import {
  bindNamesOfTwo,
  type BoundValue,
  type BoundValues,
  padToPowerOfTwo,
  quotedIdentifier,
  type SqlDialect,
  VERSION_KEY
} from '../../engines/statement.js'

/**
 * A condition of a statement: a comparison, or several conditions joined by OR or by AND. `isFilter`: no index is chosen
 * for it. `notAllOf` is true for rows that do not meet every one of them, those without a value to compare included.
 */
export type RowCondition =
  | ColumnComparison
  | KeyListComparison
  | { readonly anyOf: readonly RowCondition[]; readonly isFilter?: true }
  | { readonly allOf: readonly RowCondition[] }
  | { readonly notAllOf: readonly RowCondition[] }

/**
 * A comparison: that of a plan, or one of this folder. Unlike `isEmpty`, `isNull` and `isNotNull` treat an empty string as
 * a value. `lessThanNull` and `never` are true for no row. `isKey`, `refersTo` and their lists are those of keys and of
 * foreign keys. They differ from `equals` and `in` for texts alone: a key is the operand character by character, a foreign
 * key refers to what the database takes for equal, and a list finds at least the rows of the operands. `inFullText` finds
 * rows by the full-text index that begins with the column.
 */
export interface ColumnComparison {
  readonly path: Path
  readonly comparison:
    | Comparison
    | KeyComparison
    | 'isNull'
    | 'isNotNull'
    | 'lessThanNull'
    | 'never'
    | 'beginsWord'
    | 'inFullText'
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

/**
 * The conditions with one more, by which a full-text index finds at least the rows with the words of a search. The index does
 * not decide what a word is: it leaves out short words and stopwords, and does not tell accents apart.
 */
export function byFullText(conditions: readonly RowCondition[], dialect: SqlDialect): readonly RowCondition[] {
  const words = conditions.flatMap((one): ColumnComparison[] => {
    const [first] = 'anyOf' in one ? one.anyOf : []
    return first !== undefined && 'path' in first && first.comparison === 'beginsWord' ? [first] : []
  })
  const [first] = words
  if (first === undefined || dialect.fullTextIndex(first.path.column) === undefined) return conditions
  const query = dialect.words?.query(words.map(({ operands }) => String(operands[0])))
  return query === undefined
    ? conditions
    : [{ path: first.path, comparison: 'inFullText', operands: [query] }, ...conditions]
}

/** The row with this key. */
export function keyIs(columns: KeyColumns, key: RowKey): RowCondition[] {
  return columns.map((column, at) => ({ path: pathOfColumn(column), comparison: 'isKey', operands: [partOf(key, at)] }))
}

/** The rows whose foreign key refers to the row with this key. */
export function refersTo(columns: KeyColumns, key: RowKey): RowCondition[] {
  return columns.map((column, at) => ({
    path: pathOfColumn(column),
    comparison: 'refersTo',
    operands: [partOf(key, at)]
  }))
}

/** The rows with one of these keys, or that refer to one of them. */
export function keyIn(
  columns: KeyColumns,
  keys: readonly RowKey[],
  comparison: 'isKeyIn' | 'refersToIn'
): RowCondition {
  const [first, second, ...others] = columns
  if (second === undefined) return { path: pathOfColumn(first), comparison, operands: keys.map(([value]) => value) }
  const paths = [pathOfColumn(first), pathOfColumn(second), ...others.map(pathOfColumn)] as const
  return { paths, comparison, operands: padToPowerOfTwo(keys).flat() }
}

function pathOfColumn(column: Column): Path {
  return { through: null, column }
}

function partOf(key: RowKey, at: number): Operand {
  const part = key[at]
  if (part === undefined) throw new TypeError('A key has fewer parts than its columns')
  return part
}

declare const isScoped: unique symbol

/** Conditions with those of the scope of whoever reads. Only `inScope` and `inScopesOf` make them, and pages take no others. */
export type ScopedConditions = readonly RowCondition[] & { readonly [isScoped]: true }

export function scopeConditions(scope: RowScope): readonly RowCondition[] {
  return scope.kind === 'all-rows' ? [] : scope.conditions
}

/** The rows that are not in the scope. */
export function outsideOf(scope: RowScope): RowCondition {
  // No row is outside of all rows, and an empty list of conditions has no text.
  if (scope.kind === 'all-rows') throw new TypeError('No row is outside of a scope of all rows')
  return { notAllOf: scope.conditions }
}

export function inScope(conditions: readonly RowCondition[], scope: RowScope): ScopedConditions {
  return scopedBy([...conditions, ...scopeConditions(scope)])
}

/** A row, and the scope of the caller who wants it. */
export interface WantedRow {
  readonly key: RowKey
  readonly scope: RowScope
}

/**
 * The wanted rows, each if it is in the scope of the caller who wants it. The rows that are found do not tell for whom, so
 * two callers may want the same row only if their scopes are equal.
 *
 * The keys stand in a list of their own, by which the rows are found. The optimizer must not see the pairs of key and
 * scope: it would estimate every index of a column of the scope for each of them, and prefer one.
 */
export function inScopesOf(
  columns: KeyColumns,
  wanted: readonly [WantedRow, ...WantedRow[]],
  dialect: SqlDialect
): ScopedConditions {
  const [first, ...others] = wanted
  if (others.length === 0) return inScope(keyIs(columns, first.key), first.scope)
  const listed = keyIn(
    columns,
    wanted.map(({ key }) => key),
    'isKeyIn'
  )
  if (wanted.every(({ scope }) => scope.kind === 'all-rows')) return scopedBy([listed])
  const scopes = new Map<string, RowScope>()
  for (const { key, scope } of wanted) {
    const other = scopes.get(idText(key)) ?? scope
    if (!areEqualScopes(scope, other, dialect)) throw new TypeError('Two callers want a row in different scopes')
    scopes.set(idText(key), other)
  }
  const pairs = padToPowerOfTwo(wanted).map(({ key, scope }) => ({
    allOf: [...keyIs(columns, key), ...scopeConditions(scope)]
  }))
  return scopedBy([listed, { anyOf: pairs, isFilter: true }])
}

function scopedBy(conditions: readonly RowCondition[]): ScopedConditions {
  return conditions as ScopedConditions
}

/** Whether two scopes are the same conditions with the same values. */
export function areEqualScopes(one: RowScope, other: RowScope, dialect: SqlDialect): boolean {
  return one === other || scopeKey(one, dialect) === scopeKey(other, dialect)
}

/** Scopes with the same text are the same conditions with the same values. */
export function scopeKey(scope: RowScope, dialect: SqlDialect): string {
  return scope.kind === 'all-rows' ? '' : conditionsText(scope.conditions, dialect)
}

/** The same of conditions of one entity. */
export function conditionsText(conditions: readonly RowCondition[], dialect: SqlDialect): string {
  const values = Object.values(comparedValues(conditions, dialect))
  const texts = values.map((value) =>
    Buffer.isBuffer(value) ? `bytes ${value.toString('hex')}` : `${typeof value} ${String(value)}`
  )
  return JSON.stringify([shapeOf(conditions), ...texts])
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
  if ('anyOf' in combined) return combined.anyOf
  return 'allOf' in combined ? combined.allOf : combined.notAllOf
}

const operandName = bindNamesOfTwo('f')
const plainTextName = bindNamesOfTwo('t')

/** The operands of the conditions under the names that `whereAll` gave them. */
export function boundValues(conditions: readonly RowCondition[], dialect: SqlDialect): BoundValues {
  const values = comparedValues(conditions, dialect)
  if (dialect.versionKey !== undefined) values[VERSION_KEY] = dialect.versionKey
  return values
}

function comparedValues(conditions: readonly RowCondition[], dialect: SqlDialect): BoundValues {
  const values: BoundValues = {}
  comparisonsOf(conditions).forEach((condition, index) => {
    const paths = pathsOf(condition)
    paddedOperands(condition).forEach((operand, position) => {
      const path = paths[position % paths.length]
      if (path === undefined) return
      values[operandName(index, position)] = comparedOperand(
        operand,
        { path, comparison: condition.comparison },
        dialect
      )
      if (isOfTexts(path, condition)) values[plainTextName(index, position)] = String(operand)
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
  if (!isComparison(condition)) return `${joinedAs(condition)}(${shapeOf(partsOf(condition))})`
  const keys = pathsOf(condition).map((path) => (path.exact === true ? `${pathKey(path)}=` : pathKey(path)))
  return `${keys.join()} ${condition.comparison} ${paddedOperands(condition).length}`
}

function joinedAs(combined: Exclude<RowCondition, AnyComparison>): string {
  if ('allOf' in combined) return 'all'
  if ('notAllOf' in combined) return 'notAll'
  return combined.isFilter === true ? 'filter' : 'any'
}

export function pathKey({ through, column }: Path): string {
  return `${through === null ? '' : aliasOf(through, '')}.${quotedIdentifier(column.column)}`
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

function comparedOperand(
  operand: Operand,
  { path, comparison }: Pick<ColumnComparison, 'path' | 'comparison'>,
  dialect: SqlDialect
): BoundValue {
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  if (comparison === 'beginsWord' && dialect.words !== undefined) return dialect.words.bind(String(operand))
  return sql?.kind === 'match' && path.column.field.type !== 'set'
    ? dialect.bindMatch(String(operand), sql.match)
    : dialect.bindOperand(operand, path.column.field, isOfOne(comparison))
}

/** Whether the comparison takes one operand. */
export function isOfOne(comparison: ColumnComparison['comparison']): boolean {
  return isOperator(comparison)
    ? OPERATORS[comparison].operands === 'one'
    : ['isKey', 'refersTo', 'beginsWord', 'inFullText'].includes(comparison)
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

/** How many operands the text of a condition holds. Exact texts are compared by the rules of filters too. */
export function operandsInText(condition: AnyComparison): number {
  const isTwice = pathsOf(condition).some(({ exact }) => exact === true)
  return paddedOperands(condition).length * (isTwice ? 2 : 1)
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
  if (comparisons.reduce((sum, one) => sum + operandsInText(one), 0) > MAX_REPEATED) return false
  return comparisons.every((one) => pathsOf(one).every(({ through }) => through === null) && !isPartOfText(one))
}

function isPartOfText({ comparison }: AnyComparison): boolean {
  if (comparison === 'beginsWord') return true
  const sql = isOperator(comparison) ? OPERATORS[comparison].sql : undefined
  return sql?.kind === 'match' && !('negated' in sql) && sql.match !== 'startsWith'
}

/** Whether a comparison is in the operator table. The others exist only in this folder. */
export function isOperator(comparison: ColumnComparison['comparison']): comparison is Comparison {
  return comparison in OPERATORS
}
