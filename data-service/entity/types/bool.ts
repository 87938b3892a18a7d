import { never, short, plainCell, type TypeRules } from './type-rules.js'

export const boolRules: TypeRules = {
  parse: (text) => {
    const lower = text.toLowerCase()
    return lower === 'true' ? true : lower === 'false' ? false : undefined
  },
  expected: () => 'true or false',
  fromJson: (json) => (typeof json === 'boolean' ? json : undefined),
  taken: () => 'true or false',
  outOfBounds: never,
  holds: (value) => typeof value === 'boolean',
  form: 'true or false',
  isWritten: (value) => typeof value === 'boolean',
  comparable: [],
  operandOf: (value) => (typeof value === 'boolean' ? value : undefined),
  difference: (value, operand) => (value === operand ? 0 : 1),
  width: short,
  example: () => true,
  json: String,
  cell: plainCell
}
