import type { Change, ChildChanges, NamedValues, NewRoot, RootUpdate } from '../../entity/action.js'
import type { Children, Column, KeyedEntity } from '../../entity/entity.js'
import type { Operand } from '../../entity/fields/field.js'
import type { RowVersion } from '../../entity/fields/row-version.js'
import { checkAnswered } from '../../entity/fields/definition-words.js'
import { idOf, type Keyed, keyOfValues, type RowKey } from '../../entity/key.js'
import { CHILD_CHANGES, NEW_ROOT, OTHERS, ROOT_UPDATE } from '../../entity/known-words.js'
import type { HookCall } from '../../entity/hooks.js'
import { everyRowOfRules } from '../../plan/authorize.js'
import { assignments } from '../../plan/parsing/body.js'
import { allRows, type ChildPlan } from '../../plan/model/plans.js'
import {
  planChildDelete,
  planChildInsert,
  planChildUpdate,
  planLook,
  planUpdate,
  type RandomSource
} from '../../plan/plan-writes.js'
import type { LockedRow, StoredRow } from '../../plan/model/stores.js'
import { keyOfId } from '../../plan/parsing/keys.js'
import { rejectionError, stale } from './rejections.js'
import { namedRow } from './rule-tools.js'
import type { WriteSteps } from './write-steps.js'

// What a write does besides the statement of its own row: its children, the rows of other roots that its rules create and
// change, and the hooks of every row that is written, whichever rule wrote it.

/** A row that was written. */
interface WrittenRow extends Pick<HookCall, 'operation' | 'via'> {
  readonly entity: KeyedEntity
  readonly key: RowKey
  readonly action?: string
  /** The row as a rule or `readBefore` has read it. */
  readonly before?: NamedValues | undefined
}

/** Hooks write rows that have hooks. Deeper than this they call each other without an end. */
const MAX_DEPTH = 16

/** Whether a hook, or the history, wants the row before it is written. */
export function wantsRowBefore({ hooks, history }: KeyedEntity, write: string): boolean {
  return history || hooks.byWrite.get(write)?.readBefore === true
}

/** Whether a write has hooks, which look at the row and may write others. */
export function hasHooks({ hooks }: KeyedEntity, write: string): boolean {
  return hooks.byWrite.has(write)
}

/** Whether a rule wants other roots written. */
export function changesOthers({ create = [], update = [] }: Pick<Change, 'create' | 'update'>): boolean {
  return create.length > 0 || update.length > 0
}

/** Runs the hooks of a row, in the order of the entity file. Throws the rejection of a hook. */
export async function runHooks(
  { entity, operation, action, key, before, via }: WrittenRow,
  steps: WriteSteps
): Promise<void> {
  const found = entity.hooks.byWrite.get(action ?? operation)
  if (found === undefined) return
  if (steps.hookDepth >= MAX_DEPTH) throw new TypeError(`hooks of ${entity.name} call each other without an end`)
  steps.hookDepth += 1
  const stored = operation === 'delete' ? undefined : await steps.unit.look(planLook({ entity, key, scope: allRows }))
  const after = stored && namedRow(stored)
  const { requestId } = steps
  const call: HookCall = { ...steps.tools, operation, action, id: idOf(key), before, after, via, requestId }
  for (const hook of found.hooks) {
    if (hook.kind === 'emit') {
      const payload = await hook.payload(call)
      if (payload !== undefined) await steps.emit(entity, key, { type: hook.event.name, payload })
    } else {
      const outcome = (await hook.run(call)) ?? {}
      if ('rejection' in outcome) throw rejectionError(outcome)
      checkAnswered(`a hook of ${entity.name}`, outcome, OTHERS)
      await writeOthers(outcome, steps)
    }
  }
  steps.hookDepth -= 1
}

/** A child whose version the caller sent. */
export interface GuardedChildRow {
  readonly children: Children
  readonly key: RowKey
  /** The version that the caller sent. */
  readonly version: RowVersion
  readonly row: StoredRow
}

export async function writeChildren(
  entity: KeyedEntity,
  of: {
    readonly rootKey: RowKey
    readonly changes: NamedChanges
    readonly loaded: LockedRow['children']
    readonly child: GuardedChildRow | undefined
  },
  steps: WriteSteps
): Promise<void> {
  for (const [name, changes] of of.changes) {
    const children = entity.children.find((one) => one.name === name)
    if (children === undefined) throw new TypeError(`${entity.name} has no ${name}`)
    requirePartOfRoot(entity, children, 'all')
    for (const plan of childPlans({ ...of, children, changes, loaded: of.loaded.get(name) ?? [] }, steps.deps)) {
      if (!(await steps.unit.writeChild(plan))) throw stale(`stale: a write of ${name} matched no row`)
    }
  }
}

/**
 * Creates and changes the roots that a write touches besides its own. Each has its own audit entry. Hooks run after all of
 * these statements, so that a hook may change a row that the same rule has changed. Answers the ids of the new rows.
 */
export async function writeOthers(
  { create = [], update = [] }: Pick<Change, 'create' | 'update'>,
  steps: WriteSteps
): Promise<Operand[]> {
  const updated: WrittenRow[] = []
  const created: WrittenRow[] = []
  for (const one of update) updated.push(await updateOther(one, steps))
  for (const one of create) created.push(await insertOther(one, steps))
  for (const one of [...updated, ...created]) await runHooks(one, steps)
  return created.map(({ key }) => idOf(key))
}

async function insertOther(root: NewRoot, steps: WriteSteps): Promise<WrittenRow> {
  const { resource, values, children: named = {} } = root
  checkAnswered('a row to create', root, NEW_ROOT)
  const entity = steps.deps.planning.catalogue.keyedEntity(resource)
  const scope = everyRowOfRules
  const children = entity.children.flatMap((one) => {
    const rows = named[one.name]
    if (rows !== undefined && rows.length > 0) requirePartOfRoot(entity, one, 'create')
    return rows === undefined ? [] : [{ children: one, scope, rows: rows.map((row) => assignments(row, one.columns)) }]
  })
  const key = await steps.insert(entity, { scope, values: assignments(values, entity.columns), children })
  return { entity, key, operation: 'create', via: 'rule' }
}

/** Throws TypeError for a resource whose rows are written by themselves, past whose hooks or own create a root would go. */
export function requirePartOfRoot(
  { name: root }: KeyedEntity,
  { name, resource, rootWrites }: Children,
  write: 'create' | 'all'
): void {
  if (resource === undefined || rootWrites === 'all' || rootWrites === write) return
  throw new TypeError(`${name} of ${root} are written as ${resource}`)
}

/** Changes a root that getAggregate has put under lock. The statement compares the version that it was read with. */
async function updateOther(update: RootUpdate, steps: WriteSteps): Promise<WrittenRow> {
  const { resource, id, set = {}, children = {} } = update
  checkAnswered('a row to change', update, ROOT_UPDATE)
  const entity = steps.deps.planning.catalogue.keyedEntity(resource)
  const locked = steps.lockedRoots.take(resource, id)
  const { version, children: loaded } = locked
  if (version === undefined) throw new TypeError(`${resource} have no row version and are not changed with others`)
  const key = keyOfId(id, entity)
  const values = assignments(set, settable(entity))
  steps.noteSet(entity, values.keys())
  const plan = planUpdate({ entity, key, scope: everyRowOfRules, expected: [version], required: [], values })
  if (!(await steps.unit.update(plan))) throw stale(`stale: a write of ${resource} matched no row`)
  steps.sideEffects += 1
  const before = namedRow(locked)
  const changes = await steps.updatedColumns(plan, before)
  await writeChildren(entity, { rootKey: key, changes: Object.entries(children), loaded, child: undefined }, steps)
  await steps.audit(entity, key, { action: 'update', changes })
  return { entity, key, operation: 'update', before, via: 'rule' }
}

export type NamedChanges = readonly (readonly [name: string, changes: ChildChanges])[]

/** Removals come first, so that their unique values are free for the updates and inserts. */
function childPlans(
  of: {
    readonly children: Children
    readonly rootKey: RowKey
    readonly changes: ChildChanges
    readonly loaded: readonly StoredRow[]
    readonly child: GuardedChildRow | undefined
  },
  random: RandomSource
): ChildPlan[] {
  const { children, rootKey, changes, loaded, child } = of
  checkAnswered(`changes of ${children.name}`, changes, CHILD_CHANGES)
  const columns = settable(children)
  const stored = (id: Operand) => {
    const key = keyOfId(id, children)
    if (child?.children === children && idOf(child.key) === id)
      return { children, rootKey, key, expected: [child.version] } as const
    const found = loaded.find((row) => childId(children, row) === id)
    if (found === undefined) throw new TypeError(`${children.name} ${String(id)} is not among those loaded`)
    // No UPDATE compares an empty version.
    if (found.version === undefined) throw stale('stale: the child has no version')
    return { children, rootKey, key, expected: [found.version] } as const
  }
  return [
    ...(changes.remove ?? []).map((id) => planChildDelete(stored(id))),
    ...(changes.update ?? []).map(({ id, set }) => planChildUpdate(stored(id), assignments(set, columns))),
    ...(changes.insert ?? []).map((row) =>
      planChildInsert({ children, rootKey }, assignments(row, children.columns), random)
    )
  ]
}

/** The id of a loaded child. */
export function childId({ name, key }: Children, { values }: StoredRow): Operand {
  const found = keyOfValues(key.map((column) => values.get(column.name)))
  if (found === undefined) throw new TypeError(`a row of ${name} has no id`)
  return idOf(found)
}

/** The columns that a change may set: no write changes the key of a row. */
export function settable({ key, columns }: Keyed & { readonly columns: readonly Column[] }): Column[] {
  return columns.filter((column) => !key.includes(column))
}
