import type { Column, Reference } from '../entity/entity.js'
import type { Comparison } from '../entity/operator.js'
import type { Operand } from '../entity/value.js'

/** Where a value lives: a column of the row itself, or of the row a reference leads to. */
export interface Path {
  readonly through: Reference | null
  readonly column: Column
}

/**
 * One condition over a column. Its operands hold the value's type already and are exact in the column's scale: `in`
 * has any number of them, `between` two, `isEmpty` and `isNotEmpty` none, all others one. Client filters, row scopes
 * and ids are all of this one type.
 */
export interface Condition {
  readonly path: Path
  readonly comparison: Comparison
  readonly operands: readonly Operand[]
}

export interface SortKey {
  readonly path: Path
  readonly descending: boolean
}
