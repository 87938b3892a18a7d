import type { CreationCall, NamedValues, NewRoot, Rejection } from './action.js'
import type { ChildFields, ChildName, Children, NewRowOf, RowOf, SetByService, SetOnCreate } from './field.js'

/** How a row of a resource comes to be, as the service works with it. */
export interface Creation {
  /** Children that the body may hold. */
  readonly children: readonly CreatedChildren[]
  /** Fills what no request sets, within the transaction. */
  readonly prepare: ((call: CreationCall) => Prepared | Promise<Prepared>) | undefined
}

export interface CreatedChildren {
  readonly children: Children
  /** Fewest in a body; 0 where they may be left out. */
  readonly min: number
}

export type Prepared = Preparation | Rejection

export interface Preparation {
  readonly values?: NamedValues
  /** In place of those of the body, by navigation name. */
  readonly children?: Readonly<Record<string, readonly NamedValues[]>>
  /** Other roots to create in the same transaction. */
  readonly create?: readonly NewRoot[]
}

/** What an entity file says of its creation. */
export interface CreationDefinition<F, C> {
  /** Children that the body may hold, `{ lines: { min: 1 } }`; at most 1000 each. */
  readonly children?: { readonly [K in ChildName<C>]?: { readonly min: number } }
  /** Needed where a column that requests cannot set may not be null and has no default. */
  readonly prepare?: (call: CreationCallOf<F, C>) => PreparedOf<F, C> | Promise<PreparedOf<F, C>>
}

export interface CreationCallOf<F, C> extends Omit<CreationCall, 'input' | 'children'> {
  readonly input: RowOf<Pick<F, SetOnCreate<F>>>
  /** As in the body, empty where it has none. */
  readonly children: {
    readonly [K in ChildName<C>]: readonly RowOf<Pick<ChildFields<C, K>, SetOnCreate<ChildFields<C, K>>>>[]
  }
}

export type PreparedOf<F, C> = PreparationOf<F, C> | Rejection

export interface PreparationOf<F, C> extends Omit<Preparation, 'values' | 'children'> {
  readonly values: NewRowOf<F, SetByService<F>>
  readonly children?: { readonly [K in ChildName<C>]?: readonly NewRowOf<ChildFields<C, K>>[] }
}
