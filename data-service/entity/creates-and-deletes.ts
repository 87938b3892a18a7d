import type {
  ActionCall,
  Change,
  CreationCall,
  GuessBound,
  NamedValues,
  NewRoot,
  Rejection,
  RejectionOfCaller,
  RequiredColumns,
  RootUpdate,
  RowState,
  StateRejection
} from './action.js'
import type {
  ChildFields,
  ChildName,
  CreatedChildName,
  MembersOf,
  NewRowOf,
  ReadOnlyName,
  RowOf,
  SettableOnCreate
} from './fields/rows.js'
import type { Children } from './fields/columns.js'

/** How rows of a resource are created. */
export interface Creation {
  /** Children that the body may hold. */
  readonly children: readonly CreatedChildren[]
  /** Sets the columns that no request sets. It runs within the transaction. */
  readonly prepare: ((call: CreationCall) => PrepareResult | Promise<PrepareResult>) | undefined
  readonly guesses: GuessBound | undefined
}

export interface CreatedChildren {
  readonly children: Children
  /** The smallest number in a body; 0 if they may be left out. */
  readonly min: number
}

type PrepareResult = Preparation | Rejection

export interface Preparation {
  readonly values?: NamedValues
  /** They replace the children of the body, by navigation name. */
  readonly children?: Readonly<Record<string, readonly NamedValues[]>>
  /** Other roots to create in the same transaction. */
  readonly create?: readonly NewRoot[]
  /** Other roots to change in the same transaction, each of which `getAggregate` has put under lock before. */
  readonly update?: readonly RootUpdate[]
}

/** The creation of rows in an entity file. */
export interface CreationDefinition<F, C> {
  /** Children that the body may hold, `{ lines: { min: 1 } }`; at most 1000 each. */
  readonly children?: { readonly [K in CreatedChildName<C>]?: { readonly min: number } }
  /** Required if some column that no request can set may not be null and has no default. */
  readonly prepare?: (call: CreationCallOf<F, C>) => PrepareResultOf<F, C> | Promise<PrepareResultOf<F, C>>
  /** Bounds the creates of one caller that `prepare` rejects, as `guesses` of an action does. */
  readonly guesses?: GuessBound<SettableOnCreate<F> & string>
}

interface CreationCallOf<F, C> extends Omit<CreationCall, 'input' | 'children'> {
  readonly input: MembersOf<Pick<F, SettableOnCreate<F>>>
  /** The children of the body; an empty list where the body has none. */
  readonly children: {
    readonly [K in CreatedChildName<C>]: readonly MembersOf<
      Pick<ChildFields<C, K>, SettableOnCreate<ChildFields<C, K>>>
    >[]
  }
}

type PrepareResultOf<F, C> = PreparationOf<F, C> | Rejection

interface PreparationOf<F, C> extends Omit<Preparation, 'values' | 'children'> {
  readonly values: NewRowOf<F, ReadOnlyName<F>>
  readonly children?: { readonly [K in CreatedChildName<C>]?: readonly NewRowOf<ChildFields<C, K>>[] }
}

/** When rows of a resource may be deleted. */
export interface Deletion {
  /** Part of the DELETE's match condition; any other state is 422 `state.invalid`. */
  readonly required: RequiredColumns
  /**
   * Rejects the delete, or changes other roots with it. It runs within the transaction before the DELETE, with the row
   * locked. Without a rule nothing is read before the DELETE.
   */
  readonly rule: ((call: DeletionCall) => DeletionOutcome | Promise<DeletionOutcome>) | undefined
}

/** What the rule of a delete gets: the row and all its children of the primary store. */
type DeletionCall = Omit<ActionCall, 'input' | 'child'>

type DeletionOutcome = Pick<Change, 'create' | 'update'> | StateRejection | RejectionOfCaller

/** The deletes in an entity file. */
export interface DeletionDefinition<F, C> {
  /** State the row must be in, `{ status: ['draft'] }`; any other is 422 `state.invalid`. */
  readonly when?: RowState<F>
  /** Rejects a delete that the state allows, or changes other rows with it. The row is locked before it runs. */
  readonly rule?: (call: DeletionCallOf<F, C>) => DeletionOutcome | Promise<DeletionOutcome>
}

interface DeletionCallOf<F, C> extends Omit<DeletionCall, 'root' | 'children'> {
  readonly root: RowOf<F>
  readonly children: { readonly [K in ChildName<C>]: readonly RowOf<ChildFields<C, K>>[] }
}
