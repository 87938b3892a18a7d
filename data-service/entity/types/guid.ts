import { GUID } from '../fields/names.js'
import { never, short, parsedOperand, plainCell, type TypeRules } from './type-rules.js'

export const guidRules: TypeRules = {
  parse: parseGuid,
  expected: () => 'a GUID such as 6f9619ff-8b86-d011-b42d-00c04fc964ff',
  fromJson: (json) => (typeof json === 'string' ? parseGuid(json) : undefined),
  taken: () => 'a GUID such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"',
  outOfBounds: never,
  holds: (value) => typeof value === 'string' && GUID.test(value),
  form: 'a text such as "6f9619ff-8b86-d011-b42d-00c04fc964ff"',
  isWritten: (value) => typeof value === 'string' && parseGuid(value) !== undefined,
  comparable: ['string'],
  operandOf: parsedOperand(parseGuid),
  difference: (value, operand) => (value === operand ? 0 : 1),
  width: short,
  example: () => '6f9619ff-8b86-d011-b42d-00c04fc964ff',
  // A column of a database that is not ours may hold any text.
  json: JSON.stringify,
  cell: plainCell
}

function parseGuid(text: string): string | undefined {
  const lower = text.toLowerCase()
  return GUID.test(lower) ? lower : undefined
}
