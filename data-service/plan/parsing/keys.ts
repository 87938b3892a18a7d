import { compositeParts, idText, isComposite, type Keyed, type RowKey } from '../../entity/key.js'
import type { Column } from '../../entity/fields/columns.js'
import type { Field, Operand } from '../../entity/fields/field.js'
import { fitDecimal, parseDecimal } from '../../entity/fields/numbers.js'
import { integerOf, JsonNumber, jsonText, type JsonValue, numberParts } from '../../entity/fields/json-values.js'
import { quoted, type Violations } from './violations.js'
import { expected, parseUnusual, parseValue, widthOf } from '../../entity/types/types.js'

// Ids of requests and of entity files as the keys of plans.

/** No value of another type than text needs more, with some leading zeros. */
const LONGEST_VALUE = 100

/** UTF-16 units of the longest id. A character may have two, and each may be percent-encoded in a composite key. */
function longestId(keyed: Keyed): number {
  const parts = keyed.key.map(({ field }) => longestPart(field))
  return isComposite(keyed) ? parts.reduce((sum, one) => sum + 1 + 3 * one, 0) : (parts[0] ?? 0)
}

function longestPart(field: Field): number {
  if (field.type === 'string') return 2 * field.maxLength
  return field.type === 'base64url' ? widthOf(field) : LONGEST_VALUE
}

/** In place of an id that is none: the violations of the request end its planning before anything uses it. */
export const NO_KEY: RowKey = ['']

/** The id of a path as a key; NO_KEY and a violation for a text that is none. */
export function parseId(text: string, keyed: Keyed, violations: Violations): RowKey {
  return parseNamed(text, { name: 'id', keyed }, violations)
}

/** The id of a search among ids, which are found as a whole. */
export function parseSearchedId(text: string, keyed: Keyed, violations: Violations): RowKey {
  const key = keyIn(text, keyed)
  if (key === undefined) violations.add('filter.value.invalid', 'search', noId(text, { name: 'id', keyed }))
  return key ?? NO_KEY
}

/** The value of a unique column in a path, as parseId reads an id. */
export function parseUnique(text: string, column: Column, violations: Violations): Operand {
  return parseNamed(text, { name: column.name, keyed: { key: [column] } }, violations)[0]
}

function parseNamed(
  text: string,
  { name, keyed }: { readonly name: string; readonly keyed: Keyed },
  violations: Violations
): RowKey {
  const key = keyIn(text, keyed)
  if (key !== undefined) return key
  violations.add('id.invalid', name, noId(text, { name, keyed }))
  return NO_KEY
}

/** The same for the member `id` of a row of a batch, in the form that rows show it or that a path has it in. */
export function parseIdMember(
  member: JsonValue | undefined,
  keyed: Keyed,
  { at, violations }: { readonly at: string; readonly violations: Violations }
): RowKey {
  if (member === undefined || member === null) {
    violations.addAt(`${at}/id`, 'id is missing.', { rule: { rule: 'required' } })
    return NO_KEY
  }
  const isText = isComposite(keyed) || ['string', 'base64url'].includes(keyed.key[0].field.type)
  const number = !isText && member instanceof JsonNumber ? integerOf(numberParts(member)) : undefined
  const text = typeof member === 'string' ? member : number?.toString()
  const key = text === undefined ? undefined : keyIn(text, keyed)
  const isExact = number === undefined || Number.isSafeInteger(Number(number))
  if (key !== undefined && isExact) return key
  const detail = isExact ? noId(text ?? jsonText(member), { name: 'id', keyed }) : INEXACT
  violations.addAt(`${at}/id`, detail, { code: 'id.invalid' })
  return NO_KEY
}

const INEXACT = 'id must be sent as a string of digits: a JSON number this long may lose some.'

function keyIn(text: string, keyed: Keyed): RowKey | undefined {
  return text.length > longestId(keyed) ? undefined : keyOfText(text, keyed)
}

function noId(text: string, { name, keyed }: { readonly name: string; readonly keyed: Keyed }): string {
  const [{ field }] = keyed.key
  const isLong = !isComposite(keyed) && field.type === 'string' && text.length > longestId(keyed)
  const right = isLong ? `none has more than ${field.maxLength} characters` : `it must be ${idInWords(keyed)}`
  return `${quoted(text)} is no ${name} here: ${right}.`
}

/** A composite key is written in one way only; a single one in every way that filters take, but for the plus of a number. */
function keyOfText(text: string, keyed: Keyed): RowKey | undefined {
  if (!isComposite(keyed)) {
    const { field } = keyed.key[0]
    const isNumber = field.type === 'int' || field.type === 'long' || field.type === 'decimal'
    const value = isNumber && text.startsWith('+') ? undefined : keyValue(text, field)
    return value === undefined ? undefined : [value]
  }
  const parts = compositeParts(text, keyed.key.length)
  if (parts === undefined) return undefined
  const [first, ...others] = keyed.key.flatMap(({ field }, index) => keyValue(parts[index] ?? '', field) ?? [])
  if (first === undefined) return undefined
  const key: RowKey = [first, ...others]
  return key.length === keyed.key.length && idText(key) === text ? key : undefined
}

/**
 * A part of a key, a decimal in the digits that rows show of it. Rows that other programs wrote may have values that no
 * request may write, such as the date 0000-00-00: they are found by the `id` that lists show all the same.
 */
function keyValue(text: string, field: Field): Operand | undefined {
  const decimal = field.type === 'decimal' ? parseDecimal(text) : undefined
  const shown = decimal === undefined ? text : fitDecimal(decimal, field, 'exact')
  return parseValue(shown, field) ?? parseUnusual(text, field)
}

function idInWords(keyed: Keyed): string {
  if (!isComposite(keyed)) return expected(keyed.key[0].field)
  const names = keyed.key.map(({ name }) => name).join(', ')
  return `${names} with commas between them, and %, comma and / in each as %25, %2C and %2F`
}

/**
 * The key that an entity file names by the `id` of a row: a value, or the text of a composite key. Throws TypeError for a
 * text that is no such key, which is a mistake of the entity file.
 */
export function keyOfId(id: Operand, keyed: Keyed): RowKey {
  if (!isComposite(keyed)) return [id]
  const key = keyOfText(String(id), keyed)
  if (key === undefined)
    throw new TypeError(`${String(id)} is no id of ${keyed.key.map(({ name }) => name).join(', ')}`)
  return key
}
