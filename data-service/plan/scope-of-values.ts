import type { Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/fields/field.js'
import type { ColumnCondition, Condition, RowScope } from './model/plans.js'
import type { StoredValue } from '../entity/types/type-rules.js'
import { TYPES } from '../entity/types/types.js'

// Whether a row is in a scope, by its values. Of a row that is not written yet it lets a 403 come before the conflicts that
// the write would end with (contract.md section 2), and spares the statement by which the database decides it of the row that
// was written. A stored answer is told again only if its values are in the scope, and this works even if the row is gone. The
// database decides what is `unknown` here.

/** `unknown`: the row is not known well enough, or the database may store the value in another form. */
export type Place = 'inside' | 'outside' | 'unknown'

/** The value that the row has, or will have, in a column; undefined where that is not known. */
type ValueOfColumn = (column: Column) => Value | undefined

export function placeInScope(scope: RowScope, valueOf: ValueOfColumn): Place {
  return scope.kind === 'all-rows' ? 'inside' : placeInAll(scope.conditions, valueOf)
}

function placeInAll(conditions: readonly Condition[], valueOf: ValueOfColumn): Place {
  return placeOfAll(conditions.map((one) => placeIn(one, valueOf)))
}

/** Inside where all of them are. */
export function placeOfAll(places: readonly Place[]): Place {
  if (places.includes('outside')) return 'outside'
  return places.includes('unknown') ? 'unknown' : 'inside'
}

function placeIn(condition: Condition, valueOf: ValueOfColumn): Place {
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
  const isEqual = (operand: Operand): Place => {
    const difference = value === null ? 1 : TYPES[field.type].difference(value, operand, field)
    return difference === undefined ? 'unknown' : placed(difference === 0)
  }
  if (exact === true && typeof value === 'string') return placeOfText(value, condition)
  switch (condition.comparison) {
    case 'isEmpty':
      return emptiness(value)
    case 'isNotEmpty':
      return opposite(emptiness(value))
    // A negative operator keeps rows without a value.
    case 'notEquals':
      return opposite(isEqual(condition.operands[0]))
    case 'notContains':
      return opposite(contains(value, condition.operands[0]))
    case 'equals':
      return isEqual(condition.operands[0])
    case 'in':
      return placeInAny(condition.operands.map(isEqual))
    case 'greaterThan':
    case 'greaterThanOrEqual':
    case 'lessThan':
    case 'lessThanOrEqual':
    case 'between':
      return value === null ? 'outside' : order(value, condition)
    case 'contains':
      return contains(value, condition.operands[0])
    case 'startsWith':
    case 'endsWith':
    case 'beginsWord':
      return value === null ? 'outside' : 'unknown'
  }
}

/** Whether a set has a word. Of a text the collation decides. */
function contains(value: Value, part: Operand): Place {
  if (value === null) return 'outside'
  return Array.isArray(value) ? placed(value.includes(part)) : 'unknown'
}

/** A column of the type CHAR keeps no spaces at the end of a text: known is what holds with them and without. */
function placeOfText(value: string, condition: ColumnCondition): Place {
  const place = compareText(value, condition)
  return compareText(withoutSpaces(value), condition) === place ? place : 'unknown'
}

function withoutSpaces(value: string): string {
  let end = value.length
  while (value[end - 1] === ' ') end -= 1
  return value.slice(0, end)
}

/** By the characters, as the database compares text in scopes. */
function compareText(value: string, { comparison, operands }: ColumnCondition): Place {
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
    case 'beginsWord':
      return 'unknown'
  }
}

function emptiness(value: Value): Place {
  return placed(value === null || (Array.isArray(value) && value.length === 0))
}

function order(value: StoredValue, { comparison, operands, path }: ColumnCondition): Place {
  const { field } = path.column
  const [first, second = first] = operands.map((operand) => TYPES[field.type].difference(value, operand, field))
  if (first === undefined || second === undefined) return 'unknown'
  switch (comparison) {
    case 'greaterThan':
      return placed(first > 0)
    case 'greaterThanOrEqual':
      return placed(first >= 0)
    case 'lessThan':
      return placed(first < 0)
    case 'lessThanOrEqual':
      return placed(first <= 0)
    case 'between':
      return placed(first >= 0 && second <= 0)
    default:
      return 'unknown'
  }
}

function placed(isInside: boolean): Place {
  return isInside ? 'inside' : 'outside'
}

function opposite(place: Place): Place {
  if (place === 'unknown') return place
  return place === 'inside' ? 'outside' : 'inside'
}
