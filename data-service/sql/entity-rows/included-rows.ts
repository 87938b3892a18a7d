import { rejectionAt } from '../../../shared/errors.js'
import { idText, type RowKey } from '../../entity/key.js'
import type { IncludeParameter } from '../../plan/model/plans.js'
import type { LoadedChild, LoadedRow } from '../../plan/model/stores.js'
import type { FoundRow } from '../engines/statement.js'
import { type AnswerBytes, AnswerTooLarge, TOO_LARGE } from '../engines/answer-bytes.js'

/** Rows that an answer may include besides its own. */
const MAX_INCLUDED = 20_000

/** Rows of a collection that an answer includes of each row. */
export const MAX_OF_EACH = 1000

/** The rows that one answer includes: those of its collections, those of collections within them, and referenced rows. */
export class IncludedRows {
  readonly #bytes: AnswerBytes | undefined
  #left = MAX_INCLUDED

  /** `bytes`: those of the whole answer, where they are counted. */
  constructor(bytes: AnswerBytes | undefined) {
    this.#bytes = bytes
  }

  /** Rows that the next statement may read: one more than there is room for, which tells that there are too many. */
  limit(): number {
    return this.#left + 1
  }

  /** What the rows of the next statement are counted in. */
  bytesOf({ width }: { readonly width: number }): AnswerBytes | undefined {
    return this.#bytes?.ifNeeded(this.limit(), width)
  }

  /**
   * Counts the bytes of found rows that are shown for several of the keys: they are written as often. `width`: the most bytes
   * that one has. Throws AnswerTooLarge, or `upstream.unavailable` where the memory is nearly full.
   */
  repeat(found: ReadonlyMap<string, FoundRow>, keys: readonly (RowKey | undefined)[], width: number): void {
    const bytes = this.#bytes?.ifNeeded(keys.length, width)
    if (bytes === undefined || found.size === 0) return
    const shown = new Set<FoundRow>()
    for (const key of keys) {
      const row = key && found.get(idText(key))
      if (row === undefined) continue
      if (shown.has(row) && !bytes.holds(row.bytes) && bytes.failure !== undefined) throw bytes.failure
      shown.add(row)
    }
  }

  /**
   * Counts the rows that a parameter asks for, and returns them. Throws `include.too-many` if there are more than the answer
   * may include.
   */
  add<Row>(rows: readonly Row[], parameter: IncludeParameter): readonly Row[] {
    this.#take(rows.length, parameter)
    return rows
  }

  /**
   * Counts rows of a collection within rows that the answer shows once more: they are written again, with all that is in
   * them. Only `include` asks for such collections. Throws as `add` and `repeat` do.
   */
  repeatRows(rows: readonly (LoadedRow | LoadedChild)[]): void {
    for (const { stored, children } of rows) {
      this.#take(1, 'include')
      if (this.#bytes?.holds(stored?.bytes ?? 0) === false && this.#bytes.failure !== undefined)
        throw this.#bytes.failure
      for (const nested of children.values()) this.repeatRows(nested)
    }
  }

  #take(rows: number, parameter: IncludeParameter): void {
    this.#left -= rows
    if (this.#left >= 0) return
    throw rejectionAt(
      'include.too-many',
      `The answer would include more than ${MAX_INCLUDED} rows. Ask for a smaller page, or include less.`,
      { place: { in: 'parameter', name: parameter } }
    )
  }
}

const ADVICE = {
  pageSize: { code: 'paging.invalid', advice: 'Ask for a smaller page, or for fewer fields.' },
  fields: { code: 'fields.invalid', advice: 'Ask for fewer fields, or for pages.' },
  includeFKs: { code: 'include.too-many', advice: 'Ask for a smaller page, or include less.' },
  includeChildren: { code: 'include.too-many', advice: 'Ask for a smaller page, or include less.' },
  include: { code: 'include.too-many', advice: 'Ask for a smaller page, or include less.' }
} as const

/** Rejects where the rows that a parameter asks for have more bytes than are read for one answer. */
export async function unlessTooLarge<Read>(parameter: keyof typeof ADVICE, reading: Promise<Read>): Promise<Read> {
  try {
    return await reading
  } catch (error) {
    if (!(error instanceof AnswerTooLarge)) throw error
    const { code, advice } = ADVICE[parameter]
    throw rejectionAt(code, `${TOO_LARGE}. ${advice}`, { place: { in: 'parameter', name: parameter }, cause: error })
  }
}
