import type { Column } from './columns.js'
import type { Field, Value } from './field.js'
import { validatorOf } from './json-schema.js'
import { rangeOf } from './numbers.js'

// Examples of values for documents, in the form in which rows have them (field.ts).

export type Example = Exclude<Value, null>

/**
 * What the entity file says, an example of the application's own type, the default, or a value made from type and name.
 * undefined for a json with a schema that takes none of the values tried.
 */
export function exampleOf({ name, field }: Pick<Column, 'name' | 'field'>): Example | undefined {
  return statedExample(field) ?? madeExample(name, field)
}

/** The example that the entity file says in one way or another; undefined where it says none. */
export function statedExample({ example, custom, defaultTo }: Field): Example | undefined {
  return example ?? custom?.examples[0] ?? defaultTo
}

function madeExample(name: string, field: Field): Example | undefined {
  const { type, words, precision, minLength } = field
  switch (type) {
    case 'string':
      return madeText(name, field)
    case 'bool':
      return true
    case 'int':
      return Number(madeInteger(field))
    case 'long':
      return madeInteger(field).toString()
    case 'decimal':
      return madeDecimal(field)
    case 'double':
      return within(1.5, field)
    case 'dateTime':
      return `${madeDay(name)}T08:00:00.${'0'.repeat(Math.max(3, precision))}Z`
    case 'date':
      return madeDay(name)
    case 'time':
      return precision === 0 ? '08:00:00' : `08:00:00.${'0'.repeat(precision)}`
    case 'guid':
      return '6f9619ff-8b86-d011-b42d-00c04fc964ff'
    case 'enum':
      return words[0]
    case 'set':
      return words.slice(0, 1)
    case 'json':
      return madeJson(field)
    case 'binary':
      return Buffer.from('example '.repeat(Math.ceil(minLength / 8) || 1)).subarray(0, field.maxLength)
  }
}

/** `Display name` for `displayName`, in as many characters as the column takes. */
function madeText(name: string, { minLength, maxLength }: Field): string {
  const email = 'someone@example.com'
  if (/e-?mail$/i.test(name) && email.length <= maxLength) return email
  const words = name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const text = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  return text.padEnd(minLength, ' example').slice(0, maxLength).trimEnd().padEnd(minLength, 'x')
}

/** 1, or the bound that is nearest to it. */
function madeInteger(field: Field): bigint {
  const { min, max } = rangeOf(field)
  const least = field.minimum === undefined ? min : BigInt(field.minimum)
  const most = field.maximum === undefined ? max : BigInt(field.maximum)
  return least > 1n ? least : most < 1n ? most : 1n
}

/** 10 where the column has two digits before the point, 1 or 0 where it has fewer, and no less or more than the bounds. */
function madeDecimal(field: Field): string {
  const { precision, scale } = field
  // Of a computed decimal nothing is known.
  const digits = precision === 0 ? 2 : precision - scale
  return within(digits >= 2 ? 10 : digits, field).toFixed(Math.min(scale, 20))
}

function within(value: number, { minimum, maximum }: Field): number {
  return Math.min(Math.max(value, Number(minimum ?? value)), Number(maximum ?? Infinity))
}

/** What ends, is due or is expected lies ahead of what begins. */
function madeDay(name: string): string {
  return /end|expire|expect|renew|until|due/i.test(name) ? '2030-12-31' : '2026-01-31'
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
