import type { DeleteRequest__Output } from '../../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../../shared/gen/entity/v1/DeleteResponse.js'
import type { NamedValues } from '../../entity/action.js'
import { checkAnswered } from '../../entity/fields/definition-words.js'
import { OTHERS } from '../../entity/known-words.js'
import type { CallContext } from '../../entity/caller.js'
import { type ParsedDelete, parseDelete } from '../../plan/write-requests.js'
import { runHooks, wantsRowBefore, writeOthers } from './effects.js'
import { deleteRoot, judgeRoot, lockToDelete, requireDeletable, writtenRoot } from './guarded-root.js'
import { guardConflicts } from './rejections.js'
import { lockedChildren, namedChildren, namedRow } from './rule-tools.js'
import { type WriteDeps, WriteSteps } from './write-steps.js'

export async function remove(
  deps: WriteDeps,
  context: CallContext,
  request: DeleteRequest__Output
): Promise<DeleteResponse> {
  const { caller, requestId } = context
  const parsed = parseDelete(request, { planning: deps.planning, caller })
  const { resource, writer, rowKey: key, expected, dryRun } = parsed
  const { deletion } = resource.entity
  const readsChildren = deletion.rule !== undefined && lockedChildren(resource.entity).length > 0
  const deleting = deps.shares.transaction(context, readsChildren ? 'reads-children' : 1, async (unit) => {
    if (dryRun) unit.rollBackAtEnd()
    const steps = new WriteSteps(unit, deps, { caller: writer.caller, requestId })
    const before = await deleteRow(parsed, steps)
    await steps.audit(resource.entity, key, 'delete')
    await runHooks({ entity: resource.entity, operation: 'delete', key, before, via: 'request' }, steps)
  })
  await guardConflicts({ guarded: expected !== 'unconditional', resource }, deleting)
  return { rolledBack: dryRun }
}

/** Only a rule or a hook of the entity needs the row before it is deleted. Returns the row if it was read. */
async function deleteRow(parsed: ParsedDelete, steps: WriteSteps): Promise<NamedValues | undefined> {
  const { entity } = parsed.resource
  const { required, rule } = entity.deletion
  const root = writtenRoot(parsed, { name: 'delete', required })
  if (rule === undefined) {
    const locked = wantsRowBefore(entity, 'delete') ? await lockToDelete(root, steps) : undefined
    await deleteRoot(root, steps)
    return locked && namedRow(locked)
  }
  const { locked, outcome } = await judgeRoot(
    root,
    {
      children: lockedChildren(entity),
      check: (row) => requireDeletable(root, row, steps),
      rule: async (row) => rule({ ...steps.tools, root: namedRow(row), children: namedChildren(row) })
    },
    steps
  )
  await deleteRoot(root, steps)
  checkAnswered(`deletes.rule of ${entity.name}`, outcome, OTHERS)
  await writeOthers(outcome, steps)
  return namedRow(locked)
}
