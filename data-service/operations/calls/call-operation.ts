import { DomainError } from '../../../shared/errors.js'
import type { CallRequest__Output } from '../../../shared/gen/entity/v1/CallRequest.js'
import type { CallResponse } from '../../../shared/gen/entity/v1/CallResponse.js'
import type { NamedValues, OperationRejection } from '../../entity/action.js'
import type { CallContext, UnaryHandler } from '../../entity/caller.js'
import type { Entity } from '../../entity/entity.js'
import type { Field, Operand, Value } from '../../entity/fields/field.js'
import type { Operation, SqlValues } from '../../entity/define-operation.js'
import { callerWithToken, parseCall } from '../../plan/call-requests.js'
import {
  everyRow,
  type FindableRows,
  foundRow,
  planCall,
  planFound,
  planFoundRow,
  planStatement,
  rowsOfCaller,
  type UntypedRowQuery
} from '../../plan/plan-operations.js'
import type { CallPlan, GetPlan, PagePlan, StatementPlan } from '../../plan/model/plans.js'
import { callerInRules } from '../../plan/row-scopes.js'
import type { LoadedRow, PageResult } from '../../plan/model/stores.js'
import { raceAbort } from '../../../shared/transport/cancellation.js'
import { type AnswerEncoder, answerEncoder } from './answer-json.js'
import { UNKNOWN_SIZE } from '../fair-shares.js'
import { writeOthers } from '../writes/effects.js'
import { idempotentWrite } from '../writes/write.js'
import type { ReadDeps } from '../reads.js'
import { rejectionError } from '../writes/rejections.js'
import type { WriteDeps, WriteResponse, WriteSteps } from '../writes/write-steps.js'
import type { AccountCalls, OwnAnswer } from './account-calls.js'
import { ACCOUNT_OPERATIONS } from './account-operations.js'

interface OperationDeps {
  readonly readDeps: ReadDeps
  readonly writeDeps: WriteDeps
  readonly operations: readonly Operation[]
  /** The handlers of those of the service itself. */
  readonly accounts?: AccountCalls | undefined
}

/** The rpc Call: the operations that an application has beside the uniform ones. */
export function callOperation({
  readDeps,
  writeDeps,
  operations,
  accounts
}: OperationDeps): UnaryHandler<CallRequest__Output, CallResponse> {
  const byName = new Map(operations.map((operation) => [operation.name, operation]))
  // By the operation itself: one of the application may have any name.
  const ownCalls = (operation: Operation): AccountCalls | undefined =>
    ACCOUNT_OPERATIONS.includes(operation) ? accounts : undefined
  const encoders = new Map(
    operations.map(({ name, answer }) => [name, answer === undefined ? nothing : answerEncoder(answer)])
  )
  return async (context, request) => {
    const { caller } = context
    const keyRequired = writeDeps.idempotency.required
    const parsed = parseCall(request, { operations: byName, caller, keyRequired })
    const { operation, path, query, body } = parsed
    const encode = encoders.get(operation.name) ?? nothing
    const { planning } = readDeps
    const common = { ...whatIsKnown(context), caller: callerInRules(caller, planning.ownership), path, query }
    const how = { encode, signal: context.signal }
    const own = { context, path, query, body: body as NamedValues } // those of the service itself take objects alone
    if (operation.method === 'GET') {
      const now = new Date(writeDeps.now()).toISOString()
      const read = ownCalls(operation)?.reads.get(operation.name)
      const tools = readTools(context, { readDeps, store: storeOf(readDeps, context.signal), operation })
      const { json, rowVersion } = await readDeps.shares.admit(context, UNKNOWN_SIZE, async () =>
        read === undefined
          ? { json: await answerOf(operation, { ...common, ...tools, now }, how), rowVersion: NO_VERSION }
          : ownAnswer(await read(own), encode)
      )
      return { json, rowVersion, status: operation.status, ignoredMembers: [...parsed.ignored], replayed: false }
    }
    const writer = { caller: callerWithToken(caller) }
    const write = { ...parsed, writer, resource: undefined }
    const answered = await idempotentWrite({ deps: writeDeps, context }, write, {
      method: operation.method,
      path: parsed.concretePath,
      // Without a precondition a conflict is 409.
      guarded: parsed.expected !== undefined,
      work: async (steps) => {
        const others = { id: '', ignored: parsed.ignored, location: '' }
        const change = ownCalls(operation)?.writes.get(operation.name)
        if (change !== undefined) {
          return { ...ownAnswer(await change({ ...own, steps, expected: parsed.expected }), encode), ...others }
        }
        const tools = { ...readTools(context, { readDeps, store: steps.unit, operation }), ...writeTools(steps) }
        return {
          json: await answerOf(operation, { ...common, ...tools, body }, how),
          rowVersion: NO_VERSION,
          ...others
        }
      }
    })
    const { json, rowVersion, ignored, replayed, rolledBack } = answered
    return { json, rowVersion, status: operation.status, ignoredMembers: [...ignored], replayed, rolledBack }
  }
}

const NO_VERSION: Buffer = Buffer.alloc(0)

function ownAnswer(
  { answer, kept, version }: OwnAnswer,
  encode: AnswerEncoder
): Pick<WriteResponse, 'json' | 'kept' | 'rowVersion'> {
  const bytes = (told: object): Buffer => Buffer.from(encode(told))
  const json = answer === undefined ? NO_VERSION : bytes(answer)
  return { json, rowVersion: version ?? NO_VERSION, ...(kept === undefined ? {} : { kept: bytes(kept) }) }
}

const nothing: AnswerEncoder = () => ''

/**
 * Runs the handler and encodes its answer. A handler that does not look at the signal is left alone when the call ends;
 * its transaction is rolled back, and takes no further statement.
 */
async function answerOf(
  { handle }: Operation,
  call: object,
  { encode, signal }: { readonly encode: AnswerEncoder; readonly signal: AbortSignal }
): Promise<Buffer> {
  const running = async (): Promise<unknown> => handle(call)
  const answer = await raceAbort(running(), signal).catch((thrown: unknown) => {
    throw isRejection(thrown) ? operationError(thrown) : thrown
  })
  if (isRejection(answer)) throw operationError(answer)
  return Buffer.from(encode(answer))
}

/** The check at start sees to it that no answer has a member of this name. */
function isRejection(value: unknown): value is OperationRejection {
  return typeof value === 'object' && value !== null && 'rejection' in value && typeof value.rejection === 'string'
}

function operationError(rejection: OperationRejection): DomainError {
  switch (rejection.rejection) {
    case 'notFound':
      return rejection.detail === undefined ? rejectionError(rejection) : new DomainError('not-found', rejection.detail)
    case 'parameter': {
      const { parameter: name, detail } = rejection
      const violation = { code: 'filter.value.invalid', detail, place: { in: 'parameter', name } } as const
      return new DomainError('filter.value.invalid', detail, { violations: [violation] })
    }
    case 'state':
    case 'input':
    case 'conflict':
    case 'forbidden':
      return rejectionError(rejection)
  }
}

function whatIsKnown({ signal, requestId, log }: CallContext): Pick<CallContext, 'signal' | 'requestId' | 'log'> {
  return { signal, requestId, log }
}

/** Where a handler reads: outside of transactions, or in its own. */
interface RowSource {
  page(plan: PagePlan): Promise<PageResult>
  get(plan: GetPlan): Promise<LoadedRow | undefined>
  select(plan: StatementPlan): Promise<readonly (readonly Value[])[]>
  call(plan: CallPlan): Promise<readonly (readonly Value[])[]>
}

function storeOf({ store }: ReadDeps, signal: AbortSignal): RowSource {
  return {
    page: (plan) => store.page(plan, signal, 'code'),
    get: (plan) => store.get(plan, signal),
    select: (plan) => store.select(plan, signal),
    call: (plan) => store.call(plan, signal)
  }
}

function readTools(
  { caller }: CallContext,
  {
    readDeps: { planning },
    store,
    operation: { procedures }
  }: { readonly readDeps: ReadDeps; readonly store: RowSource; readonly operation: Operation }
) {
  return {
    rows: (entity: Entity) => finder(() => rowsOfCaller(entity, { planning, caller }), store),
    unscopedRows: (entity: Entity) => finder(() => everyRow(entity, planning.catalogue), store),
    select: async (sql: string, values: SqlValues, columns: Readonly<Record<string, Field>>) => {
      return named(Object.keys(columns), await store.select(planStatement('select', sql, { values, columns })))
    },
    callProcedure: async (name: string, parameters: NamedValues) => {
      const plan = planCall(procedures, name, parameters)
      const columns = plan.columns.map((column) => column.name)
      const rows = await store.call(plan)
      return columns.length === 0 ? undefined : named(columns, rows)
    }
  }
}

function named(names: readonly string[], rows: readonly (readonly Value[])[]): NamedValues[] {
  return rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null])))
}

/** The functions are asynchronous throughout: what rejects the caller is thrown by their promises. */
function finder(findable: () => FindableRows, store: RowSource) {
  const list = async (query: UntypedRowQuery = {}): Promise<NamedValues[]> => {
    const rows = findable()
    const plan = planFound(rows, query, { withTotal: false })
    const found = await store.page(plan)
    return found.rows.map(foundRow(plan, rows))
  }
  return {
    list,
    get: async (id: Operand): Promise<NamedValues | undefined> => {
      const rows = findable()
      const plan = planFoundRow(rows, id)
      const row = await store.get(plan)
      return row && foundRow(plan, rows)(row)
    },
    count: async ({ where }: Pick<UntypedRowQuery, 'where'> = {}): Promise<number> => {
      const query = where === undefined ? { limit: 1 } : { where, limit: 1 }
      const { total = 0 } = await store.page(planFound(findable(), query, { withTotal: true }))
      return total
    }
  }
}

function writeTools(steps: WriteSteps) {
  return {
    ...steps.tools,
    write: (change: Parameters<typeof writeOthers>[0]) => writeOthers(change, steps),
    run: (sql: string, values: SqlValues) => steps.unit.run(planStatement('change', sql, { values }))
  }
}
