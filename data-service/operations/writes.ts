import type { ActRequest__Output } from '../../shared/gen/entity/v1/ActRequest.js'
import type { ActResponse } from '../../shared/gen/entity/v1/ActResponse.js'
import { DomainError } from '../../shared/errors.js'
import type { CreateBatchRequest__Output } from '../../shared/gen/entity/v1/CreateBatchRequest.js'
import type { CreateBatchResponse } from '../../shared/gen/entity/v1/CreateBatchResponse.js'
import type { CreateRequest__Output } from '../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../shared/gen/entity/v1/CreateResponse.js'
import type { DeleteRequest__Output } from '../../shared/gen/entity/v1/DeleteRequest.js'
import type { DeleteResponse } from '../../shared/gen/entity/v1/DeleteResponse.js'
import type { UpdateRequest__Output } from '../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../shared/gen/entity/v1/UpdateResponse.js'
import {
  type ActionOfRow,
  type Change,
  type GuardedChild,
  type NamedValues,
  reject,
  type Rejection
} from '../entity/action.js'
import type { CallContext } from '../entity/caller.js'
import type { Preparation } from '../entity/creates-and-deletes.js'
import type { Children, Column, Entity } from '../entity/entity.js'
import type { Value } from '../entity/fields/field.js'
import { idText, type RowKey } from '../entity/key.js'
import { type BroughtAlong, broughtAlong, claimedOwner, outsideScope, writeScope } from '../plan/authorize.js'
import { placeInScope } from '../plan/scope-of-values.js'
import { assignments, namedValues } from '../plan/parsing/body.js'
import { isChangeable, type Resource } from '../plan/model/catalogue.js'
import { type NamedRow, presetValues } from '../plan/presets.js'
import { tokenCaller } from '../plan/row-scopes.js'
import { keyOfId } from '../plan/parsing/keys.js'
import type { KeyClaim, LockedRow } from '../plan/model/stores.js'
import {
  mergedValues,
  parseAct,
  parseCreate,
  type ParsedAct,
  type ParsedCreate,
  type ParsedDelete,
  type ParsedRow,
  parseBatch,
  parseDelete,
  type ParsedUpdate,
  parseUpdate
} from '../plan/write-requests.js'
import { wrongState } from '../plan/plan-writes.js'
import {
  changeRoot,
  deleteRoot,
  guardConflicts,
  judgeRoot,
  lockRoot,
  lockToDelete,
  requireChildVersion,
  requireDeletable,
  requireExpected,
  type WrittenRoot,
  writtenRoot
} from './guarded-writes.js'
import type { Guess } from './guess-counts.js'
import { idempotentWrite } from './idempotent-write.js'
import { lockedChildren } from './row-finders.js'
import {
  changesOthers,
  childId,
  type GuardedChildRow,
  hasHooks,
  namedRow,
  requirePartOfRoot,
  runHooks,
  wantsRowBefore,
  writeOthers
} from './write-effects.js'
import { rowsOf } from './write-shares.js'
import { rejectionError, throwAt, WriteSteps, type WriteDeps, type WriteResponse } from './write-steps.js'

export async function create(
  deps: WriteDeps,
  context: CallContext,
  request: CreateRequest__Output
): Promise<CreateResponse> {
  const { planning, idempotency } = deps
  const parsed = parseCreate(request, { planning, caller: context.caller }, idempotency.required)
  const { resource } = parsed
  const located = ({ key, answer }: Created): WriteResponse => ({
    ...answer,
    location: `${request.linkBase}${pathOf(resource, key)}`
  })
  const answer = await deps.guesses.count(guesserOf(parsed), (guess) =>
    idempotentWrite({ deps, context }, parsed, {
      method: 'POST',
      path: `/${resource.entity.name}`,
      size: rowsOf([parsed]),
      work: async (steps) => located(await insertAndAnswer({ ...parsed, guess }, steps)),
      atOnce: async (steps, claim) => {
        const created = await createAtOnce(parsed, claim, steps)
        return created && located(created)
      }
    })
  )
  const { json, rowVersion, id, replayed, location } = answer
  return { record: { json, rowVersion }, id, ignoredMembers: [...answer.ignored], replayed, location }
}

function guesserOf({ resource: { entity }, writer: { caller } }: Pick<ParsedCreate, 'resource' | 'writer'>) {
  return { caller, resource: entity.name, route: 'create', bound: entity.creation.guesses }
}

/**
 * The path of a row, with its id percent-encoded as `Location` and the keys of requests need it: the id `1/pay` is not the
 * action `pay` of the row `1`. A comma is no delimiter of a path segment.
 */
function pathOf({ entity: { name } }: Resource, key: RowKey): string {
  return `/${name}/${encodeURIComponent(idText(key)).replaceAll('%2C', ',')}`
}

/** Creates the rows of a batch one after the other. The first that cannot be created undoes all of them. */
export async function createBatch(
  deps: WriteDeps,
  context: CallContext,
  request: CreateBatchRequest__Output
): Promise<CreateBatchResponse> {
  const { planning, idempotency } = deps
  const parsed = parseBatch(
    request,
    { planning, caller: context.caller },
    { keyRequired: idempotency.required, checkSize: (rows) => deps.shares.check(context, rows) }
  )
  const { resource, writer, ignored } = parsed
  // The first wrong row ends the batch, so it is one guess.
  const answer = await deps.guesses.count(guesserOf(parsed), (guess) =>
    idempotentWrite({ deps, context }, parsed, {
      method: 'POST',
      path: `/${resource.entity.name}/batch`,
      size: rowsOf(parsed.rows),
      work: async (steps) => {
        const keys: RowKey[] = []
        for (const [index, row] of parsed.rows.entries()) {
          const inserted = insert({ ...row, resource, writer, guess }, 'batch', steps)
          keys.push(await inserted.catch((error: unknown) => throwAt(index, error)))
        }
        return steps.answerAll(resource, keys, { scope: writeScope(writer), ignored })
      }
    })
  )
  // JSON is the one text in which ids of every type are kept with the response.
  const ids = JSON.parse(answer.id) as string[]
  return { json: answer.json, ids, ignoredMembers: [...answer.ignored], replayed: answer.replayed }
}

type ParsedInsert = ParsedRow & Pick<ParsedCreate, 'resource' | 'writer'> & { readonly guess: Guess }

interface Created {
  readonly key: RowKey
  readonly answer: WriteResponse
}

/** A create that nothing has to come between, in one round trip (`UnitOfWork.createAtOnce`). undefined for all others. */
async function createAtOnce(
  parsed: ParsedCreate,
  claim: KeyClaim | undefined,
  steps: WriteSteps
): Promise<Created | undefined> {
  const { resource, ignored, children } = parsed
  const { entity } = resource
  if (entity.creation.prepare !== undefined || children.length > 0 || hasHooks(entity, 'create')) return undefined
  try {
    const row = { scope: writeScope(parsed.writer), values: givenValues(parsed), children: [] }
    return await steps.createAtOnce(resource, { claim, row, ignored })
  } catch (error) {
    // That the row is of another owner, or names what a preset gives otherwise, is told after the claim of the key.
    if (error instanceof DomainError && error.code === 'ownership.denied') return undefined
    throw error
  }
}

/** Creates a row. Its audit entry and the response are one round trip if nothing has to come between them. */
async function insertAndAnswer(parsed: ParsedCreate & ParsedInsert, steps: WriteSteps): Promise<Created> {
  const { resource, ignored } = parsed
  const { entity } = resource
  const { row, prepared } = await newRow(parsed, steps)
  const { scope } = row
  if (changesOthers(prepared) || hasHooks(entity, 'create')) {
    const key = await insertPrepared(entity, { row, prepared, via: 'request' }, steps)
    return { key, answer: await steps.answer(resource, key, { scope, ignored }) }
  }
  const key = await steps.insertRow(entity, row)
  return { key, answer: await steps.auditAndAnswer(resource, key, { action: 'create', scope, ignored }) }
}

async function insert(parsed: ParsedInsert, via: 'request' | 'batch', steps: WriteSteps): Promise<RowKey> {
  return await insertPrepared(parsed.resource.entity, { ...(await newRow(parsed, steps)), via }, steps)
}

/** A row that a request asks for, with what the entity file makes of it. */
interface NewRow {
  readonly row: Parameters<WriteSteps['insert']>[1]
  readonly prepared: Preparation
}

async function insertPrepared(
  entity: Entity,
  { row, prepared, via }: NewRow & { readonly via: 'request' | 'batch' },
  steps: WriteSteps
): Promise<RowKey> {
  const key = await steps.insert(entity, row)
  await writeOthers(prepared, steps)
  await runHooks({ entity, operation: 'create', key, via }, steps)
  return key
}

async function newRow(parsed: ParsedInsert, steps: WriteSteps): Promise<NewRow> {
  const { entity } = parsed.resource
  const scope = writeScope(parsed.writer)
  const values = givenValues(parsed)
  const given = parsed.children.map(({ children: one, rows }) => ({
    children: one,
    rows: rows.length === 0 ? [] : rowsBroughtAlong(one, rows, { writer: parsed.writer, steps })
  }))
  const prepared = await prepare({ ...parsed, children: given }, values, steps)
  const children = entity.children.flatMap((one) => {
    const presets = prepared.children?.[one.name] && presetsOf(one.columns, NOTHING_NAMED, parsed)
    requirePartOfRoot(entity, one, prepared.children?.[one.name])
    const made = prepared.children?.[one.name]?.map(
      (row) => new Map([...assignments(row, one.columns), ...(presets ?? [])])
    )
    const rows = made ?? given.find(({ children }) => children === one)?.rows ?? []
    return rows.length === 0 ? [] : [{ children: one, rows }]
  })
  const presets = presetsOf(entity.columns, NOTHING_NAMED, parsed)
  const all = new Map([...values, ...assignments(prepared.values ?? {}, entity.columns), ...presets])
  return { row: { scope, values: all, children }, prepared }
}

/** The children of the body, with the presets and, for rows of a resource, the owner that the caller's token gives them. */
function rowsBroughtAlong(
  children: Children,
  rows: readonly ReadonlyMap<Column, Value>[],
  { writer, steps }: Pick<ParsedInsert, 'writer'> & { readonly steps: WriteSteps }
): ReadonlyMap<Column, Value>[] {
  const { resource, name } = children
  const { catalogue } = steps.deps.planning
  const { claimed, scope } = resource === undefined ? OF_ROOT : broughtAlong(catalogue.entity(resource), writer)
  return rows.map((row, index) => {
    const whole = withTokenValues(row, { columns: children.columns, claimed, at: `/${name}/${index}` }, writer)
    if (scope !== undefined && placeInScope(scope.after, (one) => whole.get(one)) === 'outside') throw outsideScope()
    return whole
  })
}

const OF_ROOT: BroughtAlong = { claimed: undefined, scope: undefined }

const NOTHING_NAMED: NamedRow = { named: new Map(), at: '' }

/** The values of the root together with the owner and the presets that the caller's token gives it. */
function givenValues({
  resource: { entity },
  values,
  claimed,
  writer
}: Pick<ParsedCreate, 'resource' | 'values' | 'claimed' | 'writer'>): ReadonlyMap<Column, Value> {
  return withTokenValues(values, { columns: entity.columns, claimed, at: '' }, writer)
}

/** The same of any new row. A preset counts more than a claim. `at` is the JSON pointer of the row in the body. */
function withTokenValues(
  values: ReadonlyMap<Column, Value>,
  {
    columns,
    claimed,
    at
  }: Pick<ParsedCreate, 'claimed'> & { readonly columns: readonly Column[]; readonly at: string },
  writer: ParsedCreate['writer']
): ReadonlyMap<Column, Value> {
  const presets = presetsOf(columns, { named: values, at }, { writer })
  if (claimed === undefined) return presets.size === 0 ? values : new Map([...values, ...presets])
  const owner = claimedOwner(claimed, writer.caller, { named: values.get(claimed.column), at })
  return new Map([...values, [claimed.column, owner], ...presets])
}

function presetsOf(
  columns: readonly Column[],
  named: NamedRow,
  { writer: { caller, ownership } }: Pick<ParsedCreate, 'writer'>
): ReadonlyMap<Column, Value> {
  return presetValues(columns, named, () => tokenCaller(caller, ownership))
}

async function prepare(
  { resource, children, guess }: Pick<ParsedInsert, 'resource' | 'children' | 'guess'>,
  values: ReadonlyMap<Column, Value>,
  steps: WriteSteps
): Promise<Preparation> {
  const { creation, children: collections } = resource.entity
  if (creation.prepare === undefined) return {}
  const rowsOf = (name: string) => children.find((one) => one.children.name === name)?.rows ?? []
  const input = namedValues(values)
  guess.begin(input)
  const prepared = await creation.prepare({
    ...steps.tools,
    input,
    children: Object.fromEntries(collections.map(({ name }) => [name, rowsOf(name).map((row) => namedValues(row))]))
  })
  if ('rejection' in prepared) {
    guess.wrong()
    throw rejectionError(prepared)
  }
  return prepared
}

export async function update(
  deps: WriteDeps,
  context: CallContext,
  request: UpdateRequest__Output
): Promise<UpdateResponse> {
  const parsed = parseUpdate(request, { planning: deps.planning, caller: context.caller })
  const { resource, rowKey: key } = parsed
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: request.mergePatch ? 'PATCH' : 'PUT',
    path: pathOf(resource, key),
    work: (steps) => updateRow(parsed, steps)
  })
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

/** Only a rule or a hook of the entity, or a patch of JSON, needs the row before it is written. */
async function updateRow(parsed: ParsedUpdate, steps: WriteSteps): Promise<WriteResponse> {
  const { resource, defaulted, merged, ignored } = parsed
  const root = { ...writtenRoot(parsed, { name: 'update', required: [] }, parsed.values), defaulted }
  const { updateRule } = resource.entity
  const valuesOver = (row: LockedRow): ParsedUpdate['values'] =>
    merged.size === 0 ? parsed.values : new Map([...parsed.values, ...mergedValues(merged, namedRow(row))])
  if (updateRule === undefined) {
    const isRead = wantsRowBefore(resource.entity, 'update') || merged.size > 0
    const locked = isRead ? await lockRoot(root, [], steps) : undefined
    const values = locked === undefined ? parsed.values : valuesOver(locked)
    const write = { operation: 'update', before: locked && namedRow(locked), ignored } as const
    return await changeRoot(root, { values, change: {}, write }, steps)
  }
  const check = async (row: LockedRow): Promise<void> => {
    await requireExpected(root, row, steps)
    valuesOver(row)
  }
  const rule = async (row: LockedRow): Promise<Change | Rejection> =>
    updateRule({
      ...steps.tools,
      root: namedRow(row),
      children: {},
      child: undefined,
      input: updatedMembers(parsed, row)
    })
  const { locked, outcome } = await judgeRoot(root, { children: [], check, rule }, steps)
  const write = { operation: 'update', before: namedRow(locked), ignored } as const
  return await changeRoot(root, { values: valuesOver(locked), change: outcome, write }, steps)
}

/**
 * The members that updates set, as the row will have them. Those that a PATCH leaves out, and those that the caller may not
 * read, keep their stored values; those that take the default of the database have none yet.
 */
function updatedMembers({ resource, values, defaulted }: ParsedUpdate, locked: LockedRow): NamedValues {
  const columns = resource.entity.columns.filter((column) => isChangeable(column) && !defaulted.includes(column))
  const stored = Object.fromEntries(columns.map(({ name }) => [name, locked.values.get(name) ?? null]))
  return { ...stored, ...namedValues(values) }
}

export async function remove(
  deps: WriteDeps,
  context: CallContext,
  request: DeleteRequest__Output
): Promise<DeleteResponse> {
  const { caller, requestId } = context
  const parsed = parseDelete(request, { planning: deps.planning, caller })
  const { resource, writer, rowKey: key, expected } = parsed
  const { deletion } = resource.entity
  const readsChildren = deletion.rule !== undefined && lockedChildren(resource.entity).length > 0
  const deleting = deps.shares.transaction(context, readsChildren ? 'reads-children' : 1, async (unit) => {
    const steps = new WriteSteps(unit, deps, { caller: writer.caller, requestId })
    const before = await deleteRow(parsed, steps)
    await steps.audit(resource.entity, key, 'delete')
    await runHooks({ entity: resource.entity, operation: 'delete', key, before, via: 'request' }, steps)
  })
  await guardConflicts({ guarded: expected !== 'unconditional', resource }, deleting)
  return {}
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
  await writeOthers(outcome, steps)
  return namedRow(locked)
}

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
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

async function runAction(parsed: ParsedAct & { readonly guess: Guess }, steps: WriteSteps): Promise<WriteResponse> {
  const { resource, action, values, ignored } = parsed
  const root = writtenRoot(parsed, action)
  if (action.change !== undefined) return runOnRow(parsed, { root, change: action.change }, steps)
  const locked = wantsRowBefore(resource.entity, action.name) ? await lockRoot(root, [], steps) : undefined
  const { caller, now, newCode } = steps.tools
  const change = action.effect({ input: namedValues(values), caller, now, newCode })
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

function namedChildren({ children }: LockedRow): Readonly<Record<string, readonly NamedValues[]>> {
  return Object.fromEntries(Array.from(children, ([name, rows]) => [name, rows.map(namedRow)]))
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
