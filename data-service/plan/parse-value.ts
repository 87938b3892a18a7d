import type { Field } from '../entity/field.js'
import type { Operand } from '../entity/value.js'
import { parseDateTime } from './parse-date-time.js'
import { parseDecimal } from './decimal.js'

export const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const RANGES = {
  int: { min: -(2n ** 31n), max: 2n ** 31n - 1n },
  long: { min: -(2n ** 63n), max: 2n ** 63n - 1n }
} as const

/**
 * A client's text as an operand of the column's type (contract.md section 3); undefined where it does not parse.
 * Decimals keep all digits they came with: fitting them to a column's scale depends on the comparison.
 */
export function parseValue(text: string, field: Field): Operand | undefined {
  switch (field.type) {
    case 'string':
      // No column holds it, and a pattern of LIKE ends at it on SQLite.
      return text.includes('\0') ? undefined : text
    case 'bool':
      return parseBool(text)
    case 'int':
    case 'long':
      return parseInteger(text, field.type)
    case 'decimal':
      return parseDecimal(text) === undefined ? undefined : text
    case 'dateTime':
      return parseDateTime(text)
    case 'guid':
      return GUID.test(text.toLowerCase()) ? text.toLowerCase() : undefined
  }
}

/** What a value of the type looks like, to complete "… is not". */
export function expected(field: Field): string {
  switch (field.type) {
    case 'string':
      return 'text without U+0000'
    case 'bool':
      return 'true or false'
    case 'int':
    case 'long':
      return `a whole number from ${RANGES[field.type].min} to ${RANGES[field.type].max}`
    case 'decimal':
      return 'a decimal number such as 19.90'
    case 'dateTime':
      return 'a date and time such as 2026-01-31T08:00:00Z (RFC 3339, at most milliseconds) or a date such as 2026-01-31'
    case 'guid':
      return 'a GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff'
  }
}

function parseBool(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  return lower === 'true' ? true : lower === 'false' ? false : undefined
}

function parseInteger(text: string, type: 'int' | 'long'): Operand | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  if (value < RANGES[type].min || value > RANGES[type].max) return undefined
  return type === 'int' ? Number(value) : value.toString()
}
