import type { Value } from '../entity/field.js'
import type { ExportPlan, Path, SortKey } from '../plan/plans.js'
import type { ExportBatch } from '../plan/stores.js'
import { boundValues, type RowCondition } from './conditions.js'
import type { Snapshot } from './engines/engine.js'
import { own, scopeConditions, selectionOf, type Source, valueAt } from './navigations.js'
import { idColumn } from './statements.js'

/** Reads the rows of an export in batches from one snapshot, which is closed when the loop ends for any reason. */
export async function* exportRows(
  plan: ExportPlan,
  { statements, dialect }: Source,
  open: () => Promise<Snapshot>
): AsyncGenerator<ExportBatch, void, undefined> {
  const { entity, projection, scope, sort } = plan
  const selection = selectionOf(
    entity,
    projection,
    sort.map(({ path }) => path)
  )
  const filters = [...plan.conditions, ...scopeConditions(scope)]
  const snapshot = await open()
  try {
    const cursor = new KeysetCursor({
      sort,
      id: own(idColumn(entity)),
      valueOf: (path) => valueAt(selection, path),
      read: (step) => {
        const conditions = [...filters, ...step.conditions]
        const statement = statements.rows({ entity, ...selection, conditions, sort: step.sort, cut: 'limit' })
        return snapshot.run(statement, { ...boundValues(conditions, dialect), limit: BigInt(step.limit) })
      }
    })
    for (let left = plan.limit; ; left -= snapshot.batch) {
      // One row above the limit is read to find out whether rows are left out.
      const wanted = Math.min(snapshot.batch, left + 1)
      const found = await cursor.next(wanted)
      const rows = found.slice(0, left).map((row) => row.slice(0, selection.shown))
      const truncated = found.length > left
      if (truncated || found.length < wanted) {
        yield { rows, end: { truncated } }
        return
      }
      yield { rows, end: undefined }
    }
  } finally {
    await snapshot.close()
  }
}

/** The next read of a cursor: the conditions of its position, the order, and the number of rows. */
interface Step {
  readonly conditions: readonly RowCondition[]
  readonly sort: readonly SortKey[]
  readonly limit: number
}

type Row = readonly Value[]

interface CursorOptions {
  /** The id, with at most one key before it. */
  readonly sort: readonly SortKey[]
  readonly id: Path
  readonly read: (step: Step) => Promise<readonly Row[]>
  readonly valueOf: (path: Path) => (row: Row) => Value
}

/** Rows without a value, rows with the same value as the last row, rows after that value. */
type Phase = 'nulls' | 'ties' | 'beyond'

/**
 * Reads all rows in the order of one column and the id, by keyset pagination. Each step is one range of the index
 * (column, id): a comparison of both columns at once, or an OR, would make the databases read rows of equal value from
 * their first row again for every batch.
 */
class KeysetCursor {
  readonly #options: CursorOptions
  readonly #key: SortKey
  readonly #byId: boolean
  /** Whether the column may be null. Rows with NULL come first in ascending and last in descending order. */
  readonly #hasNulls: boolean
  #phase: Phase | 'done'
  #last: Row | undefined

  constructor(options: CursorOptions) {
    const { sort, id } = options
    const [key = { path: id, descending: false }] = sort
    this.#options = options
    this.#key = key
    this.#byId = key.path.through === null && key.path.column === id.column
    this.#hasNulls = key.path.through !== null || key.path.column.field.nullable
    this.#phase = this.#hasNulls && !key.descending ? 'nulls' : 'beyond'
  }

  /** The next rows. Fewer than `limit` means that there are no more. */
  async next(limit: number): Promise<Row[]> {
    const rows: Row[] = []
    while (this.#phase !== 'done' && rows.length < limit) {
      const wanted = limit - rows.length
      const found = await this.#options.read({ ...this.#position(this.#phase), limit: wanted })
      rows.push(...found)
      this.#last = found.at(-1) ?? this.#last
      this.#nextPhase(this.#phase, found.length < wanted)
    }
    return rows
  }

  #nextPhase(phase: Phase, exhausted: boolean): void {
    const { descending } = this.#key
    if (phase === 'beyond' && !exhausted) this.#phase = this.#byId ? 'beyond' : 'ties'
    else if (phase === 'ties' && exhausted) this.#phase = 'beyond'
    else if (phase === 'nulls' && exhausted) this.#begin(descending ? 'done' : 'beyond')
    else if (phase === 'beyond') this.#begin(this.#hasNulls && descending ? 'nulls' : 'done')
  }

  /** Starts a phase whose conditions do not depend on an earlier row. */
  #begin(phase: Phase | 'done'): void {
    this.#phase = phase
    this.#last = undefined
  }

  #position(phase: Phase): Omit<Step, 'limit'> {
    const { path, descending } = this.#key
    const byId: SortKey = { path: this.#options.id, descending: false }
    switch (phase) {
      case 'nulls':
        return { conditions: [bare(path, 'inRunOfNulls'), ...this.#after(byId)], sort: [byId] }
      case 'ties':
        return {
          conditions: [...this.#compared(path, 'inRun'), ...this.#after(byId)],
          sort: [{ path, descending: false }, byId]
        }
      case 'beyond':
        return {
          conditions: this.#last === undefined && this.#hasNulls ? [bare(path, 'isNotNull')] : this.#after(this.#key),
          sort: this.#byId ? [this.#key] : [{ path, descending }, byId]
        }
    }
  }

  #after({ path, descending }: SortKey): RowCondition[] {
    return this.#compared(path, descending ? 'lessThan' : 'greaterThan')
  }

  /** A comparison with the last row. Empty if there is none. */
  #compared(path: Path, comparison: 'inRun' | 'lessThan' | 'greaterThan'): RowCondition[] {
    if (this.#last === undefined) return []
    const value = this.#options.valueOf(path)(this.#last)
    if (value === null || typeof value === 'object') throw new TypeError('The cursor stands at a row without a value')
    return [{ path, comparison, operands: [value] }]
  }
}

function bare(path: Path, comparison: 'inRunOfNulls' | 'isNotNull'): RowCondition {
  return { path, comparison, operands: [] }
}
