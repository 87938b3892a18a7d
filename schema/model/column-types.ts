import type { Field } from '../../data-service/entity/fields/field.js'
import * as words from '../../data-service/entity/fields/words.js'
import type { LiveColumn } from './live-schema.js'

/**
 * A word of entity files with its arguments: `text(255, 0)`, `unsigned(int())`, `oneOf(['a', 'b'])`. As data, so that it can
 * be written into an entity file and also be called.
 */
export interface ColumnWord {
  readonly word: string
  readonly args: readonly WordArgument[]
}

type WordArgument = ColumnWord | string | number | boolean | readonly string[] | Readonly<Record<string, number>>

export function columnWord(word: string, ...args: readonly WordArgument[]): ColumnWord {
  return { word, args }
}

/** The field that a word makes, as it would in an entity file. Throws a TypeError for a word that there is not. */
export function fieldOfWord({ word, args }: ColumnWord): Field {
  // Words are called by name, which the compiler cannot follow.
  const known = words as unknown as Readonly<Record<string, ((...values: unknown[]) => Field) | undefined>>
  const call = known[word]
  if (call === undefined) throw new TypeError(`There is no word ${word} of entity files`)
  return call(...args.map((one) => (isColumnWord(one) ? fieldOfWord(one) : one)))
}

export function isColumnWord(argument: WordArgument): argument is ColumnWord {
  return typeof argument === 'object' && 'word' in argument && 'args' in argument
}

/** The word as it stands in an entity file. */
export function wordText({ word, args }: ColumnWord): string {
  return `${word}(${args.map(argumentText).join(', ')})`
}

function argumentText(argument: ColumnWord['args'][number]): string {
  if (typeof argument === 'string') return stringLiteral(argument)
  if (typeof argument !== 'object') return String(argument)
  if (isWordList(argument)) return `[${argument.map(stringLiteral).join(', ')}]`
  if (isColumnWord(argument)) return wordText(argument)
  return `{ ${Object.entries(argument)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')} }`
}

function isWordList(argument: object): argument is readonly string[] {
  return Array.isArray(argument)
}

/** A text in single quotes, or in double ones where it has more single ones itself, as formatters write it. */
export function stringLiteral(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1)
  if (text.split("'").length > text.split('"').length) return `"${escaped}"`
  return `'${escaped.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/**
 * What the service does with a column of a native type:
 * - `served`: requests may read and, where the entity allows it, write it
 * - `readOnly`: it is served as it is stored, but what a request would write could be stored as something else
 * - `refused`: no entity file can name it
 */
export type ColumnTreatment =
  | { readonly kind: 'served'; readonly word: ColumnWord }
  | { readonly kind: 'readOnly'; readonly word: ColumnWord; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string }

/** A row of the table of native types. The first whose `takes` is true decides about a column. */
export interface ColumnTypeRule {
  /** As documentation shows it, in the words of CREATE TABLE: `DECIMAL(p, s)`. */
  readonly shown: string
  /** What comes of it, for the same documentation: `decimal(p, s)`. */
  readonly outcome: string
  /** Columns of it, for the tests: declared types. */
  readonly examples: readonly string[]
  readonly takes: (column: LiveColumn, values: StoredValues | undefined) => boolean
  readonly treatment: (column: LiveColumn, values: StoredValues | undefined) => ColumnTreatment
}

/**
 * What a look at rows found in a column whose declared type leaves open what it holds. Empty where there were no rows, or
 * none with a value.
 */
export interface StoredValues {
  /** Storage classes of SQLite: `integer`, `real`, `text`, `blob`. */
  readonly classes: ReadonlySet<string>
  /** Whether all values are 0 or 1. */
  readonly areFlags: boolean
  /** Whether some are numbers of more digits than a field has. */
  readonly areOdd: boolean
  /** Whether bytes are texts in UTF-8. False without any. */
  readonly areTexts: boolean
}

/** Rows of a table that are looked at. */
export const ROWS_LOOKED_AT = 100_000

/** What a request can send: a body has at most 1 MiB. A file of SQLite sets no bound of its own. */
export const LONGEST_SENT_VALUE = 1_048_576

export function isFlag({ base, length, unsigned }: LiveColumn['type']): boolean {
  return base === 'tinyint' && length === 1 && !unsigned
}

/** The native types of one kind of database. */
export interface ColumnTypes {
  readonly rules: readonly ColumnTypeRule[]
  /** Whether the declared type leaves open what the column holds, so that `treatmentOf` needs a look at rows. */
  readonly dependsOnValues: (column: LiveColumn) => boolean
}

export function treatmentOf({ rules }: ColumnTypes, column: LiveColumn, values?: StoredValues): ColumnTreatment {
  const rule = rules.find(({ takes }) => takes(column, values))
  if (rule !== undefined) return rule.treatment(column, values)
  return { kind: 'refused', why: `no word of entity files serves the type ${column.nativeType}` }
}

export function served(word: string, ...args: readonly WordArgument[]): ColumnTreatment {
  return { kind: 'served', word: columnWord(word, ...args) }
}
