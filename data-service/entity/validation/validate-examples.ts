import { parseMember } from '../../plan/parsing/body.js'
import { storedJson } from '../../plan/parsing/json-values.js'
import type { Field, Value } from '../fields/field.js'
import { valueEncoder } from '../fields/json-text.js'

/**
 * An example that no request could send, or that rows have in another form. It is read as a member of a body is, so that
 * what an entity file shows is what the service takes.
 */
export function exampleMistakes(name: string, field: Field): string[] {
  const { example, type } = field
  if (example === undefined) return []
  if (!isOfType(example, field)) return [`the example of \`${name}\` must be ${FORMS[type]}.`]
  const encode = valueEncoder(type)
  const parsed = parseMember(storedJson(encode(example)), field)
  if (parsed instanceof Error) return [`the example of \`${name}\`, ${shown(example)}, must ${parsed.message}.`]
  // The digits and spaces of a JSON text are the application's choice.
  if (type === 'json' || encode(parsed) === encode(example)) return []
  return [`the example of \`${name}\`, ${shown(example)}, must be written as rows have it: ${shown(parsed)}.`]
}

/** Whether the value is in the form that values of the type have in the service (field.ts), as far as JavaScript tells. */
function isOfType(example: Exclude<Value, null>, { type }: Field): boolean {
  switch (type) {
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
      return typeof example === 'string' && isJson(example)
    default:
      return typeof example === 'string'
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const FORMS = {
  string: 'a text',
  bool: 'true or false',
  int: 'a number',
  long: 'a text of digits',
  decimal: 'a text of digits such as "19.90"',
  double: 'a number',
  dateTime: 'a text such as "2026-01-31T08:00:00.000Z"',
  date: 'a text such as "2026-01-31"',
  time: 'a text such as "08:00:00"',
  guid: 'a text such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"',
  enum: 'one of its words',
  set: 'a list of some of its words',
  json: 'the text of a JSON value',
  binary: 'a Buffer'
} as const satisfies Readonly<Record<Field['type'], string>>

function shown(value: Value): string {
  return JSON.stringify(value)
}
