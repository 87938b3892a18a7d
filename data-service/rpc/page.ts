import type { PageRequest__Output } from '../../shared/gen/entity/v1/PageRequest.js'
import type { PageResponse } from '../../shared/gen/entity/v1/PageResponse.js'
import { planPage } from '../plan/plan-page.js'
import type { CallContext } from './call-context.js'
import { recordEncoder } from './encode-record.js'
import type { Reading } from './reading.js'

export async function page(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: PageRequest__Output
): Promise<PageResponse> {
  const { plan, paging } = planPage(request, { planning, caller })
  const { rows, total, hasNext } = await store.page(plan, signal)
  return {
    records: rows.map(recordEncoder(plan)),
    pageSize: paging.pageSize,
    currentPage: paging.pageNumber.toString(),
    hasNext,
    ...(total === undefined ? {} : { totalCount: total })
  }
}
