import type { Field, FieldType } from './field.js'
import type { Value } from './value.js'

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
