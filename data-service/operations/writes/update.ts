import { DomainError } from '../../../shared/errors.js'
import type { UpdateRequest__Output } from '../../../shared/gen/entity/v1/UpdateRequest.js'
import type { UpdateResponse } from '../../../shared/gen/entity/v1/UpdateResponse.js'
import type { Change, NamedValues, Rejection } from '../../entity/action.js'
import type { CallContext, UnaryHandler } from '../../entity/caller.js'
import { keyOfValues } from '../../entity/key.js'
import { requireUpdateBy, writeScope } from '../../plan/authorize.js'
import { isChangeable } from '../../plan/model/catalogue.js'
import { valueIs } from '../../plan/model/plans.js'
import type { LockedRow, StoredRow } from '../../plan/model/stores.js'
import { namedValues } from '../../plan/parsing/body.js'
import { planLookBy } from '../../plan/plan-writes.js'
import { mergedValues, type ParsedUpdate, parseUpdate } from '../../plan/write-requests.js'
import { noSuchRow } from '../../plan/row-scopes.js'
import { withOverrides } from '../reads.js'
import { wantsRowBefore } from './effects.js'
import { changeRoot, judgeRoot, lockRoot, requireExpected, writtenRoot } from './guarded-root.js'
import { namedRow } from './rule-tools.js'
import { idempotentWrite, pathBy, pathOf } from './write.js'
import type { WriteDeps, WriteResponse, WriteSteps } from './write-steps.js'

/** The update, or its replacement in an entity file, which gets no request that names its row by a property. */
export function updateHandler(deps: WriteDeps): UnaryHandler<UpdateRequest__Output, UpdateResponse> {
  const handler = withOverrides(deps, update, (overrides) => overrides.update)
  return async (context, request) => {
    if (request.property !== undefined) requireUpdateBy(deps.planning.catalogue.keyedEntity(request.resource))
    return await handler(context, request)
  }
}

export async function update(
  deps: WriteDeps,
  context: CallContext,
  request: UpdateRequest__Output
): Promise<UpdateResponse> {
  const parsed = parseUpdate(request, { planning: deps.planning, caller: context.caller })
  const { resource, rowKey: key, by } = parsed
  const answer = await idempotentWrite({ deps, context }, parsed, {
    method: request.mergePatch ? 'PATCH' : 'PUT',
    path: by === undefined ? pathOf(resource, key) : pathBy(resource, by),
    work: async (steps) => updateRow(await rowToUpdate(parsed, steps), steps)
  })
  const { json, rowVersion, replayed, rolledBack } = answer
  return { record: { json, rowVersion }, ignoredMembers: [...answer.ignored], replayed, rolledBack }
}

interface RowToUpdate {
  /** With the key of the row. */
  readonly parsed: RowUpdate
  /** Throws `id.mismatch`. A rule may keep the row from the caller, and comes before. Only of a row that a property names. */
  readonly checkBody?: () => void
}

/**
 * The key of a row that a property names, as it is now. Nothing keeps the row so: the UPDATE compares the version that the
 * caller sent, and the value too.
 */
async function rowToUpdate(parsed: ParsedUpdate, { unit }: WriteSteps): Promise<RowToUpdate> {
  const { by, resource, writer } = parsed
  if (by === undefined) return { parsed }
  const { entity } = resource
  const where = valueIs(by.column, by.value)
  const row = await unit.look(planLookBy({ entity, where, scope: writeScope(writer).before }))
  if (row === undefined) throw by.absent ?? noSuchRow()
  const rowKey = keyOfValues(entity.key.map(({ name }) => row.values.get(name)))
  if (rowKey === undefined) throw new TypeError(`A row of ${entity.name} has no key`)
  return {
    parsed: { ...parsed, rowKey },
    checkBody: () => {
      by.checkBody(rowKey, row.values.get(by.column.name))
    }
  }
}

/** What of a parsed update its transaction needs. */
type RowUpdate = Omit<ParsedUpdate, 'key' | 'canonicalBody' | 'dryRun'>

/** Only a rule, a hook or the history of the entity, or a patch of JSON, needs the row before it is written. */
export async function updateRow({ parsed, checkBody }: RowToUpdate, steps: WriteSteps): Promise<WriteResponse> {
  const { resource, defaulted, merged, ignored, by } = parsed
  const written = writtenRoot(parsed, { name: 'update', required: [] }, parsed.values)
  const having = by === undefined ? [] : [valueIs(by.column, by.value)]
  const root = { ...written, defaulted, having }
  const { updateRule } = resource.entity
  // A megabyte takes a third of a second to merge, and the row is the same under its lock.
  let over = merged.size === 0 ? parsed.values : undefined
  const valuesOver = async (row: StoredRow): Promise<ParsedUpdate['values']> =>
    (over ??= new Map([...parsed.values, ...(await mergedValues(merged, namedRow(row), () => steps.turn()))]))
  if (updateRule === undefined) {
    checkBody?.()
    const isRead = wantsRowBefore(resource.entity, 'update') || merged.size > 0
    const locked = isRead ? await lockRoot(root, steps) : undefined
    const values = locked === undefined ? parsed.values : await valuesOver(locked)
    const write = { operation: 'update', before: locked && namedRow(locked), ignored } as const
    return await changeRoot(root, { values, change: {}, write }, steps)
  }
  /** Without what is merged where the check has found that it breaks a schema: the rule may hide such a row all the same. */
  const valuesIfMet = async (row: LockedRow): Promise<ParsedUpdate['values']> => {
    try {
      return await valuesOver(row)
    } catch (error) {
      if (error instanceof DomainError) return parsed.values
      throw error
    }
  }
  const check = async (row: LockedRow): Promise<void> => {
    checkBody?.()
    await requireExpected(root, row, steps)
    await valuesOver(row)
  }
  const rule = async (row: LockedRow): Promise<Change | Rejection> =>
    updateRule({
      ...steps.tools,
      root: namedRow(row),
      children: {},
      child: undefined,
      input: updatedMembers({ resource, defaulted, values: await valuesIfMet(row) }, row)
    })
  const { locked, outcome } = await judgeRoot(root, { children: [], check, rule }, steps)
  const write = { operation: 'update', before: namedRow(locked), ignored } as const
  return await changeRoot(root, { values: await valuesOver(locked), change: outcome, write }, steps)
}

/**
 * The members that updates set, as the row will have them. Those that a PATCH leaves out, and those that the caller may not
 * read, keep their stored values; those that take the default of the database have none yet.
 */
function updatedMembers(
  { resource, values, defaulted }: Pick<ParsedUpdate, 'resource' | 'values' | 'defaulted'>,
  locked: LockedRow
): NamedValues {
  const columns = resource.entity.columns.filter((column) => isChangeable(column) && !defaulted.includes(column))
  const stored = Object.fromEntries(columns.map(({ name }) => [name, locked.values.get(name) ?? null]))
  return { ...stored, ...namedValues(values) }
}
