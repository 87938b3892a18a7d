import type { ListRequest__Output } from '../../shared/gen/entity/v1/ListRequest.js'
import type { ListResponse } from '../../shared/gen/entity/v1/ListResponse.js'
import { continuationPageSize, planList } from '../plan/plan-list.js'
import type { CallContext } from './call-context.js'
import { recordEncoder } from './encode-record.js'
import type { Reading } from './reading.js'

export async function list(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: ListRequest__Output
): Promise<ListResponse> {
  const plan = planList(request, { planning, caller })
  const { rows, truncated } = await store.list(plan, signal)
  return {
    records: rows.map(recordEncoder(plan)),
    rowLimit: plan.limit,
    truncated,
    continuationPageSize: continuationPageSize(planning.maxPageSize)
  }
}
