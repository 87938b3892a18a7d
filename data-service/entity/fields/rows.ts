import type { Children, Column, KeyColumns, Reference, StoreName } from './columns.js'
import type { Field, FieldType, ValueOfType, Writability } from './field.js'
import type { Permission } from './names.js'
import type { VersionedTable } from './row-version.js'

/** The fields of an entity file. */
export type Fields = Readonly<Record<string, Field>>

/** The types that a key, and so a reference to it, can have. */
export type KeyType = 'int' | 'long' | 'guid' | 'string' | 'date' | 'dateTime' | 'decimal' | 'enum' | 'base64url'

type KeyField = Field<KeyType, false, false, Writability, undefined>

/** The key of an entity file: a field `id`, two or more fields by name and no field `id`, or none. */
export type KeyDefinition<F> =
  | { readonly fields: { readonly id: KeyField }; readonly key?: never }
  | WithoutKey
  | { readonly fields: { readonly id?: never }; readonly key: readonly [KeyName<F>, KeyName<F>, ...KeyName<F>[]] }

/** Words of entity files that need rows that can be named. */
export const OF_NAMED_ROWS = [
  'rowVersion',
  'rowVersionColumn',
  'label',
  'history',
  'manyToMany',
  'children',
  'writes',
  'creates',
  'updates',
  'deletes',
  'actions',
  'hooks'
] as const

export type OfNamedRows = (typeof OF_NAMED_ROWS)[number]

/**
 * Rows that nothing tells apart, such as those of a view: they are listed, paged by number, exported and totalled, and no request
 * names one of them.
 */
type WithoutKey = { readonly fields: { readonly id?: never }; readonly key: 'none' } & {
  readonly [Word in OfNamedRows]?: never
}

/** Fields that no update changes, that are never null, and that every reader of the row sees. */
type KeyName<F> = {
  [K in keyof F]: F[K] extends Field<KeyType, false, false, 'onCreate' | 'never', undefined> ? K : never
}[keyof F] &
  string

export type VisibleName<F> = { [K in keyof F]: F[K] extends { hidden: true } ? never : K }[keyof F] & string
export type NameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false> ? K : never
}[keyof F] &
  string
/** Names of fields of the type that need no permission to be read, and so may decide what a caller is told. */
export type OpenNameOfType<F, T extends FieldType> = {
  [K in keyof F]: F[K] extends Field<T, false, boolean, Writability, undefined> ? K : never
}[keyof F] &
  string
/** Names of fields that can be the label of a row: visible to all its readers, never null, and shown as text. */
export type LabelName<F> = {
  [K in keyof F]: F[K] extends Field<'string' | 'enum' | 'int' | 'long' | 'guid', false, false, Writability, undefined>
    ? K
    : never
}[keyof F] &
  string
export type TypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never

/** The type of a field's value, with null if the field may be null. */
export type ValueOf<One> =
  One extends Field<infer T, boolean, infer N, Writability, Permission | undefined, infer V>
    ? ValueOfType<T, V> | (N extends true ? null : never)
    : never

/** A row by property name, hidden columns included. */
export type RowOf<F> = { readonly [K in keyof F]: ValueOf<F[K]> }

/** Names of fields that a create request may set, and that an update may set. */
export type SettableOnCreate<F> = Writable<F, 'always' | 'onCreate'>
export type SettableOnUpdate<F> = Writable<F, 'always'>
/** Names of fields that only the service sets, without an id that the database or the service makes. */
export type ReadOnlyName<F> =
  | Writable<F, 'never'>
  | (F extends { readonly id: Field<'string'> } ? RuleMadeId<F> : never)

type RuleMadeId<F> = F extends { readonly id: { readonly writability: 'onCreate' } } ? never : 'id' & keyof F

type Writable<F, W extends Writability> = {
  [K in keyof F]: F[K] extends { writability: W } ? (K extends MadeId<F> ? never : K) : never
}[keyof F]

/** `id`, unless the request that creates a row names it or a rule does. */
type MadeId<F> = F extends { readonly id: { readonly writability: 'onCreate' } } ? never : 'id'
/** The same for rules, which name a string too. */
type MadeOfRule<F> = F extends { readonly id: Field<'string'> } ? never : MadeId<F>

/** Values of some columns of a row, without those that the database alone sets. */
export type PartialRowOf<F> = {
  readonly [K in Exclude<keyof F, 'id'> as F[K] extends Generated ? never : K]?: ValueOf<F[K]>
}

/** Values of the columns `Names` of a new row: a column that may be null or that has a default can be left out. */
export type NewRowOf<F, Names extends keyof F = Exclude<keyof F, MadeOfRule<F>>> = {
  readonly [K in Names as F[K] extends Generated | Dispensable ? never : K]: ValueOf<F[K]>
} & { readonly [K in Names as F[K] extends Generated ? never : F[K] extends Dispensable ? K : never]?: ValueOf<F[K]> }

interface Generated {
  readonly writability: 'generated'
}
type Dispensable = { readonly nullable: true } | { readonly filledByDatabase: true }

/** The members of a body by property name: undefined for one that was left out and that the database fills. */
export type MembersOf<F> = {
  readonly [K in keyof F]: F[K] extends { readonly filledByDatabase: true } ? ValueOf<F[K]> | undefined : ValueOf<F[K]>
}

export type ChildrenDefinition = TableChildren | ResourceChildren

/** Children in a table that is no resource. */
export interface TableChildren {
  readonly entity?: never
  readonly table: string
  /** As a property, `productId`, for the column `product_id`; a list, in the order of the key, for a composite key. */
  readonly foreignKey: string | readonly [string, ...string[]]
  /** Where the column has another name, or the columns have. */
  readonly foreignKeyColumn?: string | readonly [string, ...string[]]
  readonly fields: Fields
  /** The properties of a composite key of the child, which then has no field `id`. */
  readonly key?: readonly [string, string, ...string[]]
  /** `none`: the children have no version and are only read. */
  readonly rowVersion?: 'none'
  /** The column of the row version where it is not `row_version`: 8 bytes, BINARY(8) or a BLOB. */
  readonly rowVersionColumn?: string
  readonly store?: StoreName
  /** Rows of resources that they refer to, which `include=<children>.<name>` shows. */
  readonly references?: Readonly<Record<string, ChildReference>>
  /** Children of these, which are only read. Their foreign key holds the key of the child. */
  readonly children?: Readonly<Record<string, ChildrenDefinition>>
}

/** A reference of a child. */
export interface ChildReference {
  readonly to: string
  /** The field that holds the id of the other row; several, in the order of its key, for a composite key. */
  readonly via: string | readonly [string, ...string[]]
}

/** The rows of another resource that refer to a row, as its children. The children of that resource are shown in them. */
export interface ResourceChildren {
  readonly table?: never
  readonly fields?: never
  readonly entity: ResourceRows
  /** The property of that resource that holds the key of the root; a list, in the order of the key, for a composite key. */
  readonly foreignKey: string | readonly [string, ...string[]]
  /**
   * `root`: rules of the root may change and remove the rows, and the resource has no writes, actions and hooks. Without it
   * the rows are written as rows of their resource; a new root alone may bring some along.
   */
  readonly writtenBy?: 'root'
}

/** What `foreignKey` of children that are rows of a resource can be: no field that is in no answer. */
export type ToldForeignKeys<C> = {
  readonly [K in keyof C]: C[K] extends { readonly entity: ResourceRows<infer F> }
    ? { readonly foreignKey: ToldName<F> | readonly [ToldName<F>, ...ToldName<F>[]] }
    : C[K] extends { readonly children: infer Nested }
      ? { readonly children: ToldForeignKeys<Nested> }
      : unknown
}

/** An entity without the types of its fields has any names. */
type ToldName<F> = unknown extends F ? string : VisibleName<F>

declare const fields: unique symbol

/** The types of the fields of an entity, which are there for the compiler alone. */
export interface TypedFields<F> {
  readonly [fields]?: F
}

/** What children take of the entity whose rows they are. */
interface ResourceRows<F = Fields> extends TypedFields<F>, VersionedTable {
  readonly name: string
  readonly table: string
  readonly key: KeyColumns
  readonly columns: readonly Column[]
  readonly references: readonly Reference[]
  readonly children: readonly Children[]
  readonly hooks: { readonly all: readonly unknown[] }
  readonly overrides: { readonly create?: unknown }
}

/** Children that no write of the root touches: those of the other store, and those that have no version to compare. */
type Untouched = { readonly store: 'second' } | { readonly rowVersion: 'none' }

/**
 * Names of the children that a write can change: those of the second store are not in its transaction, of children
 * without a version no statement could tell which one was meant, and rows of a resource have writes of their own.
 */
export type ChildName<C> = {
  [K in keyof C]: C[K] extends Untouched
    ? never
    : C[K] extends { readonly entity: ResourceRows }
      ? C[K] extends { readonly writtenBy: 'root' }
        ? K
        : never
      : K
}[keyof C] &
  string

/** Names of the children that a new root can bring along. */
export type CreatedChildName<C> = { [K in keyof C]: C[K] extends Untouched ? never : K }[keyof C] & string

export type ChildFields<C, K> = K extends keyof C
  ? C[K] extends { readonly fields: infer F }
    ? F
    : C[K] extends { readonly entity: ResourceRows<infer F> }
      ? F
      : never
  : never
