import type { ReadAccess, ReadOperation } from './access.js'
import type { Action, ActionCall, Outcome } from './action.js'
import type { Creation } from './creation.js'
import type { Field, FieldType } from './field.js'
import type { OperatorOf } from './operator.js'
import type { Overrides } from './overrides.js'
import type { Value } from './value.js'
import type { WriteAccess, WriteOperation } from './write-access.js'

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
  /** The string column that lookup shows. */
  readonly label: Column
  readonly references: readonly Reference[]
  readonly children: readonly Children[]
  readonly access: Readonly<Record<ReadOperation, ReadAccess>>
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

/** A column of a table and the DTO property it is served as. */
export interface Column {
  /** DTO property, `categoryId`. */
  readonly name: string
  /** Column, `category_id`. */
  readonly column: string
  readonly field: Field
}

/** A property worked out from columns of its own row: read-only, neither filterable nor sortable nor selectable. */
export interface Computed {
  readonly name: string
  readonly type: FieldType
  readonly nullable: boolean
  readonly from: readonly Column[]
  /** Gets the values of `from`, in order. */
  readonly value: (values: readonly Value[]) => Value
}

/** A read-only property that is a column of a referenced row: a DTO name mapped to a nested path. */
export interface Joined {
  readonly name: string
  readonly through: Reference
  /** Property of the referenced entity. */
  readonly property: string
  readonly field: Field
}

/** A foreign key, served under `name` with `includeFKs`. */
export interface Reference {
  readonly name: string
  /** The referenced resource. */
  readonly to: string
  readonly via: Column
}

/** Rows of the aggregate, served under `name` with `includeChildren`, in order of id. */
export interface Children {
  readonly name: string
  readonly table: string
  /** Column of the child table that holds the root's id. */
  readonly foreignKey: string
  /** Own columns, the id first. Every child has a row version besides. */
  readonly columns: readonly Column[]
  /** `second`: another database that cannot be joined. */
  readonly store: StoreName
}

export type StoreName = 'primary' | 'second'
