import type { ExportPlan, Position } from '../../plan/model/plans.js'
import type { BatchWriter, ExportBatch } from '../../plan/model/stores.js'
import { boundValues, scopeConditions } from './statements/conditions.js'
import type { Snapshot } from '../engines/sessions.js'
import type { CsvRow } from '../engines/statement.js'
import { anyOfRanges, exactOrder, rangesBehind, sortKeyOf } from './statements/keyset.js'
import { selectionOf, type Source, valueAt } from './navigations.js'

/** Batches that are read as one where each takes a sort of all rows. They may have so many more bytes too. */
const UNINDEXED_BATCHES = 10

/** Rows of the first batch at most. It has fewer where the columns may be large: how large the rows are is not known yet. */
const FIRST_BATCH = 200

/** Bytes of a batch that the number of its rows aims at. Two batches are in memory: one is sent, the next one is read. */
const BATCH_BYTES = 512 * 1024

interface ExportOf<Part> {
  readonly open: (signal: AbortSignal) => Promise<Snapshot>
  readonly writer: () => BatchWriter<Part>
  readonly signal: AbortSignal
}

/**
 * Reads the rows of an export in batches from one snapshot, which is closed when the loop ends for any reason. A batch that
 * is being read then is stopped.
 */
export async function* exportRows<Part>(
  plan: ExportPlan,
  source: Source,
  { open, writer, signal }: ExportOf<Part>
): AsyncGenerator<ExportBatch<Part>, void, undefined> {
  const leaving = new AbortController()
  const snapshot = await open(AbortSignal.any([signal, leaving.signal]))
  const read = batchReader(plan, source, { snapshot, writer })
  let reading = read({ last: undefined, left: plan.limit, rows: undefined })
  try {
    for (;;) {
      const { batch, next } = await reading
      if (next !== undefined) {
        reading = read(next)
        // It can fail before anybody awaits it. This prevents an unhandled rejection.
        reading.catch(() => undefined)
      }
      yield batch
      if (next === undefined) return
    }
  } finally {
    leaving.abort()
    await reading.catch(() => undefined)
    await snapshot.close()
  }
}

/** Where a batch begins. */
interface BatchStart {
  /** The sort keys of the row before it; undefined for the first batch. */
  readonly last: Position['keys'] | undefined
  /** Rows up to the limit of the plan. */
  readonly left: number
  /** Rows to read, so many times more where no index serves the order; undefined for the first batch. */
  readonly rows: number | undefined
}

interface ReadBatch<Part> {
  readonly batch: ExportBatch<Part>
  /** undefined after the last batch. */
  readonly next: BatchStart | undefined
}

function batchReader<Part>(
  plan: ExportPlan,
  { statements, dialect }: Source,
  { snapshot, writer }: { readonly snapshot: Snapshot; readonly writer: () => BatchWriter<Part> }
): (start: BatchStart) => Promise<ReadBatch<Part>> {
  const { entity, projection, scope } = plan
  const sort = exactOrder(plan.sort, entity, dialect)
  const paths = sort.map(({ path }) => path)
  const selection = selectionOf(entity, projection, paths)
  const keys = paths.map((path) => valueAt(selection, path))
  const keysOf = (row: CsvRow): Position['keys'] => keys.map((key) => sortKeyOf(key(row)))
  const conditions = [...plan.conditions, ...scopeConditions(scope)]
  const isIndexed = statements.isIndexed(entity, plan.sort)
  return async ({ last, left, rows }) => {
    const ranges = last === undefined ? [] : rangesBehind(sort, { keys: last, through: false })
    const statement = statements.rows({ entity, ...selection, conditions, sort, ranges, cut: 'limit' })
    const sized = rows ?? Math.min(FIRST_BATCH, Math.max(1, Math.floor(BATCH_BYTES / statement.width)))
    const wanted = Math.min(sized, snapshot.batch) * (isIndexed ? 1 : UNINDEXED_BATCHES)
    // One row above the limit is read to find out whether rows are left out.
    const limit = Math.min(wanted, left + 1)
    const values = { ...boundValues([...conditions, ...anyOfRanges(ranges)], dialect), limit: BigInt(limit) }
    const written = writer()
    let found = 0
    let latest: CsvRow | undefined
    await snapshot.each(statement, values, (row) => {
      found += 1
      if (found > left) return
      written.add(row)
      latest = row
    })
    const truncated = found > left
    const isLast = truncated || found < limit
    const parts = written.finish()
    const count = Math.min(found, left)
    return {
      batch: { parts, count, end: isLast ? { truncated } : undefined },
      next:
        isLast || latest === undefined
          ? undefined
          : {
              last: keysOf(latest),
              left: left - found,
              rows: Math.max(1, Math.floor((BATCH_BYTES * found) / Math.max(1, written.bytes)))
            }
    }
  }
}
