import type { Permission } from './access.js'
import type { ActionCall, Change } from './action.js'
import type { Field } from './field.js'
import type {
  ChildFields,
  ChildName,
  NameOfType,
  NewRowOf,
  RowOf,
  SetOnUpdate,
  SomeOf,
  ValueOf,
  VisibleName
} from './field-types.js'
import type { Refusal } from './refuse.js'
import type { Operand } from './value.js'

export type InputFields = Readonly<Record<string, Field>>

/** What an entity file says of an action. `F` are the root's fields, `C` its children, `I` the body's members. */
export interface ActionDefinition<F, C, I extends InputFields, L extends ChildName<C>, G extends ChildName<C>> {
  /** One sentence for people. */
  readonly description: string
  /** Needed besides the write access of the resource. */
  readonly permission?: Permission
  /** State the row must be in, `{ status: ['placed'] }`; any other is 422 `state.invalid`. */
  readonly when?: {
    readonly [K in NameOfType<F, 'string' | 'bool' | 'int'> & VisibleName<F>]?: readonly NonNullable<ValueOf<F[K]>>[]
  }
  /** Members of the body; the words of fields say what they take. */
  readonly input?: I
  /** A child that the action depends on: the body names it by `id` and carries its version. */
  readonly child?: {
    readonly children: G
    /** Of `input`, `variantId`. */
    readonly id: NameOfType<I, 'int' | 'long' | 'guid'>
    /** `variantRowVersion`. */
    readonly version: `${string}RowVersion`
  }
  /** Children to load under lock, besides those of `child`. */
  readonly loads?: readonly L[]
  readonly change: (call: ActionCallOf<F, C, I, L | G> & GuardedChildOf<C, G>) => OutcomeOf<F, C, L | G>
}

export interface ActionCallOf<F, C, I, Loaded extends ChildName<C>> extends Omit<
  ActionCall,
  'root' | 'children' | 'child' | 'input'
> {
  readonly root: RowOf<F>
  readonly children: { readonly [K in Loaded]: readonly RowOf<ChildFields<C, K>>[] }
  readonly input: RowOf<I>
}

/** The child under lock; there is one, of the version that the body names. */
type GuardedChildOf<C, G> = [G] extends [never] ? object : { readonly child: RowOf<ChildFields<C, G>> }

export type OutcomeOf<F, C, Loaded> = ChangeOf<F, C, Loaded> | Refusal | Promise<ChangeOf<F, C, Loaded> | Refusal>

export interface ChangeOf<F, C, Loaded> extends Omit<Change, 'set' | 'children'> {
  readonly set?: SomeOf<F>
  /** Children have to be loaded to be updated or removed. */
  readonly children?: {
    readonly [K in ChildName<C>]?: K extends Loaded
      ? ChildInsertsOf<ChildFields<C, K>> & ChildChangesOf<ChildFields<C, K>>
      : ChildInsertsOf<ChildFields<C, K>>
  }
}

interface ChildInsertsOf<F> {
  readonly insert?: readonly NewRowOf<F>[]
}

interface ChildChangesOf<F> {
  readonly update?: readonly { readonly id: IdOf<F>; readonly set: SomeOf<F> }[]
  readonly remove?: readonly IdOf<F>[]
}

type IdOf<F> = F extends { id: infer One } ? ValueOf<One> : never

/** PUT: what the body alone does not say or may not do. What it answers is set besides the body's members. */
export type UpdateRule<F, C> = (call: ActionCallOf<F, C, Pick<F, SetOnUpdate<F>>, never>) => OutcomeOf<F, C, never>

/** Makes one action of an entity file: it ties the types of input, children and change together. */
export type DefineAction<F, C> = <
  const I extends InputFields = Record<never, Field>,
  const L extends ChildName<C> = never,
  const G extends ChildName<C> = never
>(
  definition: ActionDefinition<F, C, I, L, G>
) => DefinedAction

declare const defined: unique symbol

/** An action as its entity file says it, names and types forgotten. */
export interface DefinedAction {
  readonly [defined]: true
  readonly description: string
  readonly permission?: Permission
  readonly when?: Readonly<Record<string, readonly Operand[] | undefined>>
  readonly input?: InputFields
  readonly child?: { readonly children: string; readonly id: string; readonly version: string }
  readonly loads?: readonly string[]
  readonly change: (call: ActionCall) => Change | Refusal | Promise<Change | Refusal>
}

/** What `actions` is called with. */
export function defineAction<F, C>(): DefineAction<F, C> {
  // The service calls `change` with the very rows that the erased names stand for (rpc/act.ts), which is what the
  // types of the definition say.
  return (definition) => definition as unknown as DefinedAction
}
