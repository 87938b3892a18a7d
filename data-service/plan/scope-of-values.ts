import type { Column } from '../entity/entity.js'
import type { Field, Operand, Value } from '../entity/fields/field.js'
import type { ColumnCondition, Condition, RowScope } from './model/plans.js'

// Whether a row that is not written yet would be in a scope. It lets a 403 come before the conflicts that the write would end
// with (contract.md section 2), and spares the statement by which the database decides it of the row that was written. What
// is `unknown` here, that statement has to decide.

/** `unknown`: the row is not known well enough, or the database may store the value in another form. */
export type Place = 'inside' | 'outside' | 'unknown'

/** The value that the row will have in a column; undefined where that is not known. */
type ValueOf = (column: Column) => Value | undefined

export function placeInScope(scope: RowScope, valueOf: ValueOf): Place {
  return scope.kind === 'all-rows' ? 'inside' : placeInAll(scope.conditions, valueOf)
}

function placeInAll(conditions: readonly Condition[], valueOf: ValueOf): Place {
  return placeOfAll(conditions.map((one) => placeIn(one, valueOf)))
}

/** Inside where all of them are. */
export function placeOfAll(places: readonly Place[]): Place {
  if (places.includes('outside')) return 'outside'
  return places.includes('unknown') ? 'unknown' : 'inside'
}

function placeIn(condition: Condition, valueOf: ValueOf): Place {
  if ('allOf' in condition) return placeInAll(condition.allOf, valueOf)
  if ('anyOf' in condition) return placeInAny(condition.anyOf.map((one) => placeIn(one, valueOf)))
  const { through, column } = condition.path
  const value = through === null ? valueOf(column) : undefined
  return value === undefined ? 'unknown' : compare(value, condition)
}

function placeInAny(places: readonly Place[]): Place {
  if (places.includes('inside')) return 'inside'
  return places.includes('unknown') ? 'unknown' : 'outside'
}

function compare(value: Value, condition: ColumnCondition): Place {
  const { exact, column } = condition.path
  const { field } = column
  if (exact === true && typeof value === 'string') return compareText(value, condition)
  switch (condition.comparison) {
    case 'isEmpty':
      return emptiness(value)
    case 'isNotEmpty':
      return opposite(emptiness(value))
    // A negative operator keeps rows without a value.
    case 'notEquals':
      return value === null ? 'inside' : opposite(isEqual(value, condition.operands[0], field))
    case 'notContains':
      return value === null ? 'inside' : 'unknown'
    case 'equals':
      return value === null ? 'outside' : isEqual(value, condition.operands[0], field)
    case 'in':
      return value === null
        ? 'outside'
        : placeInAny(condition.operands.map((operand) => isEqual(value, operand, field)))
    case 'greaterThan':
    case 'greaterThanOrEqual':
    case 'lessThan':
    case 'lessThanOrEqual':
    case 'between':
      return value === null ? 'outside' : order(integerOf(value, field), condition.comparison, condition.operands)
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return value === null ? 'outside' : 'unknown'
  }
}

/** By the characters, as the database compares text in scopes. */
function compareText(value: string, { comparison, operands }: ColumnCondition): Place {
  // A column of the type CHAR keeps no spaces at the end of a text.
  if (value.endsWith(' ')) return 'unknown'
  const part = String(operands[0])
  switch (comparison) {
    case 'isEmpty':
      return placed(value === '')
    case 'isNotEmpty':
      return placed(value !== '')
    case 'equals':
      return placed(value === part)
    case 'notEquals':
      return placed(value !== part)
    case 'in':
      return placed(operands.some((one) => one === value))
    case 'contains':
      return placed(value.includes(part))
    case 'notContains':
      return placed(!value.includes(part))
    case 'startsWith':
      return placed(value.startsWith(part))
    case 'endsWith':
      return placed(value.endsWith(part))
    case 'greaterThan':
    case 'greaterThanOrEqual':
    case 'lessThan':
    case 'lessThanOrEqual':
    case 'between':
      return 'unknown'
  }
}

function emptiness(value: Value): Place {
  return placed(value === null || (Array.isArray(value) && value.length === 0))
}

function isEqual(value: Value, operand: Operand, { type }: Field): Place {
  switch (type) {
    case 'int':
    case 'long':
      return placed(integer(value) === integer(operand))
    case 'bool':
    case 'guid':
    case 'date':
      return placed(value === operand)
    case 'string':
    case 'enum':
    case 'decimal':
    case 'double':
    case 'dateTime':
    case 'time':
    case 'set':
    case 'json':
    case 'binary':
      return 'unknown'
  }
}

type Ordering = 'greaterThan' | 'greaterThanOrEqual' | 'lessThan' | 'lessThanOrEqual' | 'between'

/** Of whole numbers alone. */
function order(number: bigint | undefined, comparison: Ordering, operands: readonly Operand[]): Place {
  if (number === undefined) return 'unknown'
  const [first, second] = operands.map(integer)
  if (first === undefined) return 'unknown'
  switch (comparison) {
    case 'greaterThan':
      return placed(number > first)
    case 'greaterThanOrEqual':
      return placed(number >= first)
    case 'lessThan':
      return placed(number < first)
    case 'lessThanOrEqual':
      return placed(number <= first)
    case 'between':
      return placed(number >= first && second !== undefined && number <= second)
  }
}

function integerOf(value: Value, { type }: Field): bigint | undefined {
  return type === 'int' || type === 'long' ? integer(value) : undefined
}

function integer(value: Value): bigint {
  return BigInt(String(value))
}

function placed(isInside: boolean): Place {
  return isInside ? 'inside' : 'outside'
}

function opposite(place: Place): Place {
  if (place === 'unknown') return place
  return place === 'inside' ? 'outside' : 'inside'
}
