import type { GetRequest__Output } from '../../shared/gen/entity/v1/GetRequest.js'
import type { GetResponse } from '../../shared/gen/entity/v1/GetResponse.js'
import { planGet } from '../plan/plan-get.js'
import type { CallContext } from './call-context.js'
import { recordEncoder } from './encode-record.js'
import { notFound } from './not-found.js'
import type { Reading } from './reading.js'

export async function get(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: GetRequest__Output
): Promise<GetResponse> {
  const plan = planGet(request, { planning, caller })
  const row = await store.get(plan, signal)
  if (row === undefined) throw notFound()
  return { record: recordEncoder(plan)(row) }
}
