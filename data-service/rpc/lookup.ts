import type { LookupRequest__Output } from '../../shared/gen/entity/v1/LookupRequest.js'
import type { LookupResponse } from '../../shared/gen/entity/v1/LookupResponse.js'
import { planLookup } from '../plan/plan-lookup.js'
import type { CallContext } from './call-context.js'
import type { Reading } from './reading.js'
import { valueEncoder } from './value-encoder.js'

export async function lookup(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: LookupRequest__Output
): Promise<LookupResponse> {
  const plan = planLookup(request, { planning, caller })
  const { items, truncated } = await store.lookup(plan, signal)
  const encodeId = valueEncoder(planning.catalogue.resource(request.resource).id.field.type)
  const texts = items.map(({ id, name }) => `{"id":${encodeId(id)},"name":${JSON.stringify(String(name))}}`)
  return { json: Buffer.from(`{"items":[${texts.join()}]}`), truncated }
}
