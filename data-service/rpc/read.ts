import type { ReadRequest__Output } from '../../shared/gen/entity/v1/ReadRequest.js'
import type { ReadResponse } from '../../shared/gen/entity/v1/ReadResponse.js'
import type { CustomRead } from '../entity/custom-read.js'
import { planRead } from '../plan/plan-read.js'
import type { PagePlan } from '../plan/read-plan.js'
import type { CallContext } from './call-context.js'
import type { Reading } from './reading.js'
import { rowSerializer, type RowSerializer } from './row-serializer.js'
import { valueReader } from './value-reader.js'

/** A custom read: an array of its items. */
export async function read(
  { planning, store }: Reading,
  { caller, signal }: CallContext,
  request: ReadRequest__Output
): Promise<ReadResponse> {
  const { plan, read: custom } = planRead(request, { planning, caller })
  const { rows, hasNext } = await store.page(plan, signal)
  return {
    json: Buffer.from(`[${rows.map(itemText(custom, plan)).join()}]`),
    rowLimit: plan.limit,
    truncated: hasNext
  }
}

function itemText({ bare, items }: CustomRead, { projection }: PagePlan): RowSerializer {
  const [column] = items
  if (!bare || column === undefined) return rowSerializer(projection, [])
  const { read: value, encode } = valueReader({ kind: 'column', column }, projection)
  return ({ values }) => encode(value(values))
}
