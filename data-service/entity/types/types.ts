import type { CellWriter } from '../fields/csv-text.js'
import type { Field, FieldType, Operand, Value } from '../fields/field.js'
import type { ValueEncoder, ValueWriter } from '../fields/json-text.js'
import type { JsonValue } from '../fields/json-values.js'
import { fitDecimal, parseDecimal } from '../fields/numbers.js'
import { base64urlRules } from './base64url.js'
import { binaryRules } from './binary.js'
import { boolRules } from './bool.js'
import { dateTimeRules } from './date-time.js'
import { dateRules } from './date.js'
import { decimalRules } from './decimal.js'
import { doubleRules } from './double.js'
import { enumRules } from './enum.js'
import { guidRules } from './guid.js'
import { intRules } from './int.js'
import { jsonRules } from './json.js'
import { longRules } from './long.js'
import { setRules } from './set.js'
import { stringRules } from './string.js'
import { timeRules } from './time.js'
import { parseCustom, type StoredValue, type TypeRules, Unmet } from './type-rules.js'

/** Each type of columns by its name. */
export const TYPES: Readonly<Record<FieldType, TypeRules>> = {
  string: stringRules,
  bool: boolRules,
  int: intRules,
  long: longRules,
  decimal: decimalRules,
  double: doubleRules,
  dateTime: dateTimeRules,
  date: dateRules,
  time: timeRules,
  guid: guidRules,
  enum: enumRules,
  set: setRules,
  json: jsonRules,
  binary: binaryRules,
  base64url: base64urlRules
}

/** How values of a type become JSON; `bytes` is a row version. */
export function valueEncoder(type: FieldType | 'bytes'): ValueEncoder {
  return TYPES[type === 'bytes' ? 'binary' : type].json
}

/** The same, written at once. */
export function valueWriter(type: FieldType | 'bytes'): ValueWriter {
  const encode = valueEncoder(type)
  if (encode !== JSON.stringify) return (value, out) => out.text(encode(value))
  return (value, out) => (typeof value === 'string' ? out.string(value) : out.text(encode(value)))
}

/** How values of a type become cells of CSV. */
export function cellWriter(type: FieldType | 'bytes'): CellWriter {
  return TYPES[type === 'bytes' ? 'binary' : type].cell
}

/** The most bytes that a value of the column may have, as far as the column says. */
export function widthOf(field: Field): number {
  return TYPES[field.type].width(field)
}

/**
 * A value for documents: what the entity file says, an example of the application's own type, the default, or a value made
 * from type and name. undefined for a json with a schema that takes none of the values tried.
 */
export function exampleOf({ name, field }: { readonly name: string; readonly field: Field }): StoredValue | undefined {
  return statedExample(field) ?? TYPES[field.type].example(name, field)
}

/** The example that the entity file says in one way or another; undefined where it says none. */
export function statedExample({ example, custom, defaultTo }: Field): StoredValue | undefined {
  return example ?? custom?.examples[0] ?? defaultTo
}

/** The text of a query or path as an operand of the column's type, or of the application's own type over it. */
export function parseValue(text: string, field: Field): Operand | undefined {
  const value = TYPES[field.type].parse(text, field)
  return value === undefined ? undefined : parseCustom(value, field)
}

/** The field of the operands of a comparison that looks inside a text: a part of a value is no value of an own type. */
export function fieldOfParts(field: Field): Field {
  return field.custom === undefined ? field : { ...field, custom: undefined }
}

/** What a value of the type looks like, to complete "… is not …". */
export function expected(field: Field): string {
  return field.custom?.expected ?? TYPES[field.type].expected(field)
}

/** Whether this is a value that a row may have in the column, in exactly the form in which rows have it on the wire. */
export function isWritten(value: Operand, field: Field): boolean {
  return TYPES[field.type].isWritten(value, field)
}

/**
 * A value of MySQL that no request may write, as rows show it: a date with a month or a day of 0, the year 0, and the
 * empty text of an ENUM, its mark of a word that it did not know. undefined for any other text.
 */
export function parseUnusual(text: string, field: Field): Operand | undefined {
  return TYPES[field.type].parseUnusual?.(text, field)
}

/** What is wrong with a value of the column's type, to complete "price must …"; undefined where the column takes it. */
export function outOfBounds(value: StoredValue, field: Field): Unmet | undefined {
  return TYPES[field.type].outOfBounds(value, field)
}

/**
 * A member of a body as a value of the column (contract.md section 3), or an Unmet whose message completes "price
 * must …".
 */
export function parseMember(member: JsonValue, field: Field): Value | Unmet {
  if (member === null) return field.nullable ? null : new Unmet('not be null', { rule: 'notNull' })
  const { type, custom } = field
  const { fromJson, taken } = TYPES[type]
  const mismatch = (): Unmet =>
    custom === undefined ? new Unmet(`be ${taken(field)}`, { rule: 'type', type }) : new Unmet(`be ${custom.expected}`)
  const value = fromJson(member, field)
  if (value === undefined) return mismatch()
  if (value instanceof Unmet) return value
  return outOfBounds(value, field) ?? fittedToColumn(value, field) ?? mismatch()
}

/**
 * A value that an application made, as its column stores it. Throws TypeError for one that the column does not take, which
 * is a defect and no mistake of a client.
 */
export function storedValue(value: Value, { name, field }: { readonly name: string; readonly field: Field }): Value {
  if (value === null && field.nullable) return null
  if (value !== null && TYPES[field.type].holds(value, field) && outOfBounds(value, field) === undefined) {
    const stored = fittedToColumn(value, field)
    if (stored !== undefined) return stored
  }
  throw new TypeError(`${name} does not take ${String(value)}`)
}

/**
 * A value of the base type, within its bounds, as it is stored: in the scale of the column, and as the application's own
 * type has it. undefined for a value that is not of the own type.
 */
function fittedToColumn(value: StoredValue, field: Field): StoredValue | undefined {
  if (typeof value === 'object') return value
  const exact = field.type === 'decimal' ? parseDecimal(String(value)) : undefined
  const fitted = exact === undefined ? value : fitDecimal(exact, field, 'exact')
  const parsed = parseCustom(fitted, field)
  if (parsed !== undefined && parsed !== fitted && outOfBounds(parsed, field) !== undefined) {
    throw new TypeError(`${field.custom?.name ?? field.type} makes a value that its base does not take`)
  }
  return parsed
}
