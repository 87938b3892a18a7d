import { isArray } from '../fields/json-values.js'
import { parseWord } from './enum.js'
import { never, oneOfWords, parsedOperand, plainCell, type TypeRules } from './type-rules.js'

export const setRules: TypeRules = {
  parse: parseWord,
  expected: oneOfWords,
  fromJson: (json, field) => {
    if (!isArray(json)) return undefined
    // In the order in which the column has them.
    const words = field.words.filter((word) => json.includes(word))
    return words.length === json.length ? words : undefined
  },
  taken: ({ words }) => `an array of ${words.join(', ')}, each at most once`,
  outOfBounds: never,
  holds: (value, { words }) =>
    Array.isArray(value) && value.every((word: unknown) => words.some((one) => one === word)),
  form: 'a list of some of its words',
  isWritten: () => false,
  comparable: ['string'],
  operandOf: parsedOperand(parseWord),
  difference: never,
  width: ({ words }) => words.join().length,
  example: (_name, { words }) => words.slice(0, 1),
  json: JSON.stringify,
  cell: plainCell
}
