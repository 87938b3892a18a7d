import type { Children, Column, Computed, Entity, Joined, Reference } from '../entity/entity.js'
import type { Operand, RowVersion, Value } from '../entity/field.js'
import type { Compared } from '../entity/operators.js'

/** Where a value lives: a column of the row itself, or of the row a reference leads to. */
export interface Path {
  readonly through: Reference | null
  readonly column: Column
}

/** One condition over a column. Client filters, row scopes and ids are all of this one type. */
export type Condition = Compared & { readonly path: Path }

export interface SortKey {
  readonly path: Path
  readonly descending: boolean
}

/**
 * The rows a caller may see: every one, in so many words, or those that meet all conditions. There is no empty scope
 * that could stand for either.
 */
export type RowScope = AllRows | RowsWhere

export interface AllRows {
  readonly kind: 'all-rows'
}

export interface RowsWhere {
  readonly kind: 'rows-where'
  readonly conditions: readonly [Condition, ...Condition[]]
}

export const allRows: AllRows = { kind: 'all-rows' }

/** The rows of both scopes (source.md: row-scope specifications combine by AND). */
export function bothScopes(one: RowScope, other: RowScope): RowScope {
  if (one.kind === 'all-rows') return other
  if (other.kind === 'all-rows') return one
  return { kind: 'rows-where', conditions: [...one.conditions, ...other.conditions] }
}

declare const planned: unique symbol

/** Only the functions of this folder make plans, and only plans become SQL (data-service/sql). */
export type Planned<Shape> = Shape & { readonly [planned]: true }

/** A property of the shaped row, in the order asked. */
export type ShapedProperty =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'computed'; readonly computed: Computed }
  | { readonly kind: 'joined'; readonly joined: Joined; readonly column: Column }
  | { readonly kind: 'rowVersion' }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'children'; readonly children: Children }

/** A value that the statement selects. `id` is always among a projection's, since navigations and cursors need it. */
export type Selected =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'joined'; readonly joined: Joined; readonly column: Column }
  | { readonly kind: 'rowVersion' }

/** What of a row is selected and shown. One object a field set, out of the field-projection cache. */
export interface Projection {
  /** The same key always selects the same columns. */
  readonly key: string
  readonly selected: readonly Selected[]
  readonly shown: readonly ShapedProperty[]
}

/** References to load after the page is materialized, each with the rows of it that the caller may see. */
export interface PlannedReference {
  readonly reference: Reference
  readonly target: Entity
  readonly projection: Projection
  /** null: the caller may see none, and every one is null. */
  readonly scope: RowScope | null
}

export interface PlannedChildren {
  readonly children: Children
}

interface ReadShape {
  readonly entity: Entity
  readonly projection: Projection
  readonly scope: RowScope
  readonly references: readonly PlannedReference[]
  readonly children: readonly PlannedChildren[]
}

/** The first `limit` rows by id; one more is read to see whether rows were left out. */
export type ListPlan = Planned<ReadShape & { readonly operation: 'list'; readonly limit: number }>

export type PagePlan = Planned<
  ReadShape & {
    readonly operation: 'paged'
    readonly conditions: readonly Condition[]
    /** Total: ends in the id, ascending where it is not the sort column itself. */
    readonly sort: readonly SortKey[]
    readonly limit: number
    /** Rows before the page; at most 2^53-1, beyond which every page is past the end. */
    readonly offset: number
    readonly withTotal: boolean
  }
>

export type GetPlan = Planned<ReadShape & { readonly operation: 'get'; readonly id: Operand }>

/** Rows in batches by key out of one snapshot. */
export type ExportPlan = Planned<
  Omit<ReadShape, 'children' | 'references'> & {
    readonly operation: 'export'
    readonly conditions: readonly Condition[]
    readonly sort: readonly SortKey[]
    readonly limit: number
  }
>

export type LookupPlan = Planned<{
  readonly operation: 'lookup'
  readonly entity: Entity
  readonly scope: RowScope
  readonly conditions: readonly Condition[]
  readonly limit: number
}>

/** Versions that a write accepts, any of them. There is no empty one, and none that means "skip the check". */
export type ExpectedVersions = readonly [RowVersion, ...RowVersion[]]

/** Columns to write. */
export type Assignments = ReadonlyMap<Column, Value>

/** A row to hold under lock for the rest of the transaction, with the children an action looks at. */
export type LockPlan = Planned<{
  readonly entity: Entity
  readonly id: Operand
  readonly scope: RowScope
  readonly children: readonly Children[]
}>

/** A new root, its first version, and its children's rows. */
export type InsertPlan = Planned<{
  readonly entity: Entity
  readonly values: Assignments
  readonly version: RowVersion
  readonly children: readonly { readonly children: Children; readonly rows: readonly NewChild[] }[]
}>

export interface NewChild {
  readonly values: Assignments
  readonly version: RowVersion
}

/**
 * A guarded write of a root: id, scope, expected versions and required state are all in the match condition of its
 * UPDATE, which sets the next version whatever else it sets.
 */
export type UpdatePlan = Planned<{
  readonly entity: Entity
  readonly id: Operand
  readonly scope: RowScope
  readonly expected: ExpectedVersions
  readonly required: readonly Condition[]
  readonly values: Assignments
  readonly version: RowVersion
}>

/** A delete of a root with its children; `unconditional` where the caller sent no If-Match, or `*`. */
export type DeletePlan = Planned<{
  readonly entity: Entity
  readonly id: Operand
  readonly scope: RowScope
  readonly expected: ExpectedVersions | 'unconditional'
}>

/** A write of one child of a root that is under lock. The root's id is part of every match condition. */
export type ChildPlan = Planned<
  | { readonly kind: 'insert'; readonly children: Children; readonly rootId: Operand; readonly row: NewChild }
  | {
      readonly kind: 'update'
      readonly children: Children
      readonly rootId: Operand
      readonly id: Operand
      /** The version under lock, or those that the request named: part of the match condition. */
      readonly expected: ExpectedVersions
      readonly values: Assignments
      readonly version: RowVersion
    }
  | {
      readonly kind: 'delete'
      readonly children: Children
      readonly rootId: Operand
      readonly id: Operand
      readonly expected: ExpectedVersions
    }
>

/**
 * Rows of a resource, or of a child collection of one, by id: what an action may look up. No more than 1000. They stay
 * as they are for the rest of the transaction. A child's values also hold
 * the id of its root, under the name of the foreign key, `productId`.
 */
export type FindPlan = Planned<{
  readonly entity: Entity
  readonly children: Children | null
  readonly ids: readonly Operand[]
}>

/** The row of a resource that has the value in a unique column, compared as the column's uniqueness is. It stays too. */
export type FindByUniquePlan = Planned<{
  readonly entity: Entity
  readonly column: Column
  readonly value: Operand
}>

/**
 * The rows of a resource that refer to one row by a column, with children of theirs. They stay as they are; that none is
 * added is up to a lock on the row that they refer to.
 */
export type FindReferencingPlan = Planned<{
  readonly entity: Entity
  readonly children: readonly Children[]
  readonly column: Column
  readonly id: Operand
  /** No more than 1000. */
  readonly most: number
}>
