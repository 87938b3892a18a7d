import type { Permission } from './fields/names.js'
import type {
  ChildFields,
  ChildName,
  KeyType,
  NameOfType,
  OpenNameOfType,
  MembersOf,
  NewRowOf,
  RowOf,
  SettableOnUpdate,
  PartialRowOf,
  ValueOf
} from './fields/rows.js'
import type { Children, Column } from './fields/columns.js'
import type { Field, Operand, Value } from './fields/field.js'
import type { TokenCaller } from './row-predicate.js'

/** What an action answers instead of a change: the transaction is rolled back, and the caller gets an error. */
export type Rejection = StateRejection | InputRejection | ConflictRejection | RejectionOfCaller

/** A rejection of who calls: of any rule, that of a delete too. */
export type RejectionOfCaller = ForbiddenRejection | RowNotFound

/** 422 `state.invalid`. */
export interface StateRejection {
  readonly rejection: 'state'
  readonly detail: string
}

/** 400 `body.invalid` at a member of the body. */
export interface InputRejection {
  readonly rejection: 'input'
  /** JSON pointer (RFC 6901), `/lines/0/productId`. */
  readonly pointer: string
  readonly detail: string
}

/** A conflict with a title, detail and members of the action's own: 412 on a guarded write (contract.md section 5). */
interface ConflictRejection {
  readonly rejection: 'conflict'
  readonly title: string
  readonly detail: string
  /** At most 512 bytes as JSON. */
  readonly members: Readonly<Record<string, string | number | boolean>>
}

/** 403 `ownership.denied`. */
interface ForbiddenRejection {
  readonly rejection: 'forbidden'
  readonly detail: string
}

/** 404 `not-found`, with the answer of a row that does not exist. */
interface RowNotFound {
  readonly rejection: 'notFound'
  readonly detail?: undefined
}

/** 404 `not-found` with a detail, of an operation alone: a rule would tell of a row with it. */
interface NotFoundRejection {
  readonly rejection: 'notFound'
  readonly detail: string
}

/** 400 `filter.value.invalid` at a query parameter. */
interface ParameterRejection {
  readonly rejection: 'parameter'
  readonly parameter: string
  readonly detail: string
}

/** What an operation (define-operation.ts) answers or throws in place of its answer. */
export type OperationRejection = Rejection | NotFoundRejection | ParameterRejection

/** Without a detail it is answered as a row that does not exist is. A detail is for operations alone. */
function notFound(): RowNotFound
function notFound(detail: string): NotFoundRejection
function notFound(detail?: string): RowNotFound | NotFoundRejection {
  return detail === undefined ? { rejection: 'notFound' } : { rejection: 'notFound', detail }
}

export const reject = {
  state: (detail: string): StateRejection => ({ rejection: 'state', detail }),
  /** `pointer`: a JSON pointer into the body (RFC 6901), `/name`; the slash of a member's name may be missing. */
  input: (pointer: string, detail: string): InputRejection => ({
    rejection: 'input',
    pointer: pointer === '' || pointer.startsWith('/') ? pointer : `/${pointer}`,
    detail
  }),
  conflict: (
    title: string,
    detail: string,
    members: Readonly<Record<string, string | number | boolean>> = {}
  ): ConflictRejection => ({ rejection: 'conflict', title, detail, members }),
  /** The caller may not do this to the row. */
  forbidden: (detail: string): ForbiddenRejection => ({ rejection: 'forbidden', detail }),
  notFound,
  /** For operations alone. */
  parameter: (parameter: string, detail: string): ParameterRejection => ({ rejection: 'parameter', parameter, detail })
}

/** A guarded action as the service works with it: `PUT /{resource}/{id}/{name}`. */
export type Action = ActionOfRow | ActionOfInput

/** An action that looks at the row: it is read under lock before the UPDATE. */
export interface ActionOfRow extends ActionParts {
  /** Decides what the action changes. It runs within the transaction, with the row locked. */
  readonly change: (call: ActionCall) => Outcome | Promise<Outcome>
}

/** An action that does the same to every row in the required state: nothing is read before the UPDATE. */
interface ActionOfInput extends ActionParts {
  readonly change: undefined
  readonly effect: (call: EffectCall) => Change
}

/** The state that a row must be in for a write, part of the match condition of its statement; or the state after it. */
export type RequiredColumns = readonly { readonly column: Column; readonly anyOf: readonly Operand[] }[]

interface ActionParts {
  readonly name: string
  /** One sentence for people. */
  readonly description: string
  /** Needed besides the write access of the resource. */
  readonly permission: Permission | undefined
  /** Whether it may leave the row outside of the caller's write scope. */
  readonly handsOver: boolean
  /** Part of the UPDATE's match condition; any other state is 422 `state.invalid`. */
  readonly required: RequiredColumns
  /** What an `effect` that is no function sets, whatever is sent. */
  readonly sets: readonly { readonly column: Column; readonly value: Value }[]
  /** The state that it leaves a row in: the one value of each column, or one of several that `change` or `effect` sets. */
  readonly becomes: RequiredColumns
  /** Members of the body. */
  readonly input: readonly Column[]
  /** The child whose version the body must carry (contract.md section 5, child precondition). */
  readonly guardedChild: GuardedChild | undefined
  /** Children to load under lock with the root. */
  readonly loads: readonly Children[]
  readonly guesses: GuessBound | undefined
}

/** How many calls of one caller may be rejected within a time, before further ones are 429 `quota-exceeded`. */
export interface GuessBound<Name extends string = string> {
  /** The member of the body that callers could guess. Calls without a value of it do not count. */
  readonly of: Name
  /** 1 to 100. */
  readonly most: number
  /** 1 to 1440. */
  readonly minutes: number
}

export interface GuardedChild {
  readonly children: Children
  /** Body member with the child's id, `variantId`. */
  readonly idMember: string
  /** Body member with the child's version, `variantRowVersion`. */
  readonly versionMember: string
}

/** A row by property name. */
export type NamedValues = Readonly<Record<string, Value>>

/** The functions and values that every rule of a write gets besides the rows. */
export interface RuleTools {
  readonly caller: TokenCaller
  readonly findByIds: FindByIds
  readonly findByUnique: FindByUnique
  readonly getAggregate: GetAggregate
  readonly findReferencing: FindReferencing
  readonly countReferencing: CountReferencing
  /** `2026-01-31T08:00:00.000Z`. */
  readonly now: string
  /** 12 random letters and digits, for numbers that people read out. */
  readonly newCode: () => string
}

/** What `change` of an action and `updates` get. */
export interface ActionCall extends RuleTools {
  /** The row under lock, hidden columns included. */
  readonly root: NamedValues
  /** The children of `loads`, by navigation name, in order of id. */
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
  /** The child whose version the body carried. */
  readonly child: NamedValues | undefined
  readonly input: NamedValues
}

/** What `effect` of an action gets: nothing of the row. */
type EffectCall = Pick<ActionCall, 'input' | 'caller' | 'now' | 'newCode'>

/** What `prepare` of a creation gets: the validated values and children of the body. */
export interface CreationCall extends RuleTools {
  readonly input: NamedValues
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
}

/**
 * Rows of any resource, or of one of its child collections (`'products.variants'`), by id within the transaction.
 * Ids without a row are absent from the answer.
 */
export type FindByIds = (rows: string, ids: readonly Operand[]) => Promise<ReadonlyMap<Operand, NamedValues>>

/** One root of any resource with its children of the primary store, under lock until the transaction ends. */
export type GetAggregate = (resource: string, id: Operand) => Promise<Aggregate | undefined>

export interface Aggregate {
  readonly root: NamedValues
  /** By navigation name, in order of id. */
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
}

/**
 * The row of a resource whose unique `property` equals the value. The column compares without letter case, so the row
 * may hold the value in other letters.
 */
export type FindByUnique = (resource: string, property: string, value: Operand) => Promise<NamedValues | undefined>

/**
 * Every row of a resource that refers to the row `id` by `property`, which is the column of a reference: in order of id,
 * with their children of the primary store. These rows and the row that they refer to are locked, so no such row is
 * added, changed or deleted until the transaction ends. More than 1000 rows are an error, 422 `state.invalid`.
 */
export type FindReferencing = (resource: string, property: string, id: Operand) => Promise<readonly Aggregate[]>

/**
 * How many rows of a resource refer to the row `id` by `property`, which is the column of a reference, and have one of
 * the values of `where` in each of its columns: `{ status: ['valid', 'checked-in'] }`. The row that they refer to is
 * locked, so no such row is added until the transaction ends; those counted may be changed or deleted meanwhile.
 */
export type CountReferencing = (
  resource: string,
  property: string,
  rows: { readonly id: Operand; readonly where?: Readonly<Record<string, readonly Operand[]>> }
) => Promise<number>

export type Outcome = Change | Rejection

/** What a write changes. The version of the root advances even if nothing is set. */
export interface Change {
  readonly set?: NamedValues
  /** By navigation name. */
  readonly children?: Readonly<Record<string, ChildChanges>>
  /** Other roots to create in the same transaction. */
  readonly create?: readonly NewRoot[]
  /** Other roots to change in the same transaction, each of which `getAggregate` has put under lock before. */
  readonly update?: readonly RootUpdate[]
}

/** A change of another root. Its version advances, and it gets an audit entry of its own. */
export interface RootUpdate {
  readonly resource: string
  readonly id: Operand
  readonly set?: NamedValues
  /** By navigation name. */
  readonly children?: Readonly<Record<string, ChildChanges>>
}

export interface ChildChanges {
  readonly insert?: readonly NamedValues[]
  readonly update?: readonly { readonly id: Operand; readonly set: NamedValues }[]
  readonly remove?: readonly Operand[]
}

export interface NewRoot {
  readonly resource: string
  readonly values: NamedValues
  readonly children?: Readonly<Record<string, readonly NamedValues[]>>
}

/** The text of a found row, decimals and longs included. Throws a TypeError for a property that is no text. */
export function textOf(row: NamedValues, property: string): string {
  const value = row[property]
  if (typeof value !== 'string') throw new TypeError(`${property} is no text`)
  return value
}

/** The int of a found row, or null. Throws a TypeError for a property that is no int. */
export function intOf(row: NamedValues, property: string): number | null {
  const value = row[property]
  if (typeof value !== 'number' && value !== null) throw new TypeError(`${property} is no int`)
  return value
}

type InputFields = Readonly<Record<string, Field>>

/** An action in an entity file. `F` are the root's fields, `C` its children, `I` the body's members. */
type ActionDefinition<F, C, I extends InputFields, L extends ChildName<C>, G extends ChildName<C>> =
  | DefinitionOfRow<F, C, I, L, G>
  | DefinitionOfInput<F, C, I>
  | DefinitionOfState<F, I>

/** The types of columns that can hold a state. */
type StateType = 'string' | 'bool' | 'int' | 'enum'

/** The states of a row by column, `{ status: ['placed', 'paid'] }`. */
export type RowState<F> = {
  readonly [K in OpenNameOfType<F, StateType>]?: readonly NonNullable<ValueOf<F[K]>>[]
}

/** The value of each of some columns, `{ status: 'paid' }`, or those that it may have. */
type NextState<F> = {
  readonly [K in OpenNameOfType<F, StateType>]?: NonNullable<ValueOf<F[K]>> | readonly NonNullable<ValueOf<F[K]>>[]
}

interface DefinitionParts<F, I extends InputFields> {
  /** One sentence for people. */
  readonly description: string
  /** Needed besides the write access of the resource. */
  readonly permission?: Permission
  /**
   * Says that the action rightly gives the row away: the row as it will be need not be one that the caller may write.
   * Without it such a change is 403 `ownership.denied`.
   */
  readonly handsOver?: true
  /** State the row must be in, `{ status: ['placed'] }`; any other is 422 `state.invalid`. */
  readonly when?: RowState<F>
  /**
   * State that the action leaves a row in, which people see in the diagram of the resource's states. One value,
   * `{ status: 'paid' }`, is set with what `effect` or `change` set, which need not repeat it. Of several values,
   * `{ status: ['submitted', 'received'] }`, `change` sets one or leaves the row as it is; any other is an error.
   */
  readonly becomes?: NextState<F>
  /** Members of the body, declared as fields are. */
  readonly input?: I
}

/** An action that does nothing but put the row into another state. */
interface DefinitionOfState<F, I extends InputFields> extends DefinitionParts<F, I> {
  readonly becomes: NextState<F>
  readonly effect?: never
  readonly change?: never
  readonly child?: never
  readonly loads?: never
  readonly guesses?: never
}

interface DefinitionOfInput<F, C, I extends InputFields> extends DefinitionParts<F, I> {
  /**
   * What the action changes, the same for every row in the required state: a change, or a function of the input and the
   * time that answers one. Nothing is read before the UPDATE, so it can look at no row and reject nothing.
   */
  readonly effect: EffectOf<F, C> | ((call: EffectCallOf<I>) => EffectOf<F, C>)
  readonly change?: never
  readonly child?: never
  readonly loads?: never
  readonly guesses?: never
}

interface DefinitionOfRow<
  F,
  C,
  I extends InputFields,
  L extends ChildName<C>,
  G extends ChildName<C>
> extends DefinitionParts<F, I> {
  readonly effect?: never
  /** A child that the action depends on: the body holds its id and its version. */
  readonly child?: {
    readonly children: G
    /** Name of the member in `input`, such as `variantId`. */
    readonly id: NameOfType<I, KeyType>
    /** Such as `variantRowVersion`. */
    readonly version: `${string}RowVersion`
  }
  /** Children to load under lock, besides those of `child`. */
  readonly loads?: readonly L[]
  /** Bounds the calls of one caller that `change` rejects, `{ of: 'code', most: 10, minutes: 15 }`. */
  readonly guesses?: GuessBound<keyof I & string>
  /** What the action changes or why it does not, decided on the row, which is read under lock before the UPDATE. */
  readonly change: (call: ActionCallOf<F, C, I, L | G> & GuardedChildOf<C, G>) => OutcomeOf<F, C, L | G>
}

interface ActionCallOf<F, C, I, Loaded extends ChildName<C>> extends Omit<
  ActionCall,
  'root' | 'children' | 'child' | 'input'
> {
  readonly root: RowOf<F>
  readonly children: { readonly [K in Loaded]: readonly RowOf<ChildFields<C, K>>[] }
  readonly input: MembersOf<I>
}

interface EffectCallOf<I> extends Omit<EffectCall, 'input'> {
  readonly input: RowOf<I>
}

/** The locked child. It exists and has the version in the body. */
type GuardedChildOf<C, G> = [G] extends [never] ? object : { readonly child: RowOf<ChildFields<C, G>> }

type OutcomeOf<F, C, Loaded> = ChangeOf<F, C, Loaded> | Rejection | Promise<ChangeOf<F, C, Loaded> | Rejection>

interface ChangeOf<F, C, Loaded> extends Omit<Change, 'set' | 'children'> {
  readonly set?: PartialRowOf<F>
  /** Children have to be loaded to be updated or removed. */
  readonly children?: {
    readonly [K in ChildName<C>]?: K extends Loaded
      ? ChildInsertsOf<ChildFields<C, K>> & ChildChangesOf<ChildFields<C, K>>
      : ChildInsertsOf<ChildFields<C, K>>
  }
}

/** Without other roots to update, which would have to be under lock. */
type EffectOf<F, C> = Omit<ChangeOf<F, C, never>, 'update'> & { readonly update?: never }

interface ChildInsertsOf<F> {
  readonly insert?: readonly NewRowOf<F>[]
}

interface ChildChangesOf<F> {
  readonly update?: readonly { readonly id: IdOf<F>; readonly set: PartialRowOf<F> }[]
  readonly remove?: readonly IdOf<F>[]
}

/** Of a composite key the text, as in JSON. */
/** Of a composite key the text, as in JSON. */
export type IdOf<F> = F extends { readonly id: infer One } ? ValueOf<One> : string

/**
 * The rule of a PUT and a PATCH: it may reject the body, or set more than the members of the body. `input` is the row as it
 * will be: members that the body leaves as they are have their stored values.
 */
export type UpdateRule<F, C> = (call: ActionCallOf<F, C, Pick<F, SettableOnUpdate<F>>, never>) => OutcomeOf<F, C, never>

/** Ties the types of input, children and change of one action together. */
export type DefineAction<F, C> = <
  const I extends InputFields = Record<never, Field>,
  const L extends ChildName<C> = never,
  const G extends ChildName<C> = never
>(
  definition: ActionDefinition<F, C, I, L, G>
) => UntypedAction

declare const defined: unique symbol

/** An action of an entity file without the types of its names. */
export interface UntypedAction {
  readonly [defined]: true
  readonly description: string
  readonly permission?: Permission
  readonly handsOver?: boolean
  readonly when?: Readonly<Record<string, readonly Operand[] | undefined>>
  readonly becomes?: Readonly<Record<string, Operand | readonly Operand[] | undefined>>
  readonly input?: InputFields
  readonly child?: { readonly children: string; readonly id: string; readonly version: string }
  readonly loads?: readonly string[]
  readonly guesses?: GuessBound
  readonly change?: (call: ActionCall) => Outcome | Promise<Outcome>
  readonly effect?: Change | ((call: EffectCall) => Change)
}

/** The function that `actions` of an entity file is called with. */
export function defineAction<F, C>(): DefineAction<F, C> {
  // The types of the definition hold: operations/writes/act.ts calls `change` with the rows that the names stand for.
  return (definition) => definition as unknown as UntypedAction
}
