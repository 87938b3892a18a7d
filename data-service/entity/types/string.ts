import type { Field } from '../fields/field.js'
import { amount, never, parsedOperand, type TypeRules, Unmet } from './type-rules.js'

export const stringRules: TypeRules = {
  // No column holds U+0000, and on SQLite a pattern of LIKE ends at it.
  parse: parseString,
  expected: () => 'text without U+0000',
  fromJson: (json) => (typeof json === 'string' ? json : undefined),
  taken: () => 'a string',
  outOfBounds: (value, field) => badText(String(value), field),
  holds: (value) => typeof value === 'string',
  form: 'a text',
  isWritten: (value) => typeof value === 'string',
  comparable: ['string'],
  operandOf: parsedOperand(parseString),
  // By the collation of the column.
  difference: never,
  width: ({ maxLength, maxBytes }) => maxBytes ?? maxLength,
  example: (name, field) => madeText(name, field),
  json: JSON.stringify,
  cell: (value, out) => {
    if (value !== null) out.freeCell(String(value))
  }
}

function parseString(text: string): string | undefined {
  return text.includes('\0') ? undefined : text
}

function badText(text: string, { minLength, maxLength, maxBytes }: Field): Unmet | undefined {
  if (text.includes('\0') || /\p{Surrogate}/u.test(text)) {
    return new Unmet('be text without U+0000 and half surrogate pairs')
  }
  if (maxBytes !== undefined) {
    // A UTF-16 unit takes up to three bytes.
    const fits = text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes
    const rule = { rule: 'bytes', minimum: 0, maximum: maxBytes } as const
    return fits ? undefined : new Unmet(`have at most ${maxBytes} bytes in UTF-8`, rule)
  }
  // Characters are code points, at most as many as UTF-16 units.
  const length = text.length > maxLength ? Array.from(text).length : text.length
  if (length <= maxLength && text.length >= minLength) return undefined
  const rule = { rule: 'length', minimum: minLength, maximum: maxLength } as const
  return new Unmet(`have ${amount(minLength, maxLength)} characters`, rule)
}

/** `Display name` for `displayName`, in as many characters as the column takes. */
function madeText(name: string, { minLength, maxLength }: Field): string {
  const email = 'someone@example.com'
  if (/e-?mail$/i.test(name) && email.length <= maxLength) return email
  const words = name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  const text = `${words.charAt(0).toUpperCase()}${words.slice(1)}`
  return text.padEnd(minLength, ' example').slice(0, maxLength).trimEnd().padEnd(minLength, 'x')
}
