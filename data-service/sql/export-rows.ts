import type { ExportPlan } from '../plan/read-plan.js'
import type { ExportBatch } from '../plan/read-store.js'
import { boundValues } from './conditions.js'
import { ExportWalk } from './export-walk.js'
import { scopeConditions, type Source } from './navigations.js'
import type { Snapshot } from './reader.js'
import { own, selectionOf, valueAt } from './selection.js'
import { idColumn } from './statements.js'

/** The rows of an export in batches out of one snapshot, which is closed when the loop is left. */
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
    const walk = new ExportWalk({
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
      // One row more than there is room for tells whether rows are left out.
      const wanted = Math.min(snapshot.batch, left + 1)
      const found = await walk.next(wanted)
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
