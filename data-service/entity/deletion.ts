import type { ActionCall, Change, RequiredColumns, RowState, StateRejection } from './action.js'
import type { ChildFields, ChildName, RowOf } from './fields/rows.js'

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
export type DeletionCall = Omit<ActionCall, 'input' | 'child'>

export type DeletionOutcome = Pick<Change, 'create' | 'update'> | StateRejection

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
