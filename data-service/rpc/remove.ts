import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import { parseDelete } from '../plan/parse-delete.js'
import type { ParsedDelete } from '../plan/parse-write.js'
import { planDelete } from '../plan/plan-write.js'
import { writableRows } from '../plan/write-access.js'
import type { CallContext } from './call-context.js'
import { guardConflicts, stale } from './conflict.js'
import { guardedRow } from './guarded-row.js'
import { notFound } from './not-found.js'
import { WriteSteps } from './write-steps.js'
import type { Writing } from './writing.js'

export async function remove(
  writing: Writing,
  { caller, signal, requestId }: CallContext,
  request: DeleteRequest__Output
): Promise<DeleteResponse> {
  const parsed = parseDelete(request, { planning: writing.planning, caller })
  const { resource, writer, id, expected } = parsed
  const deleting = writing.store.transaction(signal, async (unit) => {
    const steps = new WriteSteps(unit, writing, { writer, requestId })
    await deleteRow(parsed, steps)
    await steps.audit(resource.entity, id, 'delete')
  })
  await guardConflicts(expected !== 'unconditional', deleting)
  return {}
}

async function deleteRow({ resource, writer, id, expected }: ParsedDelete, steps: WriteSteps): Promise<void> {
  const { entity } = resource
  if (expected === 'unconditional') {
    const scope = writableRows(resource, writer)
    if (!(await steps.unit.delete(planDelete(entity, { id, scope, expected })))) throw notFound()
    return
  }
  const { locked, scope } = await guardedRow({ resource, writer, id, expected }, [], steps)
  const deleted = await steps.unit.delete(planDelete(entity, { id, scope, expected: [locked.version] }))
  if (!deleted) throw stale('lost race: the DELETE matched no row')
}
