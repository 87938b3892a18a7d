import { decodeBase64url } from '../../../shared/base64url.js'
import type { Value } from '../fields/field.js'
import { amount, inQuotes, plainCell, type TypeRules, Unmet } from './type-rules.js'

/** Bytes that identify something: one text for each value, which needs no encoding in a path. */
export const base64urlRules: TypeRules = {
  parse: parseBase64url,
  expected: ({ minLength, maxLength }) =>
    `the base64url of ${amount(minLength, maxLength)} bytes without padding (A-Z a-z 0-9 - _), as answers write it`,
  fromJson: (json) => (typeof json === 'string' ? parseBase64url(json) : undefined),
  taken: () => 'a string of base64url without padding (A-Z a-z 0-9 - _)',
  outOfBounds: (value, { minLength, maxLength }) => {
    const length = bytesIn(value)
    if (length === undefined || (length >= minLength && length <= maxLength)) return undefined
    const rule = { rule: 'bytes', minimum: minLength, maximum: maxLength } as const
    return new Unmet(`have ${amount(minLength, maxLength)} bytes`, rule)
  },
  holds: (value) => bytesIn(value) !== undefined,
  form: 'base64url without padding such as "AQIDBA"',
  isWritten: (value) => bytesIn(value) !== undefined,
  comparable: ['string'],
  operandOf: (value) => (typeof value === 'string' ? parseBase64url(value) : undefined),
  difference: (value, operand) => (value === operand ? 0 : 1),
  width: ({ maxLength }) => Math.ceil((4 * maxLength) / 3),
  example: (_name, { minLength, maxLength }) =>
    Buffer.from('example '.repeat(Math.ceil(minLength / 8) || 1))
      .subarray(0, maxLength)
      .toString('base64url'),
  json: inQuotes,
  cell: plainCell
}

function parseBase64url(text: string): string | undefined {
  return decodeBase64url(text) === undefined ? undefined : text
}

function bytesIn(value: Value): number | undefined {
  return typeof value === 'string' ? decodeBase64url(value)?.length : undefined
}
