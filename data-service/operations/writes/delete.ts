import type { DeleteRequest__Output } from '../../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../../shared/gen/entity/v1/DeleteResponse.js'
import type { NamedValues } from '../../entity/action.js'
import { checkAnswered } from '../../entity/fields/definition-words.js'
import { OTHERS } from '../../entity/known-words.js'
import type { CallContext } from '../../entity/caller.js'
import type { KeyedEntity } from '../../entity/entity.js'
import { type ParsedDelete, parseDelete } from '../../plan/write-requests.js'
import { changesOf } from './changes.js'
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
  const { resource, writer, expected, dryRun } = parsed
  const deleting = deps.shares.transaction(
    context,
    readsChildren(resource.entity) ? 'reads-children' : 1,
    async (unit) => {
      if (dryRun) unit.rollBackAtEnd()
      const steps = new WriteSteps(unit, deps, { caller: writer.caller, requestId })
      await removeRow(parsed, steps)
    }
  )
  await guardConflicts({ guarded: expected !== 'unconditional', resource }, deleting)
  return { rolledBack: dryRun }
}

/** Whether the rule of a delete gets the children of the row. */
export function readsChildren(entity: KeyedEntity): boolean {
  return entity.deletion.rule !== undefined && lockedChildren(entity).length > 0
}

/** What of a parsed delete its transaction needs. */
type RowDelete = Omit<ParsedDelete, 'dryRun'>

/** Deletes the row with its audit entry and what its rule and hooks write. */
export async function removeRow(parsed: RowDelete, steps: WriteSteps): Promise<void> {
  const {
    rowKey: key,
    resource: { entity }
  } = parsed
  const before = await deleteRow(parsed, steps)
  await steps.audit(entity, key, { action: 'delete', changes: changesOf(entity, before, undefined) })
  await runHooks({ entity, operation: 'delete', key, before, via: steps.via }, steps)
}

/** Only a rule, a hook or the history of the entity needs the row before it is deleted. Returns the row if it was read. */
async function deleteRow(parsed: RowDelete, steps: WriteSteps): Promise<NamedValues | undefined> {
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
