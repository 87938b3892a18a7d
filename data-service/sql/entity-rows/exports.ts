import type { ExportPlan, Position } from '../../plan/model/plans.js'
import type { ExportBatch } from '../../plan/model/stores.js'
import { boundValues } from './conditions.js'
import type { Snapshot } from '../engines/sessions.js'
import { anyOfRanges, exactOrder, rangesBehind, sortKeyOf } from './keyset.js'
import { scopeConditions, selectionOf, type Source, valueAt } from './navigations.js'

/** Batches that are read as one where each takes a sort of all rows. */
const UNINDEXED_BATCHES = 10

/** Reads the rows of an export in batches from one snapshot, which is closed when the loop ends for any reason. */
export async function* exportRows(
  plan: ExportPlan,
  { statements, dialect }: Source,
  open: () => Promise<Snapshot>
): AsyncGenerator<ExportBatch, void, undefined> {
  const { entity, projection, scope } = plan
  const sort = exactOrder(plan.sort, entity, dialect)
  const paths = sort.map(({ path }) => path)
  const selection = selectionOf(entity, projection, paths)
  const keys = paths.map((path) => valueAt(selection, path))
  const conditions = [...plan.conditions, ...scopeConditions(scope)]
  const snapshot = await open()
  const batch = snapshot.batch * (statements.isIndexed(entity, plan.sort) ? 1 : UNINDEXED_BATCHES)
  try {
    let last: Position['keys'] | undefined
    for (let left = plan.limit; ; left -= batch) {
      // One row above the limit is read to find out whether rows are left out.
      const wanted = Math.min(batch, left + 1)
      const ranges = last === undefined ? [] : rangesBehind(sort, { keys: last, through: false })
      const statement = statements.rows({ entity, ...selection, conditions, sort, ranges, cut: 'limit' })
      const values = boundValues([...conditions, ...anyOfRanges(ranges)], dialect)
      const found = await snapshot.run(statement, { ...values, limit: BigInt(wanted) })
      const rows = found.slice(0, left).map((row) => row.slice(0, selection.shown))
      const truncated = found.length > left
      if (truncated || found.length < wanted) {
        yield { rows, end: { truncated } }
        return
      }
      yield { rows, end: undefined }
      last = keys.map((key) => sortKeyOf(key(found.at(-1) ?? [])))
    }
  } finally {
    await snapshot.close()
  }
}
