import type { Column } from '../entity/entity.js'
import type { Field, Operand, Value } from '../entity/fields/field.js'
import { compareDecimals } from '../entity/fields/numbers.js'
import type { ColumnCondition, Condition, RowScope } from './model/plans.js'

// Whether a row is in a scope, by its values. Of a row that is not written yet it lets a 403 come before the conflicts that
// the write would end with (contract.md section 2), and spares the statement by which the database decides it of the row that
// was written. A stored answer is told again only if its values are in the scope, and this works even if the row is gone. The
// database decides what is `unknown` here.

/** `unknown`: the row is not known well enough, or the database may store the value in another form. */
export type Place = 'inside' | 'outside' | 'unknown'

/** The value that the row has, or will have, in a column; undefined where that is not known. */
type ValueOf = (column: Column) => Value | undefined

/** `stored`: the database has given the values, and stores none of them in another form. */
type Form = 'stored' | 'unstored'

interface Known {
  readonly valueOf: ValueOf
  readonly form: Form
}

export function placeInScope(scope: RowScope, valueOf: ValueOf, form: Form = 'unstored'): Place {
  return scope.kind === 'all-rows' ? 'inside' : placeInAll(scope.conditions, { valueOf, form })
}

function placeInAll(conditions: readonly Condition[], known: Known): Place {
  return placeOfAll(conditions.map((one) => placeIn(one, known)))
}

/** Inside where all of them are. */
export function placeOfAll(places: readonly Place[]): Place {
  if (places.includes('outside')) return 'outside'
  return places.includes('unknown') ? 'unknown' : 'inside'
}

function placeIn(condition: Condition, known: Known): Place {
  if ('allOf' in condition) return placeInAll(condition.allOf, known)
  if ('anyOf' in condition) return placeInAny(condition.anyOf.map((one) => placeIn(one, known)))
  const { through, column } = condition.path
  const value = through === null ? known.valueOf(column) : undefined
  return value === undefined ? 'unknown' : compare(value, condition, known.form)
}

function placeInAny(places: readonly Place[]): Place {
  if (places.includes('inside')) return 'inside'
  return places.includes('unknown') ? 'unknown' : 'outside'
}

function compare(value: Value, condition: ColumnCondition, form: Form): Place {
  const { exact, column } = condition.path
  const isEqual = (operand: Operand): Place =>
    value === null ? 'outside' : equality({ value, operand, form, field: column.field })
  if (exact === true && typeof value === 'string') return compareText(value, condition)
  switch (condition.comparison) {
    case 'isEmpty':
      return emptiness(value)
    case 'isNotEmpty':
      return opposite(emptiness(value))
    // A negative operator keeps rows without a value.
    case 'notEquals':
      return opposite(isEqual(condition.operands[0]))
    case 'notContains':
      return value === null ? 'inside' : 'unknown'
    case 'equals':
      return isEqual(condition.operands[0])
    case 'in':
      return placeInAny(condition.operands.map(isEqual))
    case 'greaterThan':
    case 'greaterThanOrEqual':
    case 'lessThan':
    case 'lessThanOrEqual':
    case 'between':
      return value === null ? 'outside' : order(value, condition, form)
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

interface Compared {
  readonly value: Value
  readonly operand: Operand
  readonly form: Form
  readonly field: Field
}

function equality(compared: Compared): Place {
  const { value, operand, form, field } = compared
  const { type } = field
  if (type === 'bool' || type === 'guid') return placed(value === operand)
  if (type === 'enum' && form === 'stored') return placed(value === operand)
  const difference = differenceOf(compared)
  return difference === undefined ? 'unknown' : placed(difference === 0)
}

function order(value: Value, { comparison, operands, path }: ColumnCondition, form: Form): Place {
  const [first, second = first] = operands.map((operand) =>
    differenceOf({ value, operand, form, field: path.column.field })
  )
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

/**
 * Less than 0 if the value comes before the operand, and 0 if they are equal; undefined if the database may order them in
 * another way.
 */
function differenceOf({ value, operand, form, field }: Compared): number | undefined {
  switch (field.type) {
    case 'int':
    case 'long':
      return signOf(BigInt(String(value)) - BigInt(String(operand)))
    case 'date':
      return textOrder(String(value), String(operand))
    case 'decimal':
      return form === 'stored' ? compareDecimals(String(value), String(operand)) : undefined
    // A float has fewer digits than those of its text.
    case 'double':
      return form === 'stored' && field.storage !== 'float' ? Number(value) - Number(operand) : undefined
    case 'dateTime':
    case 'time':
      return form === 'stored' && !UNUSUAL_TIME.test(String(value))
        ? textOrder(instantOf(value), instantOf(operand))
        : undefined
    case 'string':
    case 'bool':
    case 'guid':
    case 'enum':
    case 'set':
    case 'json':
    case 'binary':
      return undefined
  }
}

/** A time of less than 0 or of more than 99 hours, as MySQL may hold it, is not in the order of its text. */
const UNUSUAL_TIME = /^(?:-|\d{3}:)/

/** With as many digits after the point as the longest has, so that texts are in the order of their instants. */
function instantOf(value: Value): string {
  const [whole = '', fraction = ''] = String(value).replace(/Z$/, '').split('.')
  return `${whole}.${fraction.padEnd(6, '0')}`
}

function textOrder(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function signOf(difference: bigint): number {
  if (difference === 0n) return 0
  return difference < 0n ? -1 : 1
}

function placed(isInside: boolean): Place {
  return isInside ? 'inside' : 'outside'
}

function opposite(place: Place): Place {
  if (place === 'unknown') return place
  return place === 'inside' ? 'outside' : 'inside'
}
