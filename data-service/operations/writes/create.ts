import { DomainError } from '../../../shared/errors.js'
import type { CreateBatchRequest__Output } from '../../../shared/gen/entity/v1/CreateBatchRequest.js'
import type { CreateBatchResponse } from '../../../shared/gen/entity/v1/CreateBatchResponse.js'
import type { CreateRequest__Output } from '../../../shared/gen/entity/v1/CreateRequest.js'
import type { CreateResponse } from '../../../shared/gen/entity/v1/CreateResponse.js'
import type { CallContext } from '../../entity/caller.js'
import type { Preparation } from '../../entity/creates-and-deletes.js'
import type { Children, Column, KeyedEntity } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { checkAnswered } from '../../entity/fields/definition-words.js'
import type { RowKey } from '../../entity/key.js'
import { PREPARATION } from '../../entity/known-words.js'
import {
  type BroughtAlong,
  broughtAlong,
  claimedOwner,
  everyRowOfRules,
  outsideScope,
  writeScope
} from '../../plan/authorize.js'
import type { InsertPlan, WriteScope } from '../../plan/model/plans.js'
import type { KeyClaim } from '../../plan/model/stores.js'
import { assignments, namedValues } from '../../plan/parsing/body.js'
import { type NamedRow, presetValues } from '../../plan/presets.js'
import { tokenCaller } from '../../plan/row-scopes.js'
import { placeInScope } from '../../plan/scope-of-values.js'
import { parseBatch, parseCreate, type ParsedCreate, type ParsedRow } from '../../plan/write-requests.js'
import { isReadAfter } from './changes.js'
import { changesOthers, hasHooks, requirePartOfRoot, runHooks, writeOthers } from './effects.js'
import type { Guess } from './guess-counts.js'
import { rejectionError, throwAt } from './rejections.js'
import { idempotentWrite, pathOf } from './write.js'
import { rowsOf } from './write-shares.js'
import type { WriteDeps, WriteResponse, WriteSteps } from './write-steps.js'

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
  const { json, rowVersion, id, replayed, location, rolledBack } = answer
  const ignoredMembers = [...answer.ignored]
  return { record: { json, rowVersion }, id, ignoredMembers, replayed, location, rolledBack }
}

export function guesserOf({ resource: { entity }, writer: { caller } }: Pick<ParsedCreate, 'resource' | 'writer'>) {
  return { caller, resource: entity.name, route: 'create', bound: entity.creation.guesses }
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
      via: 'batch',
      size: rowsOf(parsed.rows),
      work: async (steps) => {
        const keys: RowKey[] = []
        for (const [index, row] of parsed.rows.entries()) {
          const inserted = insert({ ...row, resource, writer, guess }, steps)
          keys.push(await inserted.catch((error: unknown) => throwAt(index, error)))
        }
        return steps.answerAll(resource, keys, { scope: writeScope(writer), ignored })
      }
    })
  )
  // JSON is the one text in which ids of every type are kept with the response.
  const ids = JSON.parse(answer.id) as string[]
  const { json, replayed, rolledBack } = answer
  return { json, ids, ignoredMembers: [...answer.ignored], replayed, rolledBack }
}

export type ParsedInsert = ParsedRow & Pick<ParsedCreate, 'resource' | 'writer'> & { readonly guess: Guess }

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
  const { resource, ignored } = parsed
  const { entity } = resource
  if (!isPlain(entity, parsed)) return undefined
  try {
    const row = { scope: writeScope(parsed.writer), values: givenValues(parsed), children: [] }
    return await steps.createAtOnce(resource, { claim, row, ignored })
  } catch (error) {
    // These rejections come after the claim of the key: the row has another owner, or it names a value that a preset gives.
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
    const key = await insertPrepared(entity, { row, prepared }, steps)
    return { key, answer: await steps.answer(resource, key, { scope, ignored }) }
  }
  const { key, changes } = await steps.insertRow(entity, row)
  return { key, answer: await steps.auditAndAnswer(resource, key, { action: 'create', changes, scope, ignored }) }
}

/** Creates a row of several. Reading it within the scope is left to the caller. */
export async function insert(parsed: ParsedInsert, steps: WriteSteps): Promise<RowKey> {
  return await insertPrepared(parsed.resource.entity, await newRow(parsed, steps), steps)
}

/** Plans rows that nothing has to come between. undefined for others. Throws what a create throws of a row that is wrong by itself. */
export function planTogether(rows: readonly ParsedInsert[], steps: WriteSteps): readonly InsertPlan[] | undefined {
  const plans: InsertPlan[] = []
  for (const parsed of rows) {
    const { entity } = parsed.resource
    if (!isPlain(entity, parsed) || isReadAfter(entity)) return undefined
    const values = givenValues(parsed)
    plans.push(steps.plannedInsert(entity, { scope: writeScope(parsed.writer), values, children: [] }))
  }
  return plans
}

/** Whether a create sets but the values of the request and the token. */
function isPlain(entity: KeyedEntity, { children }: ParsedRow): boolean {
  return entity.creation.prepare === undefined && children.length === 0 && !hasHooks(entity, 'create')
}

/** A row that a request asks for, with what the entity file makes of it. */
interface NewRow {
  readonly row: Parameters<WriteSteps['insert']>[1]
  readonly prepared: Preparation
}

async function insertPrepared(entity: KeyedEntity, { row, prepared }: NewRow, steps: WriteSteps): Promise<RowKey> {
  const key = await steps.insert(entity, row)
  await writeOthers(prepared, steps)
  await runHooks({ entity, operation: 'create', key, via: steps.via }, steps)
  return key
}

async function newRow(parsed: ParsedInsert, steps: WriteSteps): Promise<NewRow> {
  const { entity } = parsed.resource
  const scope = writeScope(parsed.writer)
  const values = givenValues(parsed)
  const given = parsed.children.map(({ children: one, rows }) => ({
    children: one,
    ...(rows.length === 0 ? NO_ROWS : rowsBroughtAlong(one, rows, { writer: parsed.writer, steps }))
  }))
  const prepared = await prepare({ ...parsed, children: given }, values, steps)
  const children = entity.children.flatMap((one) => {
    const presets = prepared.children?.[one.name] && presetsOf(one.columns, NO_NAMED_ROWS, parsed)
    const made = prepared.children?.[one.name]?.map(
      (row) => new Map([...assignments(row, one.columns), ...(presets ?? [])])
    )
    if (made !== undefined && made.length > 0) requirePartOfRoot(entity, one, 'create')
    // Rows that `prepare` makes of those of the body are bound as these are.
    const { rows, scope } = given.find(({ children }) => children === one) ?? NO_ROWS
    return (made ?? rows).length === 0 ? [] : [{ children: one, rows: made ?? rows, scope }]
  })
  const presets = presetsOf(entity.columns, NO_NAMED_ROWS, parsed)
  const all = new Map([...values, ...assignments(prepared.values ?? {}, entity.columns), ...presets])
  return { row: { scope, values: all, children }, prepared }
}

/** The rows of one collection, and where they may be. */
interface GivenRows {
  readonly rows: readonly ReadonlyMap<Column, Value>[]
  readonly scope: WriteScope
}

const NO_ROWS: GivenRows = { rows: [], scope: everyRowOfRules }

/** The children of the body, with the presets and, for rows of a resource, the owner that the caller's token gives them. */
function rowsBroughtAlong(
  children: Children,
  rows: readonly ReadonlyMap<Column, Value>[],
  { writer, steps }: Pick<ParsedInsert, 'writer'> & { readonly steps: WriteSteps }
): GivenRows {
  const { resource, name } = children
  const { catalogue } = steps.deps.planning
  const { claimed, scope } = resource === undefined ? OF_ROOT : broughtAlong(catalogue.keyedEntity(resource), writer)
  const whole = rows.map((row, index) => {
    const values = withTokenValues(row, { columns: children.columns, claimed, at: `/${name}/${index}` }, writer)
    if (placeInScope(scope.after, (one) => values.get(one)) === 'outside') throw outsideScope()
    return values
  })
  return { rows: whole, scope }
}

/** The create of the root decides it. */
const OF_ROOT: BroughtAlong = { claimed: undefined, scope: everyRowOfRules }

const NO_NAMED_ROWS: NamedRow = { named: new Map(), at: '' }

/** The values of the root together with the owner and the presets that the caller's token gives it. */
export function givenValues({
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
  checkAnswered(`creates.prepare of ${resource.entity.name}`, prepared, PREPARATION)
  return prepared
}
