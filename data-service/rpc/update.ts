import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import type { Change } from '../entity/action.js'
import { namedValues } from '../plan/assignments.js'
import { parseUpdate } from '../plan/parse-update.js'
import type { ParsedUpdate } from '../plan/parse-write.js'
import { applyChange } from './apply-change.js'
import type { CallContext } from './call-context.js'
import { guardedRow, namedRow, type GuardedRow } from './guarded-row.js'
import { keyedWrite } from './keyed-write.js'
import { refused } from './refused.js'
import type { WriteSteps } from './write-steps.js'
import type { Writing } from './writing.js'

export async function update(
  writing: Writing,
  context: CallContext,
  request: UpdateRequest__Output
): Promise<UpdateResponse> {
  const parsed = parseUpdate(request, { planning: writing.planning, caller: context.caller })
  const { resource, id, values, ignored } = parsed
  const answer = await keyedWrite({ writing, context }, parsed, {
    method: 'PUT',
    path: `/${resource.entity.name}/${String(id)}`,
    work: async (steps) => {
      const row = await guardedRow(parsed, [], steps)
      const change = await judge(parsed, row, steps)
      await applyChange(parsed, { change, values, required: [], makers: writing, row }, steps)
      await steps.audit(resource.entity, id, 'update')
      return steps.answer(resource, id, ignored)
    }
  })
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

/** What the entity's own rule says to the new values. */
async function judge({ resource, values }: ParsedUpdate, { locked }: GuardedRow, steps: WriteSteps): Promise<Change> {
  const { updateRule } = resource.entity
  if (updateRule === undefined) return {}
  const outcome = await updateRule({
    ...steps.tools,
    root: namedRow(locked),
    children: {},
    child: undefined,
    input: namedValues(values)
  })
  if ('refusal' in outcome) throw refused(outcome)
  return outcome
}
