import type { Property } from '../data-calls.js'

export interface ValueSchema {
  readonly type: string
  readonly [keyword: string]: unknown
}

/** The schema of a property on the wire, contract.md section 3. */
export function propertySchema(property: Property): object {
  const schema = valueSchema(property)
  return property.nullable ? { ...schema, type: [schema.type, 'null'] } : schema
}

/** The schema of a value that is there, as in a path. */
export function valueSchema(property: Property): ValueSchema {
  switch (property.type) {
    case 'bool':
      return { type: 'boolean' }
    case 'int':
      return { type: 'integer', format: 'int32', minimum: -2_147_483_648, maximum: 2_147_483_647 }
    case 'long':
      return { type: 'string', pattern: '^-?[0-9]{1,19}$', description: 'A 64-bit integer in exact digits.' }
    case 'decimal':
      return { type: 'string', pattern: decimalPattern(property), description: 'Exact digits, scale kept.' }
    case 'dateTime':
      return {
        type: 'string',
        format: 'date-time',
        pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'
      }
    case 'guid':
      return { type: 'string', format: 'uuid' }
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64' }
    default:
      return { type: 'string', ...(property.maxLength > 0 ? { maxLength: property.maxLength } : {}) }
  }
}

function decimalPattern({ precision, scale }: Property): string {
  const digits = `^-?[0-9]{1,${Math.max(1, precision - scale)}}`
  return scale > 0 ? `${digits}\\.[0-9]{${scale}}$` : `${digits}$`
}
