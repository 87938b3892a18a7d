import { literal } from 'sequelize'
import type { Column, Entity } from '../../../entity/entity.js'
import type { Value } from '../../../entity/fields/field.js'
import { formatDecimal, roundedQuotient, withoutTrailingZeros } from '../../../entity/fields/numbers.js'
import { int } from '../../../entity/fields/words.js'
import { AVERAGE_DIGITS, type Dimension, type Measure } from '../../../entity/totals.js'
import { ownPath, type TotalsPlan } from '../../../plan/model/plans.js'
import { UnshownValue } from '../../../entity/fields/unshown.js'
import {
  allShown,
  type Expression,
  type FoundRow,
  partOf,
  quotedIdentifier,
  type SelectedField,
  selectStatement,
  type ShownStatement,
  type SqlDialect
} from '../../engines/statement.js'
import type { ScopedConditions } from './conditions.js'
import { type CountShape, rootAlias, selectText } from './select-text.js'
import { fieldRead, keyForm, quotedColumn } from './where-text.js'

// The SELECT of totals. An inner SELECT finds the rows, with the columns that are looked at under short names, and the outer
// one groups them. Databases make one SELECT of both.

/** Of the conditions only the shape counts. */
export interface TotalsShape extends Pick<TotalsPlan, 'dimensions' | 'measures' | 'sort'> {
  readonly entity: Entity
  readonly conditions: ScopedConditions
}

/** Shapes of an entity with the same key, and with conditions of the same shape, have the same text. */
export function totalsKey({ dimensions, measures, sort }: TotalsShape): string {
  const order = sort.map(({ by: { name }, descending }) => `${name} ${descending}`)
  return [dimensions.map(({ name }) => name), measures.map(({ name }) => name), order].map(String).join('|')
}

/** `found`: the rows that meet the conditions. */
export function totalsStatement(
  { entity: { table }, dimensions, measures, sort }: TotalsShape,
  found: CountShape['rows'],
  dialect: SqlDialect
): ShownStatement {
  const rows = new FoundColumns(rootAlias(found.model), dialect)
  const { look } = dialect.totals
  const selected = [
    ...dimensions.map((dimension) => shownOf(dimension, rows)),
    ...measures.flatMap((measure) => partsOf(measure, rows)),
    // Without a measure the rows themselves would be answered where there is no dimension.
    ...(measures.length > 0 ? [] : [{ text: 'COUNT(*)', field: int() }])
  ]
  const groups = dimensions.map((dimension) => groupOf(dimension, rows))
  const order = sort.map(({ by, descending }) => `${orderOf(by, rows)}${descending ? ' DESC' : ''}`)
  const from = selectText({ ...found, columns: rows.columns(), order: [] })
  const text = [
    `SELECT ${selected.map((one, at) => `${one.text} AS ${quotedIdentifier(`c${at}`)}`).join(', ')}`,
    `FROM (${from}) AS ${quotedIdentifier('found rows')}`,
    ...(look === undefined ? [] : [`WHERE ${look}`]),
    ...(groups.length === 0 ? [] : [`GROUP BY ${groups.join(', ')}`]),
    ...(order.length === 0 ? [] : [`ORDER BY ${order.join(', ')}`]),
    'LIMIT $limit'
  ]
  // Errors name what cannot be shown.
  const names = [...dimensions, ...measures.flatMap((one) => partsOf(one, rows).map(() => one))].map(({ name }) => name)
  const fields = selected.map(({ field }, at): SelectedField => ({ name: `${table}: ${names[at] ?? 'count'}`, field }))
  // A count and the parts of a sum may be beyond 2^53, whatever their columns hold.
  return { ...selectStatement(text.join(' '), fields, dialect.decode), exact: true }
}

/** Makes the values of dimensions and measures of a row of that statement. */
export function totalsReader(
  { dimensions, measures }: Pick<TotalsPlan, 'dimensions' | 'measures'>,
  dialect: SqlDialect
): (row: FoundRow) => readonly (Value | UnshownValue)[] {
  let next = dimensions.length
  const readers = measures.map((measure) => {
    const from = next
    next += countOfParts(measure, dialect)
    const to = next
    return (row: FoundRow): Value | UnshownValue => {
      const parts = Array.from({ length: to - from }, (_, at) => partOf(row, from + at))
      const odd = parts.find((one) => one instanceof UnshownValue)
      return odd ?? valueOf(measure, allShown(parts), dialect)
    }
  })
  return (row) => [...dimensions.map((_, at) => partOf(row, at)), ...readers.map((read) => read(row))]
}

/** The columns of the inner SELECT, by quoted names. */
class FoundColumns {
  readonly dialect: SqlDialect
  readonly #root: string
  readonly #names = new Map<string, string>()

  constructor(root: string, dialect: SqlDialect) {
    this.#root = root
    this.dialect = dialect
  }

  plain(column: Column): string {
    return this.#named(this.#text(column))
  }

  /** What the column is compared or sorted by. */
  key(column: Column, use: 'equal' | 'order'): string {
    return this.#named(keyForm(column, this.#text(column), { dialect: this.dialect, use }))
  }

  /** The first characters of the column as text. */
  start(column: Column, length: number): string {
    return this.#named(`SUBSTR(${this.#text(column)}, 1, ${length})`)
  }

  columns(): readonly (readonly [Expression, string])[] {
    if (this.#names.size === 0) return [[literal('1'), 'v0']]
    return Array.from(this.#names, ([text, name]) => [literal(text), name])
  }

  #text(column: Column): string {
    return quotedColumn(ownPath(column), { root: this.#root, dialect: this.dialect })
  }

  #named(text: string): string {
    const name = this.#names.get(text) ?? `v${this.#names.size}`
    this.#names.set(text, name)
    return quotedIdentifier(name)
  }
}

/** Characters of `2026-01-31` that say a part of a moment. */
const PART_LENGTHS = { year: 4, month: 7, day: 10 } as const

function groupOf({ column, part }: Dimension, rows: FoundColumns): string {
  return part === undefined ? rows.key(column, 'order') : rows.start(column, PART_LENGTHS[part])
}

/**
 * Rows whose texts filters take for equal are one group. Of its texts that is shown whose bytes in UTF-8 come first, so that
 * the answer does not depend on the order in which rows are read.
 */
function shownOf(dimension: Dimension, rows: FoundColumns): Pick<SelectedField, 'field'> & SelectedText {
  const { column, part, field } = dimension
  const key = groupOf(dimension, rows)
  if (part !== undefined) {
    const value = part === 'year' ? `${key} + 0` : key
    const { isPart } = rows.dialect.totals
    // Bytes are no part of a moment.
    const text =
      isPart === undefined ? value : `CASE WHEN ${isPart(key, PART_LENGTHS[part])} THEN ${value} ELSE x'00' END`
    return { text, field }
  }
  if (!TEXTS.has(column.field.type))
    return { text: key, field: field.type === 'bool' ? fieldRead(column, rows.dialect) : field }
  return { text: rows.dialect.totals.leastText(rows.plain(column), column.field), field }
}

const TEXTS: ReadonlySet<string> = new Set(['string', 'enum', 'guid'])

interface SelectedText {
  readonly text: string
}

function partsOf(measure: Measure, rows: FoundColumns): readonly (Pick<SelectedField, 'field'> & SelectedText)[] {
  if (measure.kind === 'count') return [{ text: 'COUNT(*)', field: int() }]
  const { kind, column, field } = measure
  const { sum } = rows.dialect.totals
  const plain = rows.plain(column)
  switch (kind) {
    case 'distinct':
      return [{ text: `COUNT(DISTINCT ${rows.key(column, 'equal')})`, field }]
    case 'min':
      return [{ text: `MIN(${plain})`, field }]
    case 'max':
      return [{ text: `MAX(${plain})`, field }]
    case 'sum':
      return sum.parts(plain, column.field)
    case 'average':
      return [...sum.parts(plain, column.field), { text: `COUNT(${plain})`, field: int() }]
  }
}

function countOfParts({ kind, column }: Measure, { totals: { sum } }: SqlDialect): number {
  if (kind !== 'sum' && kind !== 'average') return 1
  return sum.parts('', column.field).length + (kind === 'sum' ? 0 : 1)
}

function orderOf(by: Dimension | Measure, rows: FoundColumns): string {
  if (!('kind' in by)) return groupOf(by, rows)
  const { sum } = rows.dialect.totals
  if (by.kind === 'sum') return sum.order(rows.plain(by.column), by.column.field)
  if (by.kind === 'average') return sum.averageOrder(rows.plain(by.column), by.column.field)
  const [only] = partsOf(by, rows)
  return only?.text ?? ''
}

/** Sums and averages have all their digits, as text; those of ints are written as JSON numbers. */
function valueOf({ kind, column }: Measure, parts: readonly Value[], { totals: { sum } }: SqlDialect): Value {
  const [first = null] = parts
  if (kind !== 'sum' && kind !== 'average') return first
  // A sum of no values is null.
  if (first === null) return null
  const { type, scale } = column.field
  const total = sum.value(parts, column.field)
  if (kind === 'sum') return formatDecimal(total, scale)
  const digits = scale + AVERAGE_DIGITS
  const quotient = roundedQuotient(total * 10n ** BigInt(AVERAGE_DIGITS), BigInt(Number(parts.at(-1))))
  const average = formatDecimal(quotient, digits)
  return type === 'int' ? withoutTrailingZeros(average).replace(/\.$/, '') : average
}
