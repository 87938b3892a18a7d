import type { Projection } from '../../plan/model/plans.js'
import { type FoundRow, rowWidth } from '../engines/statement.js'

/**
 * A row of which nothing is known is taken to have at most so many bytes, whatever its columns allow: a page that asks for ten
 * resources at once after a start must not be refused.
 */
const MOST_ASSUMED = 2048

/** Each read takes as much from what is remembered of larger rows. */
const FORGOTTEN = 0.02

/** Bytes that the rows of projections have: the most that their columns allow, until some were read, and then what these had. */
export class RowSizes {
  readonly #known = new WeakMap<Projection, number>()

  /** About as many bytes as a row will have. */
  expected(projection: Projection): number {
    const known = this.#known.get(projection)
    if (known !== undefined) return known
    const fields = projection.selected.map((one) => (one.kind === 'rowVersion' ? one.kind : one.column.field))
    const assumed = Math.min(MOST_ASSUMED, rowWidth(fields))
    this.#known.set(projection, assumed)
    return assumed
  }

  /** Rows of an answer. Large ones are remembered for longer than small ones, so that a few of each do not hide them. */
  saw(projection: Projection, rows: readonly FoundRow[]): void {
    if (rows.length === 0) return
    const average = rows.reduce((sum, { bytes }) => sum + bytes, 0) / rows.length
    const known = this.expected(projection)
    this.#known.set(projection, Math.max(average, known - (known - average) * FORGOTTEN))
  }
}
