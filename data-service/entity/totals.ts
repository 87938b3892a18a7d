import type { Column } from './fields/columns.js'
import { definitionWords, wordMistakes } from './fields/definition-words.js'
import type { ComparableType, Field, FieldType } from './fields/field.js'
import type { NameOfType } from './fields/rows.js'
import { date, decimal, double, int, optional, text } from './fields/words.js'

// What an entity file says of `GET /{resource}/totals`: by what rows are grouped, and what is computed of each group.

/** The types that rows can be grouped by. Two doubles that are shown alike may differ. */
const GROUPED = [
  'string',
  'bool',
  'int',
  'long',
  'decimal',
  'dateTime',
  'date',
  'time',
  'guid',
  'enum',
  'base64url'
] as const
const MOMENTS = ['dateTime', 'date'] as const
const PARTS = ['year', 'month', 'day'] as const

/** The types of the columns that a measure takes. A sum of doubles would depend on the order of the rows. */
const MEASURED = {
  sum: ['int', 'long', 'decimal'],
  average: ['int', 'long', 'decimal'],
  min: ['int', 'long', 'decimal', 'double', 'dateTime', 'date', 'time'],
  max: ['int', 'long', 'decimal', 'double', 'dateTime', 'date', 'time'],
  distinct: [
    'string',
    'bool',
    'int',
    'long',
    'decimal',
    'double',
    'dateTime',
    'date',
    'time',
    'guid',
    'enum',
    'base64url'
  ]
} as const satisfies Readonly<Record<string, readonly ComparableType[]>>

type ColumnMeasure = keyof typeof MEASURED
type MomentPart = (typeof PARTS)[number]

/** `totals` of an entity file. */
export interface TotalsDefinition<F> {
  /** Columns, those of references too, and parts of moments in UTC: `placedAt.month`. */
  readonly dimensions: readonly (
    | NameOfType<F, (typeof GROUPED)[number]>
    | `${NameOfType<F, (typeof MOMENTS)[number]>}.${MomentPart}`
  )[]
  readonly measures: MeasuresDefinition<F>
}

type MeasuresDefinition<F> = { readonly count?: true } & {
  readonly [Kind in ColumnMeasure]?: readonly NameOfType<F, (typeof MEASURED)[Kind][number]>[]
}

/** What rows are grouped by. */
export interface Dimension {
  /** `status`, `placedAt.month`. */
  readonly name: string
  readonly column: Column
  /** undefined for the whole value. */
  readonly part: MomentPart | undefined
  /** What the values in the answer are. */
  readonly field: Field
}

/** What is computed of a group. */
export type Measure = Measured & {
  /** `count`, `sum.total`. */
  readonly name: string
  /** What the values in the answer are. An int may hold the digits of a number of any size as text. */
  readonly field: Field
}

type Measured =
  | { readonly kind: 'count'; readonly column?: never }
  | { readonly kind: ColumnMeasure; readonly column: Column }

export interface Totals {
  readonly dimensions: readonly Dimension[]
  readonly measures: readonly Measure[]
}

/** The same without the types of its names. */
interface UntypedTotals {
  readonly dimensions?: readonly string[]
  readonly measures?: { readonly count?: true } & { readonly [Kind in ColumnMeasure]?: readonly string[] }
}

const TOTALS = definitionWords<TotalsDefinition<object>>({ dimensions: 'list', measures: 'object' })
const MEASURES = definitionWords<MeasuresDefinition<object>>({
  count: 'flag',
  sum: 'list',
  average: 'list',
  min: 'list',
  max: 'list',
  distinct: 'list'
})

/** An answer holds a thousand values of each dimension. */
const LONGEST_TEXT = 1000

export function resolveTotals(
  definition: UntypedTotals | undefined,
  { column, mistakes }: { readonly column: (name: string) => Column; readonly mistakes: string[] }
): Totals | undefined {
  if (definition === undefined) return undefined
  const found: string[] = [
    ...wordMistakes('totals', definition, TOTALS),
    ...wordMistakes('totals: measures', definition.measures ?? {}, MEASURES)
  ]
  const { dimensions = [], measures: { count, ...ofColumns } = {} } = found.length === 0 ? definition : {}
  const totals = {
    dimensions: dimensions.map((name) => dimensionOf(name, column)),
    measures: [
      ...(count === true ? [COUNT] : []),
      ...KINDS.flatMap((kind) => (ofColumns[kind] ?? []).map((name) => measureOf(kind, column(name))))
    ]
  }
  mistakes.push(...found, ...(found.length === 0 ? totalsMistakes(totals).map((one) => `totals: ${one}`) : []))
  return totals
}

const COUNT: Measure = { name: 'count', kind: 'count', field: int() }
// The keys of the table are its kinds.
const KINDS = Object.keys(MEASURED) as readonly ColumnMeasure[]

function dimensionOf(name: string, column: (name: string) => Column): Dimension {
  const [own = '', ...parts] = name.split('.')
  const of = column(own)
  const part = PARTS.find((one) => one === parts.join('.'))
  if (part === undefined) return { name, column: of, part, field: of.field }
  return { name, column: of, part, field: of.field.nullable ? optional(PART_FIELDS[part]) : PART_FIELDS[part] }
}

const PART_FIELDS = { year: int(), month: text(7), day: date() } as const

function measureOf(kind: ColumnMeasure, column: Column): Measure {
  return { name: `${kind}.${column.name}`, kind, column, field: measuredField(kind, column.field) }
}

/** Digits of the number of rows that a table may have. */
const DIGITS_OF_ROWS = 19
const DIGITS_OF_LONG = 20
/** Digits that an average has besides those of its column. */
export const AVERAGE_DIGITS = 4

function measuredField(kind: ColumnMeasure, field: Field): Field {
  if (kind === 'distinct') return int()
  if (kind === 'min' || kind === 'max') return { ...field, nullable: true }
  const { type, scale } = field
  if (type === 'int') return optional(kind === 'sum' ? int() : double())
  const precision = type === 'long' ? DIGITS_OF_LONG : field.precision
  return optional(
    kind === 'sum'
      ? decimal(precision + DIGITS_OF_ROWS, scale)
      : decimal(precision + AVERAGE_DIGITS, scale + AVERAGE_DIGITS)
  )
}

function totalsMistakes({ dimensions, measures }: Totals): string[] {
  const names = [...dimensions, ...measures].map(({ name }) => name.toLowerCase())
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  return [
    ...(measures.length === 0 ? ['`measures` names none.'] : []),
    ...twice.map((name) => `\`${name}\` is there twice.`),
    ...dimensions.flatMap(dimensionMistakes),
    ...measures.flatMap(measureMistakes)
  ]
}

function dimensionMistakes({ name, column, part }: Dimension): string[] {
  const { type, hidden, maxLength } = column.field
  if (hidden) return [`\`${name}\` is in no answer.`]
  const isWhole = name === column.name
  if (!isWhole && part === undefined) return [`\`${name}\` ends in none of ${PARTS.join(', ')}.`]
  if (part !== undefined) return isOneOf(MOMENTS, type) ? [] : [`\`${name}\` is of ${type}, which has no ${part}.`]
  if (!isOneOf(GROUPED, type)) return [`\`${name}\` is ${type}, which rows are not grouped by.`]
  return type === 'string' && maxLength > LONGEST_TEXT
    ? [`\`${name}\` may be longer than ${LONGEST_TEXT} characters, which is too long for a dimension.`]
    : []
}

function measureMistakes({ kind, column }: Measure): string[] {
  if (kind === 'count') return []
  const { name, field } = column
  if (field.hidden) return [`\`${name}\` is in no answer.`]
  const types = MEASURED[kind]
  return isOneOf(types, field.type)
    ? []
    : [`${kind} of \`${name}\`, which is ${field.type}: it takes ${types.join(', ')}.`]
}

function isOneOf(types: readonly FieldType[], type: FieldType): boolean {
  return types.includes(type)
}
