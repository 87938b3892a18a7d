import { decodeBase64 } from '../../../shared/transport/wire.js'
import type { Value } from '../fields/field.js'
import { amount, never, type TypeRules, Unmet } from './type-rules.js'

export const binaryRules: TypeRules = {
  parse: never,
  expected: () => 'a value that can be compared',
  fromJson: (json) => (typeof json === 'string' ? decodeBase64(json) : undefined),
  taken: () => 'a string of padded base64',
  outOfBounds: (value, { minLength, maxLength }) => {
    if (!Buffer.isBuffer(value) || (value.length >= minLength && value.length <= maxLength)) return undefined
    const rule = { rule: 'bytes', minimum: minLength, maximum: maxLength } as const
    return new Unmet(`have ${amount(minLength, maxLength)} bytes`, rule)
  },
  holds: (value) => Buffer.isBuffer(value),
  form: 'a Buffer',
  isWritten: () => false,
  comparable: [],
  operandOf: never,
  difference: never,
  width: ({ maxLength }) => maxLength,
  example: (_name, { minLength, maxLength }) =>
    Buffer.from('example '.repeat(Math.ceil(minLength / 8) || 1)).subarray(0, maxLength),
  json: (value) => (value === null ? 'null' : `"${base64Of(value)}"`),
  cell: (value, out) => {
    if (value !== null) out.text(base64Of(value))
  }
}

function base64Of(value: Value): string {
  return Buffer.isBuffer(value) ? value.toString('base64') : ''
}
