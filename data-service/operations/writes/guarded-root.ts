import { hasRowVersion } from '../../entity/fields/row-version.js'
import { DomainError } from '../../../shared/errors.js'
import { type Change, type NamedValues, reject, type Rejection } from '../../entity/action.js'
import type { Children, Column } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { UnshownValue } from '../../entity/fields/unshown.js'
import { checkAnswered } from '../../entity/fields/definition-words.js'
import { idOf, idText, type RowKey } from '../../entity/key.js'
import { CHANGE } from '../../entity/known-words.js'
import { outsideScope, writeScope } from '../../plan/authorize.js'
import { assignments } from '../../plan/parsing/body.js'
import type { KeyedResource } from '../../plan/model/catalogue.js'
import {
  allRows,
  type Condition,
  type DeletePlan,
  type ExpectedVersions,
  type WriteScope
} from '../../plan/model/plans.js'
import type { LockedRow, StoredRow } from '../../plan/model/stores.js'
import type { ParsedUpdate } from '../../plan/write-requests.js'
import {
  planChildUpdate,
  planDelete,
  planLock,
  planLook,
  planUpdate,
  requiredConditions,
  type RequiredState,
  wrongState
} from '../../plan/plan-writes.js'
import { placeInScope } from '../../plan/scope-of-values.js'
import { noSuchRow } from '../../plan/row-scopes.js'
import { isReadAfter, updatedColumns } from './changes.js'
import {
  changesOthers,
  type GuardedChildRow,
  hasHooks,
  type NamedChanges,
  runHooks,
  settable,
  writeChildren,
  writeOthers
} from './effects.js'
import { rejectionError, stale } from './rejections.js'
import { namedRow } from './rule-tools.js'
import type { WriteResponse, WriteSteps } from './write-steps.js'

// A guarded write is decided by its UPDATE or DELETE: the caller's rows, the versions that the caller sent and the
// required state are its match condition (source.md, guarded writes, rule 4). Only after it has matched no row is the row
// read, in the same transaction, to tell why. A rule that looks at the row needs it before, and gets it under lock.

/** The root that a write changes or deletes. */
export interface WrittenRoot<Expected extends DeletePlan['expected'] = ExpectedVersions> {
  readonly resource: KeyedResource
  readonly key: RowKey
  /** The rows that the caller may write. */
  readonly scope: WriteScope
  /** Columns that the request itself sets. */
  readonly values: ReadonlyMap<Column, Value>
  /** Columns that take the default of the database, unless a change sets them: their values are known after the write. */
  readonly defaulted?: readonly Column[]
  /** The versions that the caller sent. */
  readonly expected: Expected
  readonly state: RequiredState
  /** What has to hold for the row when it is written, and did when its key was found. */
  readonly having?: readonly Condition[]
}

/** Throws `ownership.denied` for a caller without an owner claim where rows have owners. `values`: those of the request. */
export function writtenRoot<Expected extends DeletePlan['expected']>(
  {
    resource,
    writer,
    rowKey,
    expected
  }: Pick<ParsedUpdate, 'resource' | 'writer' | 'rowKey'> & { readonly expected: Expected },
  state: RequiredState,
  values: ReadonlyMap<Column, Value> = new Map()
): WrittenRoot<Expected> {
  return { resource, key: rowKey, expected, state, values, scope: writeScope(writer) }
}

/**
 * Whether these values would leave the row outside of the scope, as far as that can be told without writing it: a
 * rejection for that comes before those for the version, the state and conflicts. `before` is the row where it was read.
 */
function isLeftOutside(
  { scope, values, defaulted = [] }: Pick<WrittenRoot<DeletePlan['expected']>, 'scope' | 'values' | 'defaulted'>,
  before: NamedValues = {}
): boolean {
  const valueOf = (one: Column): Value | undefined =>
    values.has(one) ? values.get(one) : defaulted.includes(one) ? undefined : before[one.name]
  return values.size > 0 && placeInScope(scope.after, valueOf) === 'outside'
}

/** The row under lock. Throws `not-found`, and what requireExpected throws. */
export async function lockRoot(root: WrittenRoot, steps: WriteSteps): Promise<StoredRow> {
  const locked = await lockAlone(root, steps)
  await requireExpected(root, locked, steps)
  return locked
}

/**
 * The row without children, perhaps as a batch has read it before. An earlier item of the batch may have changed it since:
 * then it has another version, which the UPDATE or DELETE compares.
 */
async function lockAlone(root: WrittenRoot<DeletePlan['expected']>, steps: WriteSteps): Promise<StoredRow> {
  const { key, expected } = root
  const row = steps.lockedBefore.get(idText(key))
  const isCurrent = row !== undefined && expected !== 'unconditional' && isExpected(row, expected)
  return isCurrent ? row : await lockRow(root, [], steps)
}

async function lockRow(
  root: WrittenRoot<DeletePlan['expected']>,
  children: readonly Children[],
  steps: WriteSteps
): Promise<LockedRow> {
  const { resource, key, scope } = root
  const plan = planLock({ entity: resource.entity, key, scope: scope.before, children })
  const locked = await staleBeforeUnshown(root, steps.unit.lock(plan), steps)
  if (locked === undefined) throw noSuchRow()
  return locked
}

/**
 * The row that was read. A row may hold a value that is not of its type, and then cannot be read, although it exists and is
 * within the scope. The errors that come before its state (decision 006) do not need the row, and are thrown first.
 */
async function staleBeforeUnshown<Row>(
  root: WrittenRoot<DeletePlan['expected']>,
  read: Promise<Row>,
  { unit }: WriteSteps
): Promise<Row> {
  try {
    return await read
  } catch (error) {
    const { resource, key, scope, expected } = root
    const { entity } = resource
    if (!(error instanceof UnshownValue)) throw error
    if (isLeftOutside(root)) throw outsideScope()
    if (expected === 'unconditional' || !hasRowVersion(entity)) throw error
    // Whatever it writes is rolled back with the error.
    const isCurrent = await unit.update(planUpdate({ entity, key, scope, expected, required: [], values: new Map() }))
    throw isCurrent ? error : stale('stale: the row has another version')
  }
}

/**
 * Throws `ownership.denied` where the request would leave the row outside of the scope, and `conflict` for a row of another
 * version, after an UPDATE of the versions that the caller sent has matched no row.
 */
export async function requireExpected(root: WrittenRoot, locked: StoredRow, { unit }: WriteSteps): Promise<void> {
  const { key, scope, expected } = root
  const { entity } = root.resource
  if (isLeftOutside(root, namedRow(locked))) throw outsideScope()
  if (isExpected(locked, expected)) return
  if (await unit.update(planUpdate({ entity, key, scope, expected, required: [], values: new Map() }))) {
    throw new TypeError(`${entity.name} ${idText(key)} changed its version under lock`)
  }
  throw stale('stale: the row has another version')
}

/** What a rule of the entity says of a row under lock. */
interface Judgement<Outcome> {
  /** Those that the rule looks at. */
  readonly children: readonly Children[]
  /** What has to hold for the row besides. Throws where it does not: the row has another version, for instance. */
  readonly check: (locked: LockedRow) => Promise<void>
  readonly rule: (locked: LockedRow) => Promise<Outcome | Rejection>
}

/**
 * The row under lock, with children, and what the rule answers, which is no rejection. A rule may keep a row from its
 * caller, and that comes before version, state and body (contract.md section 2). So it also judges a row that does not pass
 * the check: then its `forbidden` and `notFound` count, and nothing else of it, an error included.
 */
export async function judgeRoot<Outcome extends object>(
  root: WrittenRoot<DeletePlan['expected']>,
  { children, check, rule }: Judgement<Outcome>,
  steps: WriteSteps
): Promise<{ readonly locked: LockedRow; readonly outcome: Outcome }> {
  const locked = await lockRow(root, children, steps)
  try {
    await check(locked)
  } catch (unmet) {
    const outcome = await rule(locked).catch(() => undefined)
    throw outcome !== undefined && isRuleRejection(outcome) && isHiding(outcome) ? rejectionError(outcome) : unmet
  }
  const outcome = await rule(locked)
  if (isRuleRejection(outcome)) throw rejectionError(outcome)
  return { locked, outcome }
}

function isRuleRejection(outcome: object): outcome is Rejection {
  return 'rejection' in outcome
}

function isHiding({ rejection }: Rejection): boolean {
  return rejection === 'forbidden' || rejection === 'notFound'
}

function isExpected({ version }: StoredRow, expected: ExpectedVersions): boolean {
  return version !== undefined && expected.some((one) => one.equals(version))
}

/** The row under lock, for a delete. Throws `not-found`, and what requireDeletable throws. */
export async function lockToDelete(root: WrittenRoot<DeletePlan['expected']>, steps: WriteSteps): Promise<StoredRow> {
  const locked = await lockAlone(root, steps)
  await requireDeletable(root, locked, steps)
  return locked
}

/**
 * Where the DELETE would match no row it is run, and throws what it does then: it is the statement that compares the
 * versions that the caller sent.
 */
export async function requireDeletable(
  root: WrittenRoot<DeletePlan['expected']>,
  locked: StoredRow,
  steps: WriteSteps
): Promise<void> {
  const { resource, key, expected, state } = root
  const { entity } = resource
  const unchanged = expected === 'unconditional' || isExpected(locked, expected)
  if (unchanged && wrongState(state, { resource: entity.name, values: locked.values }) === undefined) return
  await deleteRoot(root, steps)
  throw new TypeError(`${entity.name} ${idText(key)} changed its version or state under lock`)
}

/** Deletes the row with its children. Throws as the UPDATE does. */
export async function deleteRoot(root: WrittenRoot<DeletePlan['expected']>, steps: WriteSteps): Promise<void> {
  const { resource, key, scope, expected, state } = root
  const { entity } = resource
  const plan = planDelete({ entity, key, scope, expected, required: requiredConditions(state) })
  // A table without row versions has no column that a DELETE could compare, and no version of any row is the expected one.
  const isPossible = hasRowVersion(entity) || expected === 'unconditional'
  if (!isPossible || !(await steps.unit.delete(plan))) throw await whyUnmatched(root, steps)
}

/**
 * Why no row matched: there is none for this caller, the write would give it away, it has another version, or it is in
 * another state.
 */
async function whyUnmatched(root: WrittenRoot<DeletePlan['expected']>, steps: WriteSteps): Promise<DomainError> {
  const { key, scope, expected, state } = root
  const { entity } = root.resource
  if (expected === 'unconditional' && state.required.length === 0) return noSuchRow()
  const look = steps.unit.look(planLook({ entity, key, scope: scope.before }))
  const row = await staleBeforeUnshown(root, look, steps)
  if (row === undefined) return noSuchRow()
  if (isLeftOutside(root, namedRow(row))) return outsideScope()
  if (expected !== 'unconditional' && !isExpected(row, expected)) return stale('stale: the row has another version')
  const wrong = wrongState(state, { resource: entity.name, values: row.values })
  if (wrong !== undefined) return rejectionError(reject.state(wrong))
  return stale('stale: the row was changed meanwhile')
}

/**
 * Throws `conflict` for a child of another version, after an UPDATE of the version that the caller sent has matched no
 * row.
 */
export async function requireChildVersion(
  { children, key, version, row }: GuardedChildRow,
  rootKey: RowKey,
  { unit }: WriteSteps
): Promise<void> {
  if (row.version !== undefined && version.equals(row.version)) return
  if (await unit.writeChild(planChildUpdate({ children, rootKey, key, expected: [version] }, new Map()))) {
    throw new TypeError(`${children.name} ${idText(key)} changed its version under lock`)
  }
  throw stale('stale: the child has another version')
}

/** What a write does to a root, and to other roots with it. */
interface RootChange {
  /** Columns that the request itself sets. Those that the change sets overwrite them. */
  readonly values: ReadonlyMap<Column, Value>
  readonly change: Change
  /** The children under lock, by navigation name: those that the change may update or remove. */
  readonly loaded?: LockedRow['children']
  /** It is always written, so that the version that the caller sent is compared by a statement. */
  readonly child?: GuardedChildRow | undefined
  readonly write: RootWrite
}

/** How the write of a root is told: in its audit entry, to its hooks and in the response. */
interface RootWrite {
  readonly operation: 'update' | 'action'
  /** Of an action. */
  readonly action?: string
  /** The row before the write, if it was read. */
  readonly before: NamedValues | undefined
  readonly ignored: readonly string[]
}

/**
 * Writes the root (its UPDATE always happens, because it advances the version), then its children, then other roots, and
 * answers as WriteSteps.answer does. A change of the root alone without hooks is one round trip. Throws `not-found`,
 * `conflict` or `state.invalid` if the UPDATE matches no row, and `ownership.denied` where the row would leave the scope.
 */
export async function changeRoot(
  root: WrittenRoot,
  { values, change, loaded = new Map(), child, write }: RootChange,
  steps: WriteSteps
): Promise<WriteResponse> {
  const { operation, action, before, ignored } = write
  const { resource, key, scope, expected, state, having = [] } = root
  const { entity } = resource
  checkAnswered(`${action ?? operation} of ${entity.name}`, change, CHANGE)
  const set = change.set === undefined ? new Map<Column, Value>() : assignments(change.set, settable(entity))
  const all = new Map([...values, ...set])
  steps.noteSet(entity, set.keys())
  const reset = (root.defaulted ?? []).filter((column) => !all.has(column))
  const written = { ...root, values: all, defaulted: reset }
  if (isLeftOutside(written, before)) {
    throw (await steps.unit.look(planLook({ entity, key, scope: scope.before }))) === undefined
      ? noSuchRow()
      : outsideScope()
  }
  const required = [...requiredConditions(state), ...having]
  const plan = planUpdate({ entity, key, scope, expected, required, values: all, defaulted: reset })
  const changes = Object.entries(change.children ?? {})
  const ofChildren = child === undefined ? changes : withChild(changes, child)
  const name = action ?? operation
  // An entry that is sent behind the UPDATE would be of a row whose values change, which those of a version of the content may not.
  const isAlone = !entity.contentVersion && ofChildren.length === 0 && !changesOthers(change) && !hasHooks(entity, name)
  if (isAlone && !isReadAfter(entity, plan)) {
    const told = { action: name, changes: updatedColumns(plan, before), ignored }
    const answer = await steps.updateAndAnswer(resource, plan, told)
    if (answer === undefined) throw await whyUnmatched(written, steps)
    return answer
  }
  if (!(await steps.unit.update(plan))) throw await whyUnmatched(written, steps)
  const updated = await steps.updatedColumns(plan, before)
  await writeChildren(entity, { rootKey: key, changes: ofChildren, loaded, child }, steps)
  const audited = { action: name, changes: updated }
  if (!changesOthers(change) && !hasHooks(entity, name)) {
    return await steps.auditAndAnswer(resource, key, { ...audited, scope, ignored })
  }
  const { sideEffects } = steps
  // A hook of another row may write this one again. That entry comes later.
  await steps.audit(entity, key, audited)
  await writeOthers(change, steps)
  await runHooks({ entity, operation, ...(action === undefined ? {} : { action }), key, before, via: steps.via }, steps)
  if (entity.contentVersion && steps.sideEffects > sideEffects) await requireOtherContent(root, name, steps)
  return await steps.answer(resource, key, { scope, ignored })
}

/**
 * Throws `state.invalid` after a write with other effects that has left the content, and with it the version, as it was: the
 * same request would pass again with the version that it sent. A key keeps it from running again.
 */
async function requireOtherContent(
  { resource, key, expected }: WrittenRoot,
  name: string,
  steps: WriteSteps
): Promise<void> {
  if (steps.hasKey || !steps.mayTellSame) return
  const { entity } = resource
  const row = await steps.unit.look(planLook({ entity, key, scope: allRows }))
  if (row === undefined || !isExpected(row, expected)) return
  const detail =
    `${name} has left the row as it was, so that a second one could not be told from it. Give ${name} a column that it ` +
    'changes, or send an Idempotency-Key.'
  throw new DomainError('state.invalid', detail)
}

/** The changes with an update of the guarded child, unless they write it already. */
function withChild(changes: NamedChanges, { children: { name }, key }: GuardedChildRow): NamedChanges {
  const id = idOf(key)
  const { update = [], remove = [], ...others } = changes.find(([one]) => one === name)?.[1] ?? {}
  if (remove.includes(id) || update.some((one) => one.id === id)) return changes
  return [
    ...changes.filter(([one]) => one !== name),
    [name, { ...others, remove, update: [...update, { id, set: {} }] }]
  ]
}
