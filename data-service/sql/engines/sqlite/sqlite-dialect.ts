import { fn, literal } from 'sequelize'
import {
  type ReadPlans,
  type SqlDialect,
  type TextForms,
  type ValueForms,
  VERSION_KEY,
  type ViolatedKey,
  type WriteErrors,
  type WriteTexts
} from '../statement.js'
import { sqliteBoundOperand, sqliteDecoder, sqliteOperand, sqliteValue } from './sqlite-values.js'
import { sqliteTotals } from './sqlite-totals.js'
import { matchKey } from './text-keys.js'

const MATCH_FUNCTIONS = {
  contains: 'text_contains',
  startsWith: 'text_starts_with',
  endsWith: 'text_ends_with'
} as const

const sqliteValueForms: ValueForms = {
  operand: sqliteOperand,
  bindOperand: sqliteBoundOperand,
  bind: sqliteBoundOperand,
  store: sqliteValue,
  decode: sqliteDecoder,
  isAnyNumber: () => false,
  // A set is stored as MySQL writes it: its words with commas between.
  hasWord: (column, operand) => fn('set_has', column, literal(operand))
}

const sqliteTextForms: TextForms = {
  keyFunction: (type) => (type === 'string' || type === 'enum' ? 'sort_key' : undefined),
  textOperand: () => undefined,
  isTextOfWords: () => false,
  // A column of a table that others made may have a collation of its own.
  exactText: (text) => `${text} COLLATE BINARY`,
  digest: (text) => text,
  hasExactly: (match, text, part) => {
    if (match === 'endsWith') return `(substr(${text}, -length(${part})) = ${part} OR length(${part}) = 0)`
    return `instr(${text}, ${part}) ${match === 'startsWith' ? '= 1' : '> 0'}`
  },
  matchFunction: (match) => MATCH_FUNCTIONS[match],
  bindMatch: (operand) => matchKey(operand),
  words: undefined,
  fullTextIndex: () => undefined
}

const sqliteReadPlans: ReadPlans = {
  isServer: false,
  readsRangesOfOr: false,
  joinInOrder: 'CROSS JOIN',
  isOneOfTuples: (columns, tuples) =>
    `(${columns.join(', ')}) IN (VALUES ${tuples.map((tuple) => `(${tuple.join(', ')})`).join(', ')})`,
  isIndexMissing: () => false
}

const sqliteWriteTexts: WriteTexts = {
  insertOrKeep: (insert, key) => `${insert} ON CONFLICT (${key}) DO NOTHING`,
  insertOrUpdate: (insert, key, update) => `${insert} ON CONFLICT (${key}) DO UPDATE SET ${update}`,
  // Each statement of a batch has its answer before the next is sent, and a failed one ends the batch.
  insertAfterChange: (into, values) => `${into} VALUES (${values})`,
  guards: undefined,
  countsChangedRows: false,
  // sqlite-connection.ts defines the function: SQLite itself reads no number out of bytes.
  nextVersion: (column) => `next_row_version(${column})`,
  contentVersion,
  forUpdate: '',
  forUpdateNow: undefined
}

const sqliteWriteErrors: WriteErrors = {
  columnWithoutCharacter: () => undefined,
  violatedKey: sqliteViolatedKey
}

/**
 * The embedded database compares text by its sort key, stores decimals as integers in units of their last digit, and
 * unsigned integers of 64 bits, which it has no type for, as 20 digits of text, whose order is that of the numbers.
 */
export const sqliteDialect: SqlDialect = {
  ...sqliteValueForms,
  ...sqliteTextForms,
  ...sqliteReadPlans,
  ...sqliteWriteTexts,
  ...sqliteWriteErrors,
  totals: sqliteTotals
}

/** The values with their types, of texts and blobs the bytes. sqlite-connection.ts defines the function. */
function contentVersion(values: readonly { readonly text: string }[], names: string): string {
  const parts = values.map(
    ({ text }) =>
      `typeof(${text}) || CASE WHEN typeof(${text}) IN ('text', 'blob') THEN hex(${text}) ELSE quote(${text}) END`
  )
  return `content_version($${VERSION_KEY}, '${names}' || ${parts.join(" || ',' || ")})`
}

/** As `SqlDialect.violatedKey`. An index of expressions is named, and of another one its columns. */
function sqliteViolatedKey(error: unknown): ViolatedKey | undefined {
  const message = error instanceof Error ? error.message : ''
  if (message.includes('FOREIGN KEY constraint failed')) return { kind: 'foreign' }
  const [, index, columns] = /UNIQUE constraint failed: (?:index '(.+)'|(.+))$/.exec(message) ?? []
  if (index !== undefined) return { kind: 'unique', index }
  if (columns === undefined) return undefined
  return { kind: 'unique', columns: columns.split(', ').map((one) => one.slice(one.indexOf('.') + 1)) }
}
