import type { Value } from '../../../entity/fields/field.js'
import type { Entity } from '../../../entity/entity.js'
import type { Path, Position, SortKey } from '../../../plan/model/plans.js'
import type { ColumnComparison, RowCondition } from './conditions.js'
import type { SqlDialect } from '../../engines/statement.js'

// Keyset pagination: the rows behind a position in an order, read without the rows before it. Pages that begin at a
// cursor and the batches of exports are read so, and their cost does not grow with the number of rows before them.

/** Rows behind a position. Each range is a part of an index in the order of the rows, and they follow one another. */
export type Ranges = readonly (readonly ColumnComparison[])[]

/**
 * The ranges of the rows behind a position: first those that share all keys but the last with it, then those that share
 * all but the last two, and so on. With `through` the first range begins with the row at the position itself. The
 * number of the ranges, and so the text of the statement, depends only on the order and on which keys are null.
 */
export function rangesBehind(
  sort: readonly SortKey[],
  { keys, through }: { readonly keys: Position['keys']; readonly through: boolean }
): Ranges {
  const ranges: ColumnComparison[][] = []
  const shared: ColumnComparison[] = []
  for (const [index, { path, descending }] of sort.entries()) {
    const key = keys[index] ?? null
    const beyond =
      index === sort.length - 1
        ? [
            compared(
              path,
              descending ? (through ? 'lessThanOrEqual' : 'lessThan') : through ? 'greaterThanOrEqual' : 'greaterThan',
              key
            )
          ]
        : rangesOfKey({ path, descending }, key)
    ranges.unshift(...beyond.map((range) => [...shared, range]))
    shared.push(key === null ? bare(path, 'isNull') : compared(path, 'equals', key))
  }
  return ranges
}

/**
 * The order of a plan with the exact texts of the key behind it, where the database sorts text by a function of it: there
 * two rows can have keys that the sort rules take for equal. Elsewhere the unique index of a key has the equality of its
 * collation, and the order of the plan is total; a table in `sharedKeys` has no such index.
 */
export function exactOrder(
  sort: readonly SortKey[],
  { table, key }: Entity,
  { dialect, sharedKeys }: { readonly dialect: SqlDialect; readonly sharedKeys?: ReadonlySet<string> | undefined }
): readonly SortKey[] {
  if (dialect.keyFunction('string', 'order') === undefined && sharedKeys?.has(table) !== true) return sort
  const texts = sort.filter(
    ({ path: { through, column } }) => through === null && column.field.type === 'string' && key.includes(column)
  )
  if (texts.length === 0) return sort
  return [...sort, ...texts.map(({ path, descending }): SortKey => ({ path: { ...path, exact: true }, descending }))]
}

/** The sort keys of a position in an order of exactOrder. */
export function exactKeys(
  keys: Position['keys'],
  { sort, order }: { readonly sort: readonly SortKey[]; readonly order: readonly SortKey[] }
): Position['keys'] {
  const further = order.slice(sort.length).map(({ path: { column } }) => {
    const at = sort.findIndex(({ path }) => path.through === null && path.column === column)
    return keys[at] ?? null
  })
  return further.length === 0 ? keys : [...keys, ...further]
}

/** The ranges of rows whose value of one sort key is behind `key`. NULL comes first in ascending, last in descending order. */
function rangesOfKey({ path, descending }: SortKey, key: Position['keys'][number]): ColumnComparison[] {
  if (key === null) {
    // Nothing is behind NULL in descending order. The range without rows has a reason: if `IS NULL` were the only
    // condition of the column, MariaDB would take the column for constant, leave it out of the order, choose an index by
    // the other keys, and read and sort every row that has NULL.
    return [bare(path, descending ? 'lessThanNull' : 'isNotNull')]
  }
  const isNullable = path.through !== null || path.column.field.nullable
  return [
    compared(path, descending ? 'lessThan' : 'greaterThan', key),
    ...(descending && isNullable ? [bare(path, 'isNull')] : [])
  ]
}

/** The order from the last row to the first. */
export function reversed(sort: readonly SortKey[]): readonly SortKey[] {
  return sort.map(({ path, descending }) => ({ path, descending: !descending }))
}

/** The ranges as one condition. Its comparisons have the order of the ranges. */
export function anyOfRanges(ranges: Ranges): readonly RowCondition[] {
  return ranges.length === 0 ? [] : [{ anyOf: ranges.map((range) => ({ allOf: range })) }]
}

/**
 * `anyOfRanges` for an order that no index serves. The optimizer of MariaDB would still read the range of the first key
 * by an index on it, and look up most rows of the table one by one. A condition that no index can answer makes it read the
 * table as for the first page; it stands last, so that it is evaluated only for rows that no range has.
 */
export function anyOfRangesUnindexed(ranges: Ranges, id: Path): readonly RowCondition[] {
  return ranges.length === 0 ? [] : [{ anyOf: [...ranges.map((range) => ({ allOf: range })), bare(id, 'never')] }]
}

/** The sort keys of a row as a position's. Bytes and sets are no sort keys. */
export function sortKeyOf(value: Value): Position['keys'][number] {
  if (typeof value === 'object' && value !== null) throw new TypeError('Rows are not sorted by bytes or lists')
  return value
}

function compared(
  path: Path,
  comparison: ColumnComparison['comparison'],
  key: Position['keys'][number]
): ColumnComparison {
  if (key === null) throw new TypeError('An id is never null')
  return { path, comparison, operands: [key] }
}

function bare(path: Path, comparison: 'isNull' | 'isNotNull' | 'lessThanNull' | 'never'): ColumnComparison {
  return { path, comparison, operands: [] }
}
