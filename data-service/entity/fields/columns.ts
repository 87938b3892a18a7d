import type { Field, FieldType, Value } from './field.js'
import type { VersionedTable } from './row-version.js'

/** A column of a table and the DTO property it is served as. */
export interface Column {
  /** DTO property, `categoryId`. */
  readonly name: string
  /** Column, `category_id`. */
  readonly column: string
  readonly field: Field
}

/** A property computed from columns of its own row: read-only, and it cannot be filtered, sorted or selected. */
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
  /** The first reference of the path. */
  readonly through: Reference
  /** Names of further references, each of the resource that the one before it leads to. */
  readonly further: readonly string[]
  /** Property of the entity that the path leads to. */
  readonly property: string
  readonly field: Field
  /** Whether callers who set the reference may so read the value of rows that they cannot read by id. */
  readonly showsUnseen: boolean
}

/** The columns of a key, or of a foreign key that refers to one, in the order of the key. */
export type KeyColumns = readonly [Column, ...Column[]]

/** The key of rows that nothing tells apart for sure, such as those of a view. */
export type NoKey = readonly Column[] & { readonly length: 0 }

/** A foreign key, served under `name` with `includeFKs`. */
export interface Reference {
  readonly name: string
  /** The referenced resource. */
  readonly to: string
  /** A column for each column of the key of that resource. */
  readonly via: KeyColumns
}

/**
 * Rows of another resource that rows of a link entity join with those of this one, served under `name` with
 * `includeChildren`. A row that several links lead to is there once.
 */
export interface ManyToMany {
  readonly name: string
  /** The link entity. */
  readonly through: string
  /** Its reference to this resource. */
  readonly from: string
  /** Its reference to the rows that are shown. */
  readonly to: string
  /** Properties of these rows by which they are ordered, ascending, before their id. */
  readonly sort: readonly string[]
}

/** Rows of the aggregate, served under `name` with `includeChildren`, in order of id. */
export interface Children extends VersionedTable {
  readonly name: string
  readonly table: string
  /** The resource whose rows they are too. undefined for rows of no resource. */
  readonly resource: string | undefined
  /**
   * Columns of the child table that hold the key of the row they belong to, the root or its child. Their names are those
   * of the foreign key as properties, `productId`, whether or not the child has such a property.
   */
  readonly foreignKey: KeyColumns
  /** The columns of its own key: `id`, or several columns, of which some may be properties in columns of the foreign key. */
  readonly key: KeyColumns
  /** Own columns, those of the key first. */
  readonly columns: readonly Column[]
  /** Of these columns. They are served where `include` names them, and by no flag. */
  readonly references: readonly Reference[]
  /** `second`: another database that cannot be joined. */
  readonly store: StoreName
  /** What writes of the root may do with them. `create`: insert them together with a new root. */
  readonly rootWrites: 'all' | 'create' | 'none'
  /** Children of these, of the same store, which are only read. */
  readonly children: readonly Children[]
}

/**
 * The properties that tell whose the rows are, of children that are the rows of a resource: those of its foreign key. Of
 * other children the navigation alone tells it.
 */
export function tellingColumns({ resource, columns, foreignKey }: Children): readonly Column[] {
  if (resource === undefined) return []
  return columns.filter(({ column }) => foreignKey.some((one) => one.column === column))
}

export type StoreName = 'primary' | 'second'
