import { rejectionAt } from '../../../shared/errors.js'

/** Rows that an answer may include besides its own. */
const MAX_INCLUDED = 20_000

/** Rows of a collection that an answer includes of each row. */
export const MAX_OF_EACH = 1000

/** The rows that one answer includes: those of its collections, those of collections within them, and referenced rows. */
export class IncludedRows {
  #left = MAX_INCLUDED

  /** Rows that the next statement may read: one more than there is room for, which tells that there are too many. */
  limit(): number {
    return this.#left + 1
  }

  /**
   * Counts the rows that a parameter asks for, and returns them. Throws `include.too-many` if there are more than the answer
   * may include.
   */
  add<Row>(rows: readonly Row[], parameter: 'includeFKs' | 'includeChildren'): readonly Row[] {
    this.#left -= rows.length
    if (this.#left < 0) {
      throw rejectionAt(
        'include.too-many',
        `The answer would include more than ${MAX_INCLUDED} rows. Ask for a smaller page, or include less.`,
        { place: { in: 'parameter', name: parameter } }
      )
    }
    return rows
  }
}
