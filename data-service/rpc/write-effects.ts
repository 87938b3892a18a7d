import { DomainError } from '../../shared/errors.js'
import type { Change, ChildChanges, NamedValues, NewRoot, RootUpdate } from '../entity/action.js'
import type { Children, Column, Entity } from '../entity/entity.js'
import type { Operand, RowVersion } from '../entity/field.js'
import type { HookCall } from '../entity/hooks.js'
import { assignments } from '../plan/body.js'
import { allRows, type ChildPlan } from '../plan/plans.js'
import {
  planChildDelete,
  planChildInsert,
  planChildUpdate,
  planLook,
  planUpdate,
  type RandomSource
} from '../plan/plan-writes.js'
import type { LockedRow, StoredRow } from '../plan/stores.js'
import { rejectionError, type WriteSteps } from './write-steps.js'

// What a write does besides the statement of its own row: its children, the rows of other roots that its rules create and
// change, and the hooks of every row that is written, whichever rule wrote it.

/** A row that was written. */
export interface WrittenRow extends Pick<HookCall, 'operation' | 'id' | 'via'> {
  readonly entity: Entity
  readonly action?: string
  /** The row as a rule or `readBefore` has read it. */
  readonly before?: NamedValues | undefined
}

/** Hooks write rows that have hooks. Deeper than this they call each other without an end. */
const MAX_DEPTH = 16

/** Whether a hook wants the row before it is written. */
export function wantsRowBefore({ hooks }: Entity, write: string): boolean {
  return hooks.byWrite.get(write)?.readBefore === true
}

/** Runs the hooks of a row, in the order of the entity file. Throws the rejection of a hook. */
export async function runHooks(
  { entity, operation, action, id, before, via }: WrittenRow,
  steps: WriteSteps
): Promise<void> {
  const found = entity.hooks.byWrite.get(action ?? operation)
  if (found === undefined) return
  if (steps.hookDepth >= MAX_DEPTH) throw new TypeError(`hooks of ${entity.name} call each other without an end`)
  steps.hookDepth += 1
  const stored = operation === 'delete' ? undefined : await steps.unit.look(planLook({ entity, id, scope: allRows }))
  const after = stored && namedRow(stored)
  const { caller, requestId } = steps
  const call: HookCall = { ...steps.tools, operation, action, id, before, after, via, caller, requestId }
  for (const hook of found.hooks) {
    if (hook.kind === 'emit') {
      const payload = await hook.payload(call)
      if (payload !== undefined) await steps.emit(entity, id, { type: hook.event.name, payload })
    } else {
      const outcome = (await hook.run(call)) ?? {}
      if ('rejection' in outcome) throw rejectionError(outcome)
      await writeOthers(outcome, steps)
    }
  }
  steps.hookDepth -= 1
}

/** A child whose version the caller sent. */
export interface GuardedChildRow {
  readonly children: Children
  readonly id: Operand
  /** The version that the caller sent. */
  readonly version: RowVersion
  readonly row: StoredRow
}

export async function writeChildren(
  entity: Entity,
  of: {
    readonly rootId: Operand
    readonly changes: NamedChanges
    readonly loaded: LockedRow['children']
    readonly child: GuardedChildRow | undefined
  },
  steps: WriteSteps
): Promise<void> {
  for (const [name, changes] of of.changes) {
    const children = entity.children.find((one) => one.name === name)
    if (children === undefined) throw new TypeError(`${entity.name} has no ${name}`)
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
  return created.map(({ id }) => id)
}

async function insertOther(
  { resource, values, children: named = {} }: NewRoot,
  steps: WriteSteps
): Promise<WrittenRow> {
  const entity = steps.deps.planning.catalogue.entity(resource)
  const children = entity.children.flatMap((one) => {
    const rows = named[one.name]
    return rows === undefined ? [] : [{ children: one, rows: rows.map((row) => assignments(row, one.columns)) }]
  })
  const id = await steps.insert(entity, { values: assignments(values, entity.columns), children })
  return { entity, id, operation: 'create', via: 'rule' }
}

/** Changes a root that getAggregate has put under lock. The statement compares the version that it was read with. */
async function updateOther(
  { resource, id, set = {}, children = {} }: RootUpdate,
  steps: WriteSteps
): Promise<WrittenRow> {
  const entity = steps.deps.planning.catalogue.entity(resource)
  const locked = steps.lockedRoots.take(resource, id)
  const { version, children: loaded } = locked
  if (version === undefined) throw new TypeError(`${resource} have no row version and are not changed with others`)
  const values = assignments(set, settable(entity.columns))
  const plan = planUpdate({ entity, id, scope: allRows, expected: [version], required: [], values })
  if (!(await steps.unit.update(plan))) throw stale(`stale: a write of ${resource} matched no row`)
  await writeChildren(entity, { rootId: id, changes: Object.entries(children), loaded, child: undefined }, steps)
  await steps.audit(entity, id, 'update')
  return { entity, id, operation: 'update', before: namedRow(locked), via: 'rule' }
}

export type NamedChanges = readonly (readonly [name: string, changes: ChildChanges])[]

/** Removals come first, so that their unique values are free for the updates and inserts. */
function childPlans(
  of: {
    readonly children: Children
    readonly rootId: Operand
    readonly changes: ChildChanges
    readonly loaded: readonly StoredRow[]
    readonly child: GuardedChildRow | undefined
  },
  random: RandomSource
): ChildPlan[] {
  const { children, rootId, changes, loaded, child } = of
  const columns = settable(children.columns)
  const stored = (id: Operand) => {
    if (child?.children === children && child.id === id)
      return { children, rootId, id, expected: [child.version] } as const
    const found = loaded.find(({ values }) => values.get('id') === id)
    if (found === undefined) throw new TypeError(`${children.name} ${String(id)} is not among those loaded`)
    // No UPDATE compares an empty version.
    if (found.version === undefined) throw stale('stale: the child has no version')
    return { children, rootId, id, expected: [found.version] } as const
  }
  return [
    ...(changes.remove ?? []).map((id) => planChildDelete(stored(id))),
    ...(changes.update ?? []).map(({ id, set }) => planChildUpdate(stored(id), assignments(set, columns))),
    ...(changes.insert ?? []).map((row) => planChildInsert({ children, rootId }, assignments(row, columns), random))
  ]
}

export function settable(columns: readonly Column[]): Column[] {
  return columns.filter(({ name }) => name !== 'id')
}

export function namedRow({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}

/** The same text for every conflict. The cause is only in the log (contract.md section 5). */
const DETAIL = 'A data conflict occurred. Please retry or contact support.'

/** For a guarded write whose row was changed by another write before. The cause is for the log. */
export function stale(cause: string): DomainError {
  return new DomainError('conflict', DETAIL, { guarded: true, cause: new Error(cause) })
}
