import type { DomainError } from '../../../shared/errors.js'
import type { ActRequest__Output } from '../../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../../shared/gen/entity/v1/ActResponse.js'
import { type ActionOfRow, type Change, type GuardedChild, reject, type Rejection } from '../../entity/action.js'
import type { CallContext } from '../../entity/caller.js'
import type { LockedRow } from '../../plan/model/stores.js'
import { namedValues } from '../../plan/parsing/body.js'
import { keyOfId } from '../../plan/parsing/keys.js'
import { wrongState } from '../../plan/plan-writes.js'
import { parseAct, type ParsedAct } from '../../plan/write-requests.js'
import { childId, type GuardedChildRow, wantsRowBefore } from './effects.js'
import {
  changeRoot,
  judgeRoot,
  lockRoot,
  requireChildVersion,
  requireExpected,
  type WrittenRoot,
  writtenRoot
} from './guarded-root.js'
import type { Guess } from './guess-counts.js'
import { rejectionError } from './rejections.js'
import { namedChildren, namedRow } from './rule-tools.js'
import { idempotentWrite, pathOf } from './write.js'
import type { WriteDeps, WriteResponse, WriteSteps } from './write-steps.js'

export async function act(deps: WriteDeps, context: CallContext, request: ActRequest__Output): Promise<ActResponse> {
  const parsed = parseAct(request, { planning: deps.planning, caller: context.caller })
  const { resource, writer, rowKey: key, action } = parsed
  const { name } = resource.entity
  const guesser = { caller: writer.caller, resource: name, route: action.name, bound: action.guesses }
  const answer = await deps.guesses.count(guesser, (guess) =>
    idempotentWrite({ deps, context }, parsed, {
      method: 'PUT',
      path: `${pathOf(resource, key)}/${action.name}`,
      size: action.loads.length > 0 || action.guardedChild !== undefined ? 'reads-children' : 1,
      work: (steps) => runAction({ ...parsed, guess }, steps)
    })
  )
  const { json, rowVersion, replayed, rolledBack } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed, rolledBack }
}

async function runAction(parsed: ParsedAct & { readonly guess: Guess }, steps: WriteSteps): Promise<WriteResponse> {
  const { resource, action, values, ignored } = parsed
  const root = writtenRoot(parsed, action)
  if (action.change !== undefined) return runOnRow(parsed, { root, change: action.change }, steps)
  const locked = wantsRowBefore(resource.entity, action.name) ? await lockRoot(root, steps) : undefined
  const { caller, now, newCode } = steps.tools
  const change = action.effect({ input: namedValues(values), caller, now, newCode })
  if (change instanceof Promise) throw new TypeError(`The effect of ${action.name} is async, and answers no change.`)
  const write = { operation: 'action', action: action.name, before: locked && namedRow(locked), ignored } as const
  return await changeRoot(root, { values: new Map(), change, write }, steps)
}

/** An action that looks at the row, which is locked first. Throws the action's rejection. */
async function runOnRow(
  parsed: ParsedAct & { readonly guess: Guess },
  { root, change }: { readonly root: WrittenRoot; readonly change: ActionOfRow['change'] },
  steps: WriteSteps
): Promise<WriteResponse> {
  const { resource, action, values, ignored } = parsed
  const { loads, guardedChild } = action
  const needed = new Set([...loads, ...(guardedChild === undefined ? [] : [guardedChild.children])])
  const check = async (row: LockedRow): Promise<void> => {
    await requireExpected(root, row, steps)
    const child = guardedChildOf(parsed, row)
    if (child !== undefined) await requireChildVersion(child, root.key, steps)
    else if (guardedChild !== undefined) throw noSuchChild(guardedChild)
    const wrong = wrongState(action, { resource: resource.entity.name, values: row.values })
    if (wrong !== undefined) throw rejectionError(reject.state(wrong))
  }
  const rule = async (row: LockedRow): Promise<Change | Rejection> => {
    const child = guardedChildOf(parsed, row)
    const input = namedValues(values)
    parsed.guess.begin(input)
    const outcome = await change({
      ...steps.tools,
      root: namedRow(row),
      children: namedChildren(row),
      child: child && namedRow(child.row),
      input
    })
    if ('rejection' in outcome) parsed.guess.wrong()
    return outcome
  }
  const { locked, outcome } = await judgeRoot(root, { children: [...needed], check, rule }, steps)
  const child = guardedChildOf(parsed, locked)
  const write = { operation: 'action', action: action.name, before: namedRow(locked), ignored } as const
  return await changeRoot(root, { values: new Map(), change: outcome, loaded: locked.children, child, write }, steps)
}

/** The child that the action depends on; undefined if the row has no such child. */
function guardedChildOf({ action, values, childVersion }: ParsedAct, locked: LockedRow): GuardedChildRow | undefined {
  const { guardedChild } = action
  if (guardedChild === undefined || childVersion === undefined) return undefined
  const { idMember, children } = guardedChild
  const id = namedValues(values)[idMember]
  const row = locked.children.get(children.name)?.find((one) => childId(children, one) === id)
  if (row === undefined || id === undefined || id === null || typeof id === 'object') return undefined
  return { children, key: keyOfId(id, children), version: childVersion, row }
}

function noSuchChild({ idMember, children }: GuardedChild): DomainError {
  return rejectionError(reject.input(`/${idMember}`, `${idMember} is none of ${children.name}.`))
}
