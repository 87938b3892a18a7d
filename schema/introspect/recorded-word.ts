import type { Field } from '../../data-service/entity/fields/field.js'
import { type ColumnWord, columnWord, fieldOfWord, isColumnWord, wordText } from '../model/column-types.js'

// Words of entity files as `introspected.json` has them: `title: optional(text(80, 0))`, back as data. Nothing of them is run.

/** What a line of fields says. */
export interface RecordedField {
  /** Without `column(…)` around it. */
  readonly text: string
  readonly field: Field
}

/** undefined for a text that this version does not write. */
export function recordedField(line: string): RecordedField | undefined {
  try {
    const word = parse(line.slice(line.indexOf(': ') + 2))
    const [, inner] = word.args
    const plain = word.word === 'column' && inner !== undefined && isColumnWord(inner) ? inner : word
    return { text: wordText(plain), field: fieldOfWord(plain) }
  } catch {
    return undefined
  }
}

const TOKEN = /\s*(?:([A-Za-z]\w*)|(-?\d+(?:\.\d+)?)|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|([()[\]{},:]))/gy

/** Throws a SyntaxError. */
function parse(text: string): ColumnWord {
  const tokens = Array.from(text.matchAll(TOKEN), ([, name, number, literal, mark]) => ({
    name,
    number,
    literal,
    mark
  }))
  let at = 0
  const take = (mark: string): boolean => {
    if (tokens[at]?.mark !== mark) return false
    at += 1
    return true
  }
  const listUntil = <T>(end: string, one: () => T): T[] => {
    const found: T[] = []
    while (!take(end)) {
      if (found.length > 0 && !take(',')) throw new SyntaxError(`no , in ${text}`)
      found.push(one())
    }
    return found
  }
  const value = (): ColumnWord['args'][number] => {
    if (take('[')) return listUntil(']', value).filter((one) => typeof one === 'string')
    if (take('{')) {
      return Object.fromEntries(
        listUntil('}', () => {
          const name = tokens[at]?.name ?? ''
          at += 1
          take(':')
          return [name, Number(value())]
        })
      )
    }
    const token = tokens[at]
    at += 1
    if (token?.number !== undefined) return Number(token.number)
    if (token?.literal !== undefined) return unquoted(token.literal)
    if (token?.name === 'true' || token?.name === 'false') return token.name === 'true'
    if (token?.name === undefined || !take('(')) throw new SyntaxError(`no word in ${text}`)
    return columnWord(token.name, ...listUntil(')', value))
  }
  const word = value()
  if (typeof word !== 'object' || !isColumnWord(word)) throw new SyntaxError(`no word in ${text}`)
  return word
}

/** What `stringLiteral` wrote. */
function unquoted(literal: string): string {
  const json = literal
    .slice(1, -1)
    .replaceAll(/\\(.)|"/gs, (all, one: string) => (one === "'" ? one : all === '"' ? '\\"' : all))
  return JSON.parse(`"${json}"`) as string
}
