import type { NamedValues } from '../entity/action.js'
import type { Column } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import { outOfBounds } from './check-bounds.js'
import { fitDecimal, parseDecimal } from './decimal.js'
import { parseDateTime } from './parse-date-time.js'
import { GUID } from './parse-value.js'

/**
 * Values by name, as entity files answer them, by column. A name or a value that does not fit is a mistake of the entity
 * file, and no client's: a TypeError.
 */
export function assignments(named: NamedValues, columns: readonly Column[]): Map<Column, Value> {
  return new Map(
    Object.entries(named).map(([name, value]) => {
      const column = columns.find((one) => one.name === name)
      if (column === undefined) throw new TypeError(`${name} is no column`)
      return [column, checked(value, column)]
    })
  )
}

/** Values by name of a row by column. */
export function namedValues(values: Iterable<readonly [Column, Value]>): NamedValues {
  return Object.fromEntries(Array.from(values, ([{ name }, value]) => [name, value]))
}

/** A value for every column of a new row but an id that the database makes. */
export function completeRow(
  columns: readonly Column[],
  values: ReadonlyMap<Column, Value>,
  newGuid: () => string
): Map<Column, Value> {
  const row = new Map<Column, Value>()
  for (const column of columns) {
    const { name, field } = column
    const value = values.get(column)
    if (value !== undefined) row.set(column, value)
    else if (name === 'id') {
      if (field.type === 'guid') row.set(column, newGuid())
    } else if (field.defaultTo !== undefined) row.set(column, field.defaultTo)
    else if (field.nullable) row.set(column, null)
    else throw new TypeError(`${name} is not set`)
  }
  return row
}

function checked(value: Value, { name, field }: Column): Value {
  if (value === null && field.nullable) return null
  if (
    value !== null &&
    !Buffer.isBuffer(value) &&
    isOfType(value, field.type) &&
    outOfBounds(value, field) === undefined
  ) {
    const decimal = field.type === 'decimal' ? parseDecimal(String(value)) : undefined
    return decimal === undefined ? value : fitDecimal(decimal, field, 'exact')
  }
  throw new TypeError(`${name} does not take ${String(value)}`)
}

function isOfType(value: string | number | boolean, type: Column['field']['type']): boolean {
  switch (type) {
    case 'int':
      return typeof value === 'number' && Number.isInteger(value)
    case 'bool':
      return typeof value === 'boolean'
    case 'string':
    case 'decimal':
      return typeof value === 'string'
    case 'long':
      return typeof value === 'string' && /^-?\d+$/.test(value)
    case 'dateTime':
      return typeof value === 'string' && parseDateTime(value) === value
    case 'guid':
      return typeof value === 'string' && GUID.test(value)
  }
}
