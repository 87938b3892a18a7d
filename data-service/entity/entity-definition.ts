import type { ReadsDefinition } from './access.js'
import type { DefineAction, DefinedAction, UpdateRule } from './action-definition.js'
import type { CreationDefinition } from './creation.js'
import type { CustomReadDefinition } from './custom-read.js'
import type { Field, FieldType } from './field.js'
import type { ChildrenDefinition, Fields, LabelName, NameOfType, TypeOf, VisibleName } from './field-types.js'
import type { OperatorOf } from './operator.js'
import type { Overrides } from './overrides.js'
import type { OwnerFilterDefinition } from './owner-filter.js'
import type { Value } from './value.js'
import type { WriteAccess, WriteOperation } from './write-access.js'

export interface ReferenceDefinition<F> {
  readonly to: string
  readonly via: NameOfType<F, 'int' | 'long' | 'guid'>
}

export interface JoinedDefinition<R> {
  readonly through: keyof R & string
  readonly property: string
  readonly field: Field
}

export interface ComputedDefinition<F> {
  readonly type: FieldType
  readonly nullable?: boolean
  readonly from: readonly VisibleName<F>[]
  /** Gets the values of `from`, in order. */
  readonly value: (...values: Value[]) => Value
}

export type References<F> = Readonly<Record<string, ReferenceDefinition<F>>>
export type JoinedProperties<R> = Readonly<Record<string, JoinedDefinition<R>>>
export type ChildCollections = Readonly<Record<string, ChildrenDefinition>>

/** What an entity file says (docs/adding-an-entity.md). `F` are its fields, `R` references, `J` joined, `C` children. */
export interface EntityDefinition<
  F extends Fields,
  R extends References<F>,
  J extends JoinedProperties<R>,
  C extends ChildCollections
> {
  /** Route segment, kebab-case plural. */
  readonly name: string
  /** Default: the name in snake_case. */
  readonly table?: string
  readonly description: string
  readonly fields: F
  readonly computed?: Readonly<Record<string, ComputedDefinition<F>>>
  readonly joined?: J
  /** Properties that `filters[…]` takes: all operators of the type, unless `operators` says fewer. */
  readonly filterable: readonly (VisibleName<F> | (keyof NoInfer<J> & string))[]
  readonly operators?: { readonly [K in VisibleName<F>]?: readonly OperatorOf<TypeOf<F, K>>[] }
  /** Properties that `sortColumn` takes: each needs an index, which start-up checks. */
  readonly sortable: readonly (VisibleName<F> | (keyof NoInfer<J> & string))[]
  /** What lookup shows beside the id, as text: a string, int, long or guid that is never null. */
  readonly label: LabelName<F>
  readonly references?: R
  readonly children?: C
  readonly access: ReadsDefinition<NameOfType<F, 'int' | 'long'>> & {
    /** Needed with `writes` or `actions`. */
    readonly write?: WriteAccess<NameOfType<F, 'int' | 'long'>>
    readonly ownerFilter?: OwnerFilterDefinition<NameOfType<F, 'int' | 'long'>>
  }
  /** Which of create, update and delete it has; none without it. */
  readonly writes?: readonly WriteOperation[]
  readonly creates?: CreationDefinition<NoInfer<F>, NoInfer<C>>
  /** What a PUT refuses or sets besides what the body says. */
  readonly updates?: UpdateRule<NoInfer<F>, NoInfer<C>>
  readonly actions?: (action: DefineAction<NoInfer<F>, NoInfer<C>>) => Readonly<Record<string, DefinedAction>>
  /** Reads of its own, `GET /{resource}/{name}`. */
  readonly customReads?: Readonly<Record<string, CustomReadDefinition<NoInfer<F>>>>
  /** Single reads and writes done in the entity's own way; the others stay as they are. */
  readonly overrides?: Overrides
}
