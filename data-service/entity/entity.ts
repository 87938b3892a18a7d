import type { OwnerFilter, ReadAccess, WriteAccess } from './access.js'
import type { Action, ActionCall, Outcome } from './action.js'
import type { Creation, Deletion } from './creates-and-deletes.js'
import type { CustomRead } from './custom-read.js'
import type { Children, Column, Computed, Joined, KeyColumns, ManyToMany, NoKey, Reference } from './fields/columns.js'
import type { FieldType } from './fields/field.js'
import type { VersionedTable } from './fields/row-version.js'
import type { TypedFields } from './fields/rows.js'
import type { Hooks } from './hooks.js'
import type { ReadName } from '../../shared/read-parameters.js'
import type { Overrides, WriteOperation } from './operations.js'
import type { OperatorOf } from './fields/operators.js'
import type { Totals } from './totals.js'

export type {
  Children,
  Column,
  Computed,
  Joined,
  KeyColumns,
  ManyToMany,
  Reference,
  StoreName
} from './fields/columns.js'
export { tellingColumns } from './fields/columns.js'

/** What `defineEntity` makes of an entity file: its names are resolved to what they stand for. */
export interface Entity extends VersionedTable {
  /** Route segment. */
  readonly name: string
  readonly table: string
  /** The database of the same server that holds the table, where it is another: that of the engine's own tables. */
  readonly schema?: string
  /** One sentence for people. */
  readonly description: string
  /** What the admin calls the rows, under which heading its menu has them, and a sign before the name; each may be empty. */
  readonly menu: { readonly title: string; readonly group: string; readonly icon: string }
  /** The columns that identify a row: that of the property `id`, or several of a composite key. None for rows without a key. */
  readonly key: KeyColumns | NoKey
  /** The columns of the table, those of the key first, hidden ones included. The row version is not among them. */
  readonly columns: readonly Column[]
  readonly computed: readonly Computed[]
  readonly joined: readonly Joined[]
  readonly filterable: ReadonlyMap<string, readonly OperatorOf<FieldType>[]>
  readonly sortable: ReadonlySet<string>
  /** `required`: the service does not start without an index for each order. Otherwise it says which are missing. */
  readonly indexes: 'required' | 'advised'
  /** Names of the properties that `search` looks into. */
  readonly searchable: readonly string[]
  /** Whether `search` finds words by their beginnings, which a full-text index serves. Otherwise it finds parts of texts. */
  readonly fullText: boolean
  /** Whether audit entries keep what writes change. */
  readonly history: boolean
  /** What rows can be grouped by, and what of them can be computed; undefined for a resource without totals. */
  readonly totals: Totals | undefined
  /** The column that lookup shows. */
  readonly label: Column | undefined
  readonly references: readonly Reference[]
  readonly manyToMany: readonly ManyToMany[]
  readonly children: readonly Children[]
  readonly access: Readonly<Record<ReadName, ReadAccess>>
  readonly ownerFilter: OwnerFilter | undefined
  /** In the order of the entity file. */
  readonly customReads: ReadonlyMap<string, CustomRead>
  /** The writes of the resource besides its actions. */
  readonly writes: ReadonlySet<WriteOperation>
  /** That of each write and action by name. An entity file with a mistake may leave some out. */
  readonly writeAccess: ReadonlyMap<string, WriteAccess>
  /** Whether callers write rows that their reads by id do not show them. */
  readonly writesUnseen: boolean
  readonly creation: Creation
  /** What a PUT or PATCH rejects, or sets besides the members of the body. */
  readonly updateRule: ((call: ActionCall) => Outcome | Promise<Outcome>) | undefined
  readonly deletion: Deletion
  /** In the order of the entity file. */
  readonly actions: ReadonlyMap<string, Action>
  /** What runs before the COMMIT of each write of a row. */
  readonly hooks: Hooks
  /** Functions in place of single reads and writes. */
  readonly overrides: Overrides
  /** Mistakes of the entity file that its types could not show; checkCatalogue reports them. */
  readonly mistakes: readonly string[]
}

/** An entity whose rows have a key. Lists, pages, exports and totals take entities without a key too. */
export interface KeyedEntity extends Entity {
  readonly key: KeyColumns
}

/** An entity with the types of its fields, which are there for the compiler alone. */
export interface EntityOf<F> extends Entity, TypedFields<F> {}

/** What `defineEntity` makes: `K` is the word `key` of the entity file. */
export type DefinedEntity<F, K> = K extends 'none' ? EntityOf<F> : KeyedEntityOf<F>

export interface KeyedEntityOf<F> extends EntityOf<F> {
  readonly key: KeyColumns
}
