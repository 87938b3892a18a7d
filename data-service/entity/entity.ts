import type { OwnerFilter, ReadAccess, WriteAccess } from './access.js'
import type { Action, ActionCall, Outcome } from './action.js'
import type { Creation } from './creation.js'
import type { CustomRead } from './custom-read.js'
import type { Children, Column, Computed, FieldType, Joined, Reference } from './field.js'
import type { Overrides, ReadOperation, WriteOperation } from './operations.js'
import type { OperatorOf } from './operators.js'

export type { Children, Column, Computed, Joined, Reference, StoreName } from './field.js'

/** An entity as the service works with it: what `defineEntity` makes of an entity file, names resolved, types erased. */
export interface Entity {
  /** Route segment. */
  readonly name: string
  readonly table: string
  /** One sentence for people. */
  readonly description: string
  /** Own columns in order, the id first, hidden ones included; the row version is not among them, every row has one. */
  readonly columns: readonly Column[]
  readonly computed: readonly Computed[]
  readonly joined: readonly Joined[]
  readonly filterable: ReadonlyMap<string, readonly OperatorOf<FieldType>[]>
  readonly sortable: ReadonlySet<string>
  /** The column that lookup shows. */
  readonly label: Column
  readonly references: readonly Reference[]
  readonly children: readonly Children[]
  readonly access: Readonly<Record<ReadOperation, ReadAccess>>
  readonly ownerFilter: OwnerFilter | undefined
  /** In the order of the entity file. */
  readonly customReads: ReadonlyMap<string, CustomRead>
  /** Writes it has besides its actions. */
  readonly writes: ReadonlySet<WriteOperation>
  /** undefined for a resource without writes and actions. */
  readonly writeAccess: WriteAccess | undefined
  readonly creation: Creation
  /** What a PUT does or refuses besides setting the body's members. */
  readonly updateRule: ((call: ActionCall) => Outcome | Promise<Outcome>) | undefined
  /** In the order of the entity file. */
  readonly actions: ReadonlyMap<string, Action>
  /** Single reads and writes done in the entity's own way. */
  readonly overrides: Overrides
  /** What the entity file got wrong and its types could not see; checkCatalogue reports it with its own findings. */
  readonly mistakes: readonly string[]
}
