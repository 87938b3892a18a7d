import type { Field } from '../fields/field.js'
import {
  notTaken,
  oneOfWords,
  parsedOperand,
  plainCell,
  short,
  type TypeRules,
  Unmet,
  wordsRule
} from './type-rules.js'

export const enumRules: TypeRules = {
  parse: parseWord,
  expected: oneOfWords,
  // The mark of a word that MySQL did not know.
  parseUnusual: (text) => (text === '' ? text : undefined),
  fromJson: (json, field) => (typeof json === 'string' ? json : notTaken(field, oneOfWords(field), wordsRule(field))),
  taken: oneOfWords,
  outOfBounds: (value, field) =>
    field.words.includes(String(value)) ? undefined : new Unmet(`be ${oneOfWords(field)}`, wordsRule(field)),
  holds: (value) => typeof value === 'string',
  form: 'one of its words',
  isWritten: (value) => typeof value === 'string',
  comparable: ['string'],
  operandOf: parsedOperand(parseWord),
  difference: (value, operand) => Number(value !== operand),
  width: short,
  example: (_name, { words }) => words[0],
  json: JSON.stringify,
  cell: plainCell
}

export function parseWord(text: string, { words }: Field): string | undefined {
  return words.includes(text) ? text : undefined
}
