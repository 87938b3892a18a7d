import type { Logger } from 'pino'
import type { OperationAccess, TokenAccess } from './access.js'
import type {
  CountReferencing,
  FindByIds,
  FindByUnique,
  FindReferencing,
  GetAggregate,
  NewRoot,
  OperationRejection,
  RootUpdate
} from './action.js'
import type { ParamFields } from './custom-read.js'
import type { EntityOf } from './entity.js'
import type { Column } from './fields/columns.js'
import type { Field, Operand } from './fields/field.js'
import type { RowOf, ValueOf, VisibleName } from './fields/rows.js'
import { wordMistakes, definitionWords } from './fields/definition-words.js'
import {
  type CallProcedure,
  type Procedure,
  procedureWordMistakes,
  type Procedures,
  resolveProcedures
} from './procedure.js'
import type { AnonymousCaller, RowsCall, RowsWanted, TokenCaller } from './row-predicate.js'
import {
  type AnswerShape,
  type ResolvedShape,
  resolveShape,
  type Shape,
  valueColumn,
  type ValueOfShape
} from './fields/shape.js'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A method and a path of kebab-case segments and parameters: `PUT /reports/{reportId}/closing`. */
type Route = `${Method} /${string}`

/** The names of the parameters of a path. */
type PathName<R> = R extends `${string}{${infer Name}}${infer Rest}` ? Name | PathName<Rest> : never

/**
 * An operation of an application's own beside the uniform ones: a route of its own in the gateway, and over gRPC a name
 * for the rpc Call. `R` is the route, `P`, `Q`, `B` and `T` are path, query, body and answer, `X` the procedures.
 */
interface OperationDefinition<
  R extends Route,
  A extends OperationAccess,
  P extends ParamFields,
  Q extends ParamFields,
  B extends Shape,
  T extends AnswerShape | undefined,
  X extends Procedures
> {
  /** kebab-case. Over gRPC, and in the OpenAPI document. */
  readonly name: string
  readonly route: R
  /** One sentence for people. */
  readonly description: string
  /** Who may call it: `everyone` for a GET alone, `authenticated` (any valid token), or `permission(…)`. There is no default. */
  readonly access: A & (R extends `GET ${string}` ? unknown : TokenAccess)
  /** The parameters of the path; one that its field does not take is 400 `id.invalid`. */
  readonly path?: P &
    ([PathName<R>] extends [never] ? Readonly<Record<string, never>> : Readonly<Record<PathName<R>, Field>>)
  /** Query parameters, as those of custom reads. */
  readonly query?: Q
  /** The members of the JSON body of a POST or PUT. */
  readonly body?: R extends `${'GET' | 'DELETE'} ${string}` ? never : B
  /** What is answered: an object, or `list(…)`. Members that it does not name are never sent. Without it the answer is 204. */
  readonly answer?: T
  /** Of an answer, 200 by default. */
  readonly status?: 200 | 201 | 202
  /** The stored procedures that it calls, by name. */
  readonly procedures?: X
  /**
   * Answers, or rejects by answering or throwing `reject.…(…)`. Anything else that it throws is 500. A GET reads. Any other
   * method runs in one transaction, in which the idempotency key and the answer are stored too: the handler may run
   * several times before it commits, so nothing outside of the database may be changed by it.
   */
  readonly handle: (
    call: (R extends `GET ${string}` ? GetCall<A, P, Q> : WriteCall<A, P, Q, B>) & ProcedureCall<X>
  ) => AnswerOf<T> | Promise<AnswerOf<T>>
}

/** A path with parameters has to declare them. */
type WithPath<R> = [PathName<R>] extends [never] ? unknown : { readonly path: object }

type AnswerOf<T> = (T extends AnswerShape ? ValueOfShape<T> : void) | OperationRejection

/** What the handler of a GET gets. */
interface GetCall<A, P, Q> extends ReadTools {
  readonly caller: A extends TokenAccess ? TokenCaller : TokenCaller | AnonymousCaller
  readonly path: RowOf<P>
  /** An optional parameter that was not sent is null. */
  readonly query: RowOf<Q>
}

interface ProcedureCall<X> {
  /**
   * Calls a procedure of `procedures` on the primary database: NO SCOPE of the caller holds for it. A GET cannot change
   * anything by it. At most 10,000 rows and 8 MiB: with more it throws. Of what it did itself it leaves no audit entry.
   */
  readonly callProcedure: CallProcedure<X>
}

/** What every handler gets. */
interface ReadTools {
  /** `2026-01-31T08:00:00.000Z`. */
  readonly now: string
  /** Aborted when the caller goes away or the deadline has passed. Statements stop by themselves. */
  readonly signal: AbortSignal
  readonly requestId: string
  /** Its lines have the request id. */
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
  /**
   * The rows that the caller could read by id, with the columns that it may see. It rejects as that read would: 401, 403.
   */
  readonly rows: <F>(entity: EntityOf<F>) => RowFinder<F, SeenRowOf<F>>
  /** All rows, whoever calls, with all columns, hidden ones too. What of them is told is up to the operation. */
  readonly unscopedRows: <F>(entity: EntityOf<F>) => RowFinder<F, RowOf<F>>
  /**
   * A SELECT of your own on the primary database: NO SCOPE of the caller holds for it. `$name` in the text stands for
   * `values.name`, and each `$` and name together are replaced, in string literals too. `columns` says what it selects, in
   * order. At most 10,000 rows: with more it throws. It can change nothing, and stops with the call's deadline.
   */
  readonly select: <const C extends Readonly<Record<string, Field>>>(
    sql: string,
    values: SqlValues,
    columns: C
  ) => Promise<readonly RowOf<C>[]>
}

/** What the handlers of other methods get. All reads and writes are of one transaction. */
interface WriteCall<A, P, Q, B> extends GetCall<A, P, Q> {
  readonly body: ValueOfShape<B>
  readonly findByIds: FindByIds
  readonly findByUnique: FindByUnique
  readonly getAggregate: GetAggregate
  readonly findReferencing: FindReferencing
  readonly countReferencing: CountReferencing
  /** 12 random letters and digits, for numbers that people read out. */
  readonly newCode: () => string
  /**
   * Changes roots that `getAggregate` has put under lock, then creates others, each with an audit entry. Answers the ids of
   * the new ones. NO SCOPE of the caller holds for it.
   */
  readonly write: (change: {
    readonly create?: readonly NewRoot[]
    readonly update?: readonly RootUpdate[]
  }) => Promise<readonly Operand[]>
  /**
   * An INSERT, UPDATE or DELETE of your own, with values as those of `select`. Answers the number of rows. It leaves no
   * audit entry, and the row versions of what it changes are its own business.
   */
  readonly run: (sql: string, values: SqlValues) => Promise<number>
}

/**
 * A bound value. Numbers are whole; a decimal, a date or a guid is `[decimal(10, 2), '19.90']`, with the field of the
 * column, since databases store them in different forms.
 */
type SqlValue = string | number | bigint | boolean | null | readonly [field: Field, value: Operand | null]
export type SqlValues = Readonly<Record<string, SqlValue>>

/** Finds rows of an entity. */
interface RowFinder<F, Row> {
  /** At most `limit` rows, 1000 without it and at most; in order of the id unless `sort` says otherwise. */
  list(query?: RowQuery<F>): Promise<readonly Row[]>
  get(id: F extends { readonly id: infer Id } ? ValueOf<Id> : string): Promise<Row | undefined>
  count(query?: Pick<RowQuery<F>, 'where'>): Promise<number>
}

interface RowQuery<F> {
  /** In the words of row scopes. */
  readonly where?: (words: Pick<RowsCall<F, never>, 'where' | 'anyOf' | 'allOf'>) => RowsWanted
  /** Names of properties, with `-` before them for descending order. */
  readonly sort?: readonly (SortName<F> | `-${SortName<F>}`)[]
  readonly limit?: number
}

type SortName<F> = { [K in keyof F]: F[K] extends { hidden: false; readableBy: undefined } ? K : never }[keyof F] &
  string

/** A row as its reader sees it: what takes a permission to read may be missing. */
type SeenRowOf<F> = {
  readonly [K in VisibleName<F>]: F[K] extends { readableBy: undefined } ? ValueOf<F[K]> : ValueOf<F[K]> | undefined
}

/** An operation as the service works with it. */
export interface Operation {
  readonly name: string
  readonly method: Method
  /** Of the path, `{warehouseId}` for a parameter. */
  readonly segments: readonly string[]
  readonly description: string
  readonly access: OperationAccess
  readonly path: readonly Column[]
  readonly query: readonly Column[]
  readonly body: ResolvedShape | undefined
  readonly answer: ResolvedShape | undefined
  /** Of the answer: 204 without one. */
  readonly status: number
  /** Whether the answer has a version, which the call that writes must bring. Operations of the service itself alone. */
  readonly versioned?: true
  readonly procedures: readonly Procedure[]
  readonly handle: (call: object) => unknown
  /** Mistakes of the definition that its types could not show; checkCatalogue reports them. */
  readonly mistakes: readonly string[]
}

const OPERATION = definitionWords<
  OperationDefinition<'POST /', TokenAccess, ParamFields, ParamFields, Shape, AnswerShape | undefined, Procedures>
>({
  name: 'text',
  route: 'text',
  description: 'text',
  access: 'object',
  path: 'object',
  query: 'object',
  body: 'object',
  answer: 'object',
  status: 'number',
  procedures: 'object',
  handle: 'function'
})

/** Makes an operation. It never throws: the check at start reports the mistakes of all operations and entities at once. */
export function defineOperation<
  const R extends Route,
  A extends OperationAccess,
  const P extends ParamFields = Readonly<Record<never, never>>,
  const Q extends ParamFields = Readonly<Record<never, never>>,
  const B extends Shape = Readonly<Record<never, never>>,
  const T extends AnswerShape | undefined = undefined,
  const X extends Procedures = Readonly<Record<never, never>>
>(definition: OperationDefinition<R, A, P, Q, B, T, X> & WithPath<R>): Operation {
  const { name, route, description, access, path = {}, query = {}, body, answer, status = 200, handle } = definition
  const procedures: Procedures = definition.procedures ?? {}
  const [method = '', ...rest] = route.split(' ')
  const shape: AnswerShape | undefined = body
  return {
    name,
    // Its type is that of a route; the check at start sees to files that bypass it.
    method: method as Method,
    segments: rest.join(' ').split('/').slice(1),
    description,
    access,
    path: Object.entries<Field>(path).map(([one, field]) => valueColumn(one, field)),
    query: Object.entries<Field>(query).map(([one, field]) => valueColumn(one, field)),
    body: shape === undefined ? undefined : resolveShape(shape),
    answer: answer === undefined ? undefined : resolveShape(answer),
    status: answer === undefined ? 204 : status,
    procedures: resolveProcedures(procedures),
    // The types of the definition hold: operations/calls/call-operation.ts calls it with the values that the names stand for.
    handle: handle as (call: object) => unknown,
    mistakes: [...wordMistakes('', definition, OPERATION), ...procedureWordMistakes(procedures)]
  }
}

/** The name of the parameter that a segment of a path stands for; undefined for a fixed segment. */
export function parameterIn(segment: string): string | undefined {
  return segment.startsWith('{') && segment.endsWith('}') ? segment.slice(1, -1) : undefined
}
