import { DomainError } from '../../shared/errors.js'
import type { Change, ChildChanges, NamedValues, RootUpdate } from '../entity/action.js'
import { reject } from '../entity/action.js'
import type { Children, Column, Entity } from '../entity/entity.js'
import type { Operand, RowVersion, Value } from '../entity/field.js'
import { writableRows } from '../plan/authorize.js'
import { assignments } from '../plan/body.js'
import type { Resource } from '../plan/catalogue.js'
import { allRows, type ChildPlan, type DeletePlan, type ExpectedVersions, type RowScope } from '../plan/plans.js'
import type { LockedRow, StoredRow } from '../plan/stores.js'
import type { ParsedUpdate } from '../plan/write-requests.js'
import {
  planChildDelete,
  planChildInsert,
  planChildUpdate,
  planDelete,
  planLock,
  planLook,
  planUpdate,
  type RandomSource,
  requiredConditions,
  type RequiredState,
  wrongState
} from '../plan/plan-writes.js'
import { notFound } from './reads.js'
import { rejectionError, type WriteSteps } from './write-steps.js'

// A guarded write is decided by its UPDATE or DELETE: the caller's rows, the versions that the caller sent and the
// required state are its match condition (source.md, guarded writes, rule 4). Only after it has matched no row is the row
// read, in the same transaction, to tell why. A rule that looks at the row needs it before, and gets it under lock.

/** The root that a write changes or deletes. */
export interface WrittenRoot<Expected extends DeletePlan['expected'] = ExpectedVersions> {
  readonly resource: Resource
  readonly id: Operand
  /** The rows that the caller may write. */
  readonly scope: RowScope
  /** The versions that the caller sent. */
  readonly expected: Expected
  readonly state: RequiredState
}

/** Throws `ownership.denied` for a caller without an owner claim where rows have owners. */
export function writtenRoot<Expected extends DeletePlan['expected']>(
  {
    resource,
    writer,
    id,
    expected
  }: Pick<ParsedUpdate, 'resource' | 'writer' | 'id'> & { readonly expected: Expected },
  state: RequiredState
): WrittenRoot<Expected> {
  return { resource, id, expected, state, scope: writableRows(resource, writer) }
}

/**
 * The row under lock, with children, for a rule that looks at it. Throws `not-found`; `conflict` for a row of another
 * version, after an UPDATE of the versions that the caller sent has matched no row.
 */
export async function lockRoot(
  { resource: { entity }, id, scope, expected }: WrittenRoot,
  children: readonly Children[],
  { unit }: WriteSteps
): Promise<LockedRow> {
  const locked = await unit.lock(planLock({ entity, id, scope, children }))
  if (locked === undefined) throw notFound()
  if (isExpected(locked, expected)) return locked
  if (await unit.update(planUpdate({ entity, id, scope, expected, required: [], values: new Map() }))) {
    throw new TypeError(`${entity.name} ${String(id)} changed its version under lock`)
  }
  throw stale('stale: the row has another version')
}

function isExpected({ version }: StoredRow, expected: ExpectedVersions): boolean {
  return version !== undefined && expected.some((one) => one.equals(version))
}

/** Throws `not-found`, `conflict` or `state.invalid` if the UPDATE matches no row. */
async function updateRoot(root: WrittenRoot, values: ReadonlyMap<Column, Value>, steps: WriteSteps): Promise<void> {
  const { resource, id, scope, expected, state } = root
  const required = requiredConditions(state)
  const plan = planUpdate({ entity: resource.entity, id, scope, expected, required, values })
  if (!(await steps.unit.update(plan))) throw await whyUnmatched(root, steps)
}

/**
 * The row under lock, with children, for the rule of its delete. Where the DELETE would match no row it is run all the
 * same, and throws what it does then: it is the statement that compares the versions that the caller sent.
 */
export async function lockToDelete(
  root: WrittenRoot<DeletePlan['expected']>,
  children: readonly Children[],
  steps: WriteSteps
): Promise<LockedRow> {
  const { resource, id, scope, expected, state } = root
  const { entity } = resource
  const locked = await steps.unit.lock(planLock({ entity, id, scope, children }))
  if (locked === undefined) throw notFound()
  const unchanged = expected === 'unconditional' || isExpected(locked, expected)
  if (unchanged && wrongState(state, { resource: entity.name, values: locked.values }) === undefined) return locked
  await deleteRoot(root, steps)
  throw new TypeError(`${entity.name} ${String(id)} changed its version or state under lock`)
}

/** Deletes the row with its children. Throws as the UPDATE does. */
export async function deleteRoot(root: WrittenRoot<DeletePlan['expected']>, steps: WriteSteps): Promise<void> {
  const { resource, id, scope, expected, state } = root
  const { entity } = resource
  const plan = planDelete({ entity, id, scope, expected, required: requiredConditions(state) })
  // A table without row versions has no column that a DELETE could compare, and no version of any row is the expected one.
  const isPossible = entity.versioned || expected === 'unconditional'
  if (!isPossible || !(await steps.unit.delete(plan))) throw await whyUnmatched(root, steps)
}

/** Why no row matched: there is none for this caller, it has another version, or it is in another state. */
async function whyUnmatched(
  { resource: { entity }, id, scope, expected, state }: WrittenRoot<DeletePlan['expected']>,
  { unit }: WriteSteps
): Promise<DomainError> {
  if (expected === 'unconditional' && state.required.length === 0) return notFound()
  const row = await unit.look(planLook({ entity, id, scope }))
  if (row === undefined) return notFound()
  if (expected !== 'unconditional' && !isExpected(row, expected)) return stale('stale: the row has another version')
  const wrong = wrongState(state, { resource: entity.name, values: row.values })
  if (wrong !== undefined) return rejectionError(reject.state(wrong))
  return stale('stale: the row was changed meanwhile')
}

/** A child whose version the caller sent. */
export interface GuardedChildRow {
  readonly children: Children
  readonly id: Operand
  /** The version that the caller sent. */
  readonly version: RowVersion
  readonly row: StoredRow
}

/**
 * Throws `conflict` for a child of another version, after an UPDATE of the version that the caller sent has matched no
 * row.
 */
export async function requireChildVersion(
  { children, id, version, row }: GuardedChildRow,
  rootId: Operand,
  { unit }: WriteSteps
): Promise<void> {
  if (row.version !== undefined && version.equals(row.version)) return
  if (await unit.writeChild(planChildUpdate({ children, rootId, id, expected: [version] }, new Map()))) {
    throw new TypeError(`${children.name} ${String(id)} changed its version under lock`)
  }
  throw stale('stale: the child has another version')
}

/** What a write does to a root, and to other roots with it. */
export interface RootChange {
  /** Columns that the request itself sets. Those that the change sets overwrite them. */
  readonly values: ReadonlyMap<Column, Value>
  readonly change: Change
  /** The children under lock, by navigation name: those that the change may update or remove. */
  readonly loaded?: LockedRow['children']
  /** It is always written, so that the version that the caller sent is compared by a statement. */
  readonly child?: GuardedChildRow | undefined
}

/** Writes the root (its UPDATE always happens, because it advances the version), then its children, then other roots. */
export async function changeRoot(
  root: WrittenRoot,
  { values, change, loaded = new Map(), child }: RootChange,
  steps: WriteSteps
): Promise<void> {
  const { entity } = root.resource
  await updateRoot(root, new Map([...values, ...assignments(change.set ?? {}, settable(entity.columns))]), steps)
  const changes = Object.entries(change.children ?? {})
  const written = child === undefined ? changes : withChild(changes, child)
  await writeChildren(entity, { rootId: root.id, changes: written, loaded, child }, steps)
  await writeOthers(change, steps)
}

async function writeChildren(
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
 * Changes and creates the roots that a write touches besides its own. Each has its own audit entry. Answers the ids of
 * the new ones.
 */
export async function writeOthers(
  { create = [], update = [] }: Pick<Change, 'create' | 'update'>,
  steps: WriteSteps
): Promise<Operand[]> {
  for (const one of update) await updateOther(one, steps)
  return await steps.insertNamed(create)
}

/** Changes a root that getAggregate has put under lock. The statement compares the version that it was read with. */
async function updateOther({ resource, id, set = {}, children = {} }: RootUpdate, steps: WriteSteps): Promise<void> {
  const entity = steps.deps.planning.catalogue.entity(resource)
  const { version, children: loaded } = steps.lockedRoots.take(resource, id)
  if (version === undefined) throw new TypeError(`${resource} have no row version and are not changed with others`)
  const values = assignments(set, settable(entity.columns))
  const plan = planUpdate({ entity, id, scope: allRows, expected: [version], required: [], values })
  if (!(await steps.unit.update(plan))) throw stale(`stale: a write of ${resource} matched no row`)
  await writeChildren(entity, { rootId: id, changes: Object.entries(children), loaded, child: undefined }, steps)
  await steps.audit(entity, id, 'update')
}

type NamedChanges = readonly (readonly [name: string, changes: ChildChanges])[]

/** The changes with an update of the guarded child, unless they write it already. */
function withChild(changes: NamedChanges, { children: { name }, id }: GuardedChildRow): NamedChanges {
  const { update = [], remove = [], ...others } = changes.find(([one]) => one === name)?.[1] ?? {}
  if (remove.includes(id) || update.some((one) => one.id === id)) return changes
  return [
    ...changes.filter(([one]) => one !== name),
    [name, { ...others, remove, update: [...update, { id, set: {} }] }]
  ]
}

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

function settable(columns: readonly Column[]): Column[] {
  return columns.filter(({ name }) => name !== 'id')
}

export function namedRow({ values }: StoredRow): NamedValues {
  return Object.fromEntries(values)
}

/** The same text for every conflict. The cause is only in the log (contract.md section 5). */
const DETAIL = 'A data conflict occurred. Please retry or contact support.'

/** For a guarded write whose row was changed by another write before. The cause is for the log. */
function stale(cause: string): DomainError {
  return new DomainError('conflict', DETAIL, { guarded: true, cause: new Error(cause) })
}

/** Runs a write. Every conflict of a guarded write becomes the guarded kind, whatever its cause. */
export async function guardConflicts<Result>(guarded: boolean, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'conflict' || error.guarded === guarded) throw error
    const { message, title, members, cause } = error
    throw new DomainError('conflict', message, { guarded, members, cause, ...(title === undefined ? {} : { title }) })
  }
}
