import type { ExportRequest__Output } from '../../shared/gen/entity/v1/ExportRequest.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import { planExport } from '../plan/plan-export.js'
import type { ExportPlan } from '../plan/read-plan.js'
import type { CallContext } from './call-context.js'
import { exportColumns, exportMessages } from './encode-export.js'
import type { Reading } from './reading.js'

/** Refuses a bad request when it is called, before the first message is asked for. */
export function exportRows(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: ExportRequest__Output
): AsyncIterable<ExportResponse> {
  const plan = planExport(request, { planning, caller })
  const resource = planning.catalogue.resource(request.resource)
  return stream(plan, { columns: exportColumns(plan, resource), batches: store.export(plan, signal) })
}

async function* stream(
  plan: ExportPlan,
  from: { readonly columns: ReturnType<typeof exportColumns>; readonly batches: ReturnType<Reading['store']['export']> }
): AsyncGenerator<ExportResponse> {
  let count = 0
  let headed = false
  for await (const { rows, end } of from.batches) {
    // The header waits for the first batch, so that a query that fails at once is still a plain refusal.
    if (!headed) yield { header: { columns: [...from.columns], rowLimit: plan.limit } }
    headed = true
    for (const message of exportMessages(rows, plan.projection)) yield { rows: message }
    count += rows.length
    if (end !== undefined) yield { end: { count, truncated: end.truncated } }
  }
}
