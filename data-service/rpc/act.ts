import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import type { Change } from '../entity/action.js'
import { refuse } from '../entity/refuse.js'
import { namedValues } from '../plan/assignments.js'
import { parseAct, type ParsedAct } from '../plan/parse-act.js'
import { requiredConditions, wrongState } from '../plan/required-state.js'
import type { LockedRow, StoredRow } from '../plan/write-store.js'
import { applyChange } from './apply-change.js'
import type { CallContext } from './call-context.js'
import { stale } from './conflict.js'
import { guardedRow, namedRow } from './guarded-row.js'
import { keyedWrite } from './keyed-write.js'
import { refused } from './refused.js'
import type { WriteSteps } from './write-steps.js'
import type { Writing } from './writing.js'

export async function act(writing: Writing, context: CallContext, request: ActRequest__Output): Promise<ActResponse> {
  const parsed = parseAct(request, { planning: writing.planning, caller: context.caller })
  const { resource, id, action, ignored } = parsed
  const { loads, guardedChild } = action
  const children = new Set([...loads, ...(guardedChild === undefined ? [] : [guardedChild.children])])
  const answer = await keyedWrite({ writing, context }, parsed, {
    method: 'PUT',
    path: `/${resource.entity.name}/${String(id)}/${action.name}`,
    work: async (steps) => {
      const row = await guardedRow(parsed, [...children], steps)
      const child = knownChild(parsed, row.locked)
      const change = await decide(parsed, { locked: row.locked, child }, steps)
      const required = requiredConditions(action)
      await applyChange(parsed, { change, values: new Map(), required, makers: writing, row }, steps)
      await steps.audit(resource.entity, id, action.name)
      return steps.answer(resource, id, ignored)
    }
  })
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

/** The child that the action depends on, in the version that the body names. */
function knownChild({ action, values, childVersion }: ParsedAct, { children }: LockedRow): StoredRow | undefined {
  const { guardedChild } = action
  if (guardedChild === undefined) return undefined
  const { idMember, children: collection } = guardedChild
  const id = namedValues(values)[idMember]
  const child = children.get(collection.name)?.find((one) => one.values.get('id') === id)
  if (child === undefined) throw refused(refuse.input(`/${idMember}`, `${idMember} is none of ${collection.name}.`))
  if (childVersion?.equals(child.version) !== true) throw stale('stale: the child has another version')
  return child
}

/** What the action does to the row as it is under lock. */
async function decide(
  { resource, action, values }: ParsedAct,
  { locked, child }: { readonly locked: LockedRow; readonly child: StoredRow | undefined },
  steps: WriteSteps
): Promise<Change> {
  const wrong = wrongState(action, { resource: resource.entity.name, values: locked.values })
  if (wrong !== undefined) throw refused(refuse.state(wrong))
  const outcome = await action.change({
    ...steps.tools,
    root: namedRow(locked),
    children: Object.fromEntries(Array.from(locked.children, ([name, rows]) => [name, rows.map(namedRow)])),
    child: child && namedRow(child),
    input: namedValues(values)
  })
  if ('refusal' in outcome) throw refused(outcome)
  return outcome
}
