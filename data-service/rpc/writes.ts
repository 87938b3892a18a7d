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
import { type Change, type NamedValues, reject } from '../entity/action.js'
import type { CallContext } from '../entity/caller.js'
import type { Preparation } from '../entity/creation.js'
import type { Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/field.js'
import { claimedOwner, writableRows } from '../plan/authorize.js'
import { assignments, namedValues } from '../plan/body.js'
import type { Resource } from '../plan/catalogue.js'
import type { LockedRow, StoredRow } from '../plan/stores.js'
import {
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
import { planDelete, requiredConditions, wrongState } from '../plan/plan-writes.js'
import { idempotentWrite } from './idempotent-write.js'
import { notFound } from './reads.js'
import {
  applyChange,
  guardConflicts,
  type GuardedRow,
  guardedRow,
  namedRow,
  rejectionError,
  stale,
  WriteSteps,
  type WriteDeps
} from './write-steps.js'

export async function create(
  deps: WriteDeps,
  context: CallContext,
  request: CreateRequest__Output
): Promise<CreateResponse> {
  const { planning, idempotency } = deps
  const parsed = parseCreate(request, { planning, caller: context.caller }, idempotency.required)
  const { resource, ignored } = parsed
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: 'POST',
    path: `/${resource.entity.name}`,
    work: async (steps) => {
      const id = await insert(parsed, steps)
      const location = `${request.linkBase}/${resource.entity.name}/${encodeURIComponent(String(id))}`
      return { ...(await steps.answer(resource, id, ignored)), location }
    }
  })
  const { json, rowVersion, id, replayed, location } = answer
  return { record: { json, rowVersion }, id, ignoredMembers: [...answer.ignored], replayed, location }
}

/** Creates the rows of a batch one after the other. The first that cannot be created undoes all of them. */
export async function createBatch(
  deps: WriteDeps,
  context: CallContext,
  request: CreateBatchRequest__Output
): Promise<CreateBatchResponse> {
  const { planning, idempotency } = deps
  const parsed = parseBatch(request, { planning, caller: context.caller }, idempotency.required)
  const { resource, writer, ignored } = parsed
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: 'POST',
    path: `/${resource.entity.name}/batch`,
    work: async (steps) => {
      const ids: Operand[] = []
      for (const [index, row] of parsed.rows.entries()) {
        ids.push(await insert({ ...row, resource, writer }, steps).catch((error: unknown) => throwAt(index, error)))
      }
      return steps.answerAll(resource, ids, ignored)
    }
  })
  // JSON is the one text in which ids of every type are kept with the response.
  const ids = JSON.parse(answer.id) as string[]
  return { json: answer.json, ids, ignoredMembers: [...answer.ignored], replayed: answer.replayed }
}

/** Throws the error of one row of a batch, with the row's place in the body. */
function throwAt(index: number, error: unknown): never {
  if (!(error instanceof DomainError) || error.code === 'conflict') throw error
  const { code, message, cause, violations } = error
  const moved = violations.map((one) =>
    one.place.in === 'pointer' ? { ...one, place: { in: 'pointer', name: `/${index}${one.place.name}` } as const } : one
  )
  throw new DomainError(code, `Row ${index}, counted from 0: ${message}`, { violations: moved, cause })
}

async function insert(
  parsed: ParsedRow & Pick<ParsedCreate, 'resource' | 'writer'>,
  steps: WriteSteps
): Promise<Operand> {
  const { entity } = parsed.resource
  const values = ownedValues(parsed)
  const prepared = await prepare(parsed, values, steps)
  const children = entity.children.flatMap((one) => {
    const made = prepared.children?.[one.name]?.map((row) => assignments(row, one.columns))
    const rows = made ?? parsed.children.find(({ children }) => children === one)?.rows ?? []
    return rows.length === 0 ? [] : [{ children: one, rows }]
  })
  const all = new Map([...values, ...assignments(prepared.values ?? {}, entity.columns)])
  const id = await steps.insert(entity, { values: all, children })
  await steps.insertNamed(prepared.create ?? [])
  return id
}

/** The values together with the owner that the caller's claim gives the row. */
function ownedValues({
  values,
  claimed,
  writer
}: Pick<ParsedCreate, 'values' | 'claimed' | 'writer'>): ReadonlyMap<Column, Value> {
  if (claimed === undefined) return values
  return new Map([...values, [claimed, claimedOwner(claimed, writer.caller, values.get(claimed))]])
}

async function prepare(
  { resource, children }: Pick<ParsedCreate, 'resource' | 'children'>,
  values: ReadonlyMap<Column, Value>,
  steps: WriteSteps
): Promise<Preparation> {
  const { creation, children: collections } = resource.entity
  if (creation.prepare === undefined) return {}
  const rowsOf = (name: string) => children.find((one) => one.children.name === name)?.rows ?? []
  const prepared = await creation.prepare({
    ...steps.tools,
    input: namedValues(values),
    children: Object.fromEntries(collections.map(({ name }) => [name, rowsOf(name).map((row) => namedValues(row))]))
  })
  if ('rejection' in prepared) throw rejectionError(prepared)
  return prepared
}

export async function update(
  deps: WriteDeps,
  context: CallContext,
  request: UpdateRequest__Output
): Promise<UpdateResponse> {
  const parsed = parseUpdate(request, { planning: deps.planning, caller: context.caller })
  const { resource, id, values, ignored } = parsed
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: 'PUT',
    path: `/${resource.entity.name}/${String(id)}`,
    work: async (steps) => {
      const row = await guardedRow(parsed, [], steps)
      const change = await applyUpdateRule(parsed, row, steps)
      await applyChange(parsed, { change, values, required: [], row }, steps)
      await steps.audit(resource.entity, id, 'update')
      return steps.answer(resource, id, ignored)
    }
  })
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

/** Applies the entity's rule for updates. Throws its rejection. */
async function applyUpdateRule(
  { resource, values }: ParsedUpdate,
  { locked }: GuardedRow,
  steps: WriteSteps
): Promise<Change> {
  const { updateRule } = resource.entity
  if (updateRule === undefined) return {}
  const outcome = await updateRule({
    ...steps.tools,
    root: namedRow(locked),
    children: {},
    child: undefined,
    input: { ...withheldMembers(resource, locked), ...namedValues(values) }
  })
  if ('rejection' in outcome) throw rejectionError(outcome)
  return outcome
}

/** The stored values of the members that the caller may not read: a PUT keeps them, and the rule sees them as its input. */
function withheldMembers({ entity, withheld }: Resource, { values }: LockedRow): NamedValues {
  const kept = entity.columns.filter(({ name, field }) => withheld.has(name) && field.writability === 'always')
  return Object.fromEntries(kept.map(({ name }) => [name, values.get(name) ?? null]))
}

export async function remove(
  deps: WriteDeps,
  { caller, signal, requestId }: CallContext,
  request: DeleteRequest__Output
): Promise<DeleteResponse> {
  const parsed = parseDelete(request, { planning: deps.planning, caller })
  const { resource, writer, id, expected } = parsed
  const deleting = deps.store.transaction(signal, async (unit) => {
    const steps = new WriteSteps(unit, deps, { writer, requestId })
    await deleteRow(parsed, steps)
    await steps.audit(resource.entity, id, 'delete')
  })
  await guardConflicts(expected !== 'unconditional', deleting)
  return {}
}

async function deleteRow({ resource, writer, id, expected }: ParsedDelete, steps: WriteSteps): Promise<void> {
  const { entity } = resource
  if (expected === 'unconditional') {
    const scope = writableRows(resource, writer)
    if (!(await steps.unit.delete(planDelete(entity, { id, scope, expected })))) throw notFound()
    return
  }
  const { locked, scope } = await guardedRow({ resource, writer, id, expected }, [], steps)
  const deleted = await steps.unit.delete(planDelete(entity, { id, scope, expected: [locked.version] }))
  if (!deleted) throw stale('lost race: the DELETE matched no row')
}

export async function act(deps: WriteDeps, context: CallContext, request: ActRequest__Output): Promise<ActResponse> {
  const parsed = parseAct(request, { planning: deps.planning, caller: context.caller })
  const { resource, id, action, ignored } = parsed
  const { loads, guardedChild } = action
  const children = new Set([...loads, ...(guardedChild === undefined ? [] : [guardedChild.children])])
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: 'PUT',
    path: `/${resource.entity.name}/${String(id)}/${action.name}`,
    work: async (steps) => {
      const row = await guardedRow(parsed, [...children], steps)
      const child = guardedChildOf(parsed, row.locked)
      const change = await runAction(parsed, { locked: row.locked, child }, steps)
      const required = requiredConditions(action)
      await applyChange(parsed, { change, values: new Map(), required, row }, steps)
      await steps.audit(resource.entity, id, action.name)
      return steps.answer(resource, id, ignored)
    }
  })
  const { json, rowVersion, replayed } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed }
}

/** The child that the action depends on. Throws if it has another version than the body names. */
function guardedChildOf({ action, values, childVersion }: ParsedAct, { children }: LockedRow): StoredRow | undefined {
  const { guardedChild } = action
  if (guardedChild === undefined) return undefined
  const { idMember, children: collection } = guardedChild
  const id = namedValues(values)[idMember]
  const child = children.get(collection.name)?.find((one) => one.values.get('id') === id)
  if (child === undefined)
    throw rejectionError(reject.input(`/${idMember}`, `${idMember} is none of ${collection.name}.`))
  if (child.version === undefined || childVersion?.equals(child.version) !== true) {
    throw stale('stale: the child has another version')
  }
  return child
}

/** Runs the action on the locked row. Throws its rejection. */
async function runAction(
  { resource, action, values }: ParsedAct,
  { locked, child }: { readonly locked: LockedRow; readonly child: StoredRow | undefined },
  steps: WriteSteps
): Promise<Change> {
  const wrong = wrongState(action, { resource: resource.entity.name, values: locked.values })
  if (wrong !== undefined) throw rejectionError(reject.state(wrong))
  const outcome = await action.change({
    ...steps.tools,
    root: namedRow(locked),
    children: Object.fromEntries(Array.from(locked.children, ([name, rows]) => [name, rows.map(namedRow)])),
    child: child && namedRow(child),
    input: namedValues(values)
  })
  if ('rejection' in outcome) throw rejectionError(outcome)
  return outcome
}
