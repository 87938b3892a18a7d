import type { Field } from '../../entity/field.js'
import type { Value } from '../../entity/value.js'

/** What a column holds of a value, ready to be bound: the migrations' column types decide. Strings lose no digit. */
export function storedValue(field: Field, value: Value, sqlite: boolean): Value {
  if (value === null || Buffer.isBuffer(value)) return value
  switch (field.type) {
    case 'bool':
      return value === true ? 1 : 0
    case 'decimal':
      return sqlite ? String(value).replace('.', '') : value
    case 'dateTime':
      return sqlite ? value : String(value).replace('T', ' ').replace('Z', '')
    default:
      return value
  }
}
