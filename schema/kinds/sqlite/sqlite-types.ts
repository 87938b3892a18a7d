import {
  type ColumnTreatment,
  type ColumnTypes,
  type ColumnWord,
  columnWord,
  isFlag,
  LONGEST_SENT_VALUE,
  ROWS_LOOKED_AT,
  served,
  type StoredValues
} from '../../model/column-types.js'
import type { LiveColumn, SelectRows } from '../../model/live-schema.js'

const DATES: readonly string[] = ['date', 'datetime', 'timestamp', 'time']
const FLAGS: readonly string[] = ['boolean', 'bool']

/** The one storage class of all values; `none` without any, `mixed` with several. */
function classOf(values: StoredValues | undefined): string {
  const [only, second] = values?.classes ?? []
  return only === undefined ? 'none' : second === undefined ? only : 'mixed'
}

const refused = (why: string): ColumnTreatment => ({ kind: 'refused', why })

function wordOfText(length: number | undefined): ColumnWord {
  return length === undefined || length < 1 ? columnWord('longText', LONGEST_SENT_VALUE) : columnWord('text', length, 0)
}

function textTreatment({ type }: LiveColumn): ColumnTreatment {
  return { kind: 'served', word: wordOfText(type.length) }
}

const MAKES_NUMBERS = 'a column of this declared type makes a number of a text that looks like one'

/** A date in a file is a text, a number of seconds, of milliseconds or of days, as the program that wrote it liked. */
function dateTreatment(column: LiveColumn, values: StoredValues | undefined): ColumnTreatment {
  switch (classOf(values)) {
    case 'integer':
      return served('long')
    case 'real':
      return served('double')
    case 'text':
    case 'none':
      return column.type.affinity === 'text'
        ? textTreatment(column)
        : { kind: 'readOnly', word: columnWord('text', 64, 0), why: MAKES_NUMBERS }
    default:
      return refused('its rows hold values of several types, such as texts and numbers')
  }
}

/** A column of no type, or BLOB, takes every value as it is. */
function untypedTreatment(column: LiveColumn, values: StoredValues | undefined): ColumnTreatment {
  switch (classOf(values)) {
    case 'integer':
      return served('long')
    case 'real':
      return served('double')
    case 'text':
      return textTreatment(column)
    case 'blob':
      return served('binary', LONGEST_SENT_VALUE)
    case 'none':
      if (column.type.base === 'blob') return served('binary', LONGEST_SENT_VALUE)
      return refused('it declares no type and there is no row that shows one')
    default:
      return refused('its rows hold values of several types')
  }
}

/**
 * The types of SQLite, which has few of its own: what a column may hold follows from words in its declared type
 * (https://sqlite.org/datatype3.html). docs/column-types.md is this table, and a test makes a column of each example.
 */
export const sqliteTypes: ColumnTypes = {
  dependsOnValues: ({ type }) =>
    FLAGS.includes(type.base) || type.affinity === 'numeric' || type.affinity === 'blob' || isFlag(type),
  rules: [
    {
      shown: 'BOOLEAN, BOOL, TINYINT(1), all of whose values are 0 or 1',
      outcome: '`bool()`',
      examples: ['BOOLEAN', 'TINYINT(1)'],
      takes: ({ type }, values) =>
        (FLAGS.includes(type.base) || isFlag(type)) && values?.areFlags !== false && classOf(values) !== 'text',
      treatment: () => served('bool')
    },
    {
      shown: 'INTEGER, INT, BIGINT, SMALLINT and every other type with INT in it',
      outcome:
        '`long()`: a column holds 64 bits whatever its type says; write `int()` where you know that they are fewer',
      examples: ['INTEGER', 'INT', 'SMALLINT', 'BIGINT', 'UNSIGNED BIG INT'],
      takes: ({ type }) => type.affinity === 'integer',
      treatment: () => served('long')
    },
    {
      shown: "a text column with `CHECK (column IN ('a', 'b'))`",
      outcome: "`oneOf(['a', 'b'])`",
      examples: ["TEXT CHECK (value IN ('small', 'it''s'))"],
      takes: ({ type, checkedWords }) =>
        type.affinity === 'text' && checkedWords?.every((word) => !word.endsWith(' ')) === true,
      treatment: ({ checkedWords }) => served('oneOf', checkedWords ?? [])
    },
    {
      shown: 'CHAR(n), VARCHAR(n), NVARCHAR(n), TEXT, CLOB and every other type with CHAR, CLOB or TEXT in it',
      outcome: '`text(n, 0)`, without a length `longText(1048576)`',
      examples: ['VARCHAR(40)', 'CHAR(3)', 'TEXT', 'CLOB', 'NVARCHAR(10) COLLATE NOCASE'],
      takes: ({ type }) => type.affinity === 'text',
      treatment: textTreatment
    },
    {
      shown: 'REAL, DOUBLE, FLOAT and every other type with REAL, FLOA or DOUB in it',
      outcome: '`double()`',
      examples: ['REAL', 'DOUBLE PRECISION', 'FLOAT'],
      takes: ({ type }) => type.affinity === 'real',
      treatment: () => served('double')
    },
    {
      shown: 'DATE, DATETIME, TIMESTAMP, TIME',
      outcome:
        'as their rows are: read-only `text(64, 0)` where they are texts or where there are none, `long()` for whole numbers, ' +
        '`double()` for days; refused if they are several. What the numbers count is not known to the database',
      examples: ['DATE', 'DATETIME', 'TIMESTAMP'],
      takes: ({ type }) => DATES.includes(type.base),
      treatment: dateTreatment
    },
    {
      shown: 'JSON',
      outcome: '`longText(1048576)`, read-only: the column makes a number of a text that looks like one',
      examples: ['JSON'],
      takes: ({ type }, values) => type.base === 'json' && ['text', 'none'].includes(classOf(values)),
      treatment: () => ({ kind: 'readOnly', word: wordOfText(undefined), why: MAKES_NUMBERS })
    },
    {
      shown: 'DECIMAL(p, s), NUMERIC(p, s) and every type that is none of the others',
      outcome:
        '`double()`, as the database stores it; `long()` where all rows are whole numbers and the type has no digits after ' +
        'the point; read-only as text for texts; refused if they are several',
      examples: ['DECIMAL(10,2)', 'NUMERIC', 'DECIMAL(10)', 'UUID'],
      takes: ({ type }) => type.affinity === 'numeric',
      treatment: (column, values) => numericTreatment(column, values)
    },
    {
      shown: 'BLOB, ANY, and a column without a type',
      outcome: 'as their rows are: `binary(1048576)`, as text, `long()` or `double()`; refused if they are several',
      examples: ['BLOB', ''],
      takes: () => true,
      treatment: untypedTreatment
    }
  ]
}

/** Whole numbers are stored as such: 19.00 in a DECIMAL(10,2) is 19. */
function numericTreatment(column: LiveColumn, values: StoredValues | undefined): ColumnTreatment {
  const classes = values?.classes ?? new Set<string>()
  const hasText = classes.has('text') || classes.has('blob')
  if (hasText && classes.size > 1) return refused('its rows hold values of several types, such as texts and numbers')
  if (classes.has('blob')) return served('binary', LONGEST_SENT_VALUE)
  if (hasText) {
    return { kind: 'readOnly', word: wordOfText(column.type.length), why: MAKES_NUMBERS }
  }
  const isWhole = !classes.has('real') && column.type.precision !== undefined && (column.type.scale ?? 0) === 0
  return isWhole ? served('long') : served('double')
}

const CLASSES = ['integer', 'real', 'text', 'blob']

/** What the first rows hold in these columns. */
export async function sqliteStoredValues(
  select: SelectRows,
  table: string,
  columns: readonly LiveColumn[]
): Promise<ReadonlyMap<string, StoredValues>> {
  const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
  const looks = columns.flatMap(({ name }, at) => [
    ...CLASSES.map((one) => `MAX(typeof(${quoted(name)}) = '${one}') AS c${at}_${one}`),
    `MIN(${quoted(name)} IN (0, 1)) AS c${at}_flags`
  ])
  const inner = columns.map(({ name }) => quoted(name)).join(', ')
  const [row = {}] = await select<Readonly<Record<string, unknown>>>(
    `SELECT ${looks.join(', ')} FROM (SELECT ${inner} FROM ${quoted(table)} LIMIT ${ROWS_LOOKED_AT})`
  )
  return new Map(
    columns.map(({ name }, at) => {
      const areFlags = row[`c${at}_flags`]
      const classes = new Set(CLASSES.filter((one) => Number(row[`c${at}_${one}`]) === 1))
      return [name, { classes, areFlags: areFlags === null || Number(areFlags) === 1, areOdd: false, areTexts: false }]
    })
  )
}
