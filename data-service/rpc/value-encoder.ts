import type { FieldType } from '../entity/field.js'
import type { Value } from '../entity/value.js'

/** A value as JSON text. */
export type ValueEncoder = (value: Value) => string

/** Values already have their form on the wire (entity/value.ts); only free text can need escaping. */
export function valueEncoder(type: FieldType | 'bytes'): ValueEncoder {
  switch (type) {
    case 'string':
      return JSON.stringify
    case 'bool':
    case 'int':
      return String
    case 'long':
    case 'decimal':
    case 'dateTime':
    case 'guid':
      return (value) => (value === null ? 'null' : `"${String(value)}"`)
    case 'bytes':
      return (value) => (value === null ? 'null' : `"${Buffer.isBuffer(value) ? value.toString('base64') : ''}"`)
  }
}
