import type { Field, Value } from '../fields/field.js'
import { storedJson } from '../fields/json-parser.js'
import { Unmet } from '../types/type-rules.js'
import { parseMember, TYPES, valueEncoder } from '../types/types.js'

/**
 * An example that no request could send, or that rows have in another form. It is read as a member of a body is, so that
 * what an entity file shows is what the service takes.
 */
export function exampleMistakes(name: string, field: Field): string[] {
  const { example, type } = field
  if (example === undefined) return []
  if (!isOfType(example, field)) return [`the example of \`${name}\` must be ${TYPES[type].form}.`]
  const encode = valueEncoder(type)
  const parsed = parseMember(storedJson(encode(example)), field)
  if (parsed instanceof Unmet)
    return [`the example of \`${name}\`, ${JSON.stringify(example)}, must ${parsed.message}.`]
  // The digits and spaces of a JSON text are the application's choice.
  if (type === 'json' || encode(parsed) === encode(example)) return []
  return [
    `the example of \`${name}\`, ${JSON.stringify(example)}, must be written as rows have it: ${JSON.stringify(parsed)}.`
  ]
}

/** Whether the value is in the form that values of the type have in the service (field.ts), as far as JavaScript tells. */
function isOfType(example: Exclude<Value, null>, field: Field): boolean {
  switch (field.type) {
    case 'bool':
      return typeof example === 'boolean'
    case 'int':
    case 'double':
      return typeof example === 'number' && Number.isFinite(example)
    case 'set':
      return Array.isArray(example)
    case 'binary':
      return Buffer.isBuffer(example)
    case 'json':
      return TYPES.json.holds(example, field)
    default:
      return typeof example === 'string'
  }
}
