import type { Field } from '../fields/field.js'
import { schemaViolation, validatorOf } from '../fields/json-schema.js'
import { jsonText } from '../fields/json-values.js'
import { never, plainCell, type TypeRules, Unmet } from './type-rules.js'

export const jsonRules: TypeRules = {
  parse: never,
  expected: () => 'a value that can be compared',
  fromJson: (value) => jsonText(value),
  taken: () => 'JSON',
  outOfBounds: (value, { schema }) => {
    const violation = schema && schemaViolation(String(value), schema)
    return violation === undefined ? undefined : new Unmet(violation)
  },
  holds: (value) => typeof value === 'string' && isJson(value),
  form: 'the text of a JSON value',
  isWritten: () => false,
  comparable: [],
  operandOf: never,
  difference: never,
  width: () => Number.POSITIVE_INFINITY,
  example: (_name, field) => madeJson(field),
  json: String,
  cell: plainCell
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const JSON_VALUES: readonly unknown[] = [{}, [], 'text', 1, true]

function madeJson({ schema }: Field): string | undefined {
  if (schema === undefined) return '{}'
  const { examples, default: byDefault } = schema
  const told = [...(Array.isArray(examples) ? (examples as readonly unknown[]) : []), byDefault]
  const validate = validatorOf(schema)
  const found = [...told, ...JSON_VALUES].find((value) => value !== undefined && validate(value))
  return found === undefined ? undefined : JSON.stringify(found)
}
