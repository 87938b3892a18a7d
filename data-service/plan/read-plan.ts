import type { Children, Column, Computed, Entity, Joined, Reference } from '../entity/entity.js'
import type { Operand } from '../entity/value.js'
import type { Condition, SortKey } from './condition.js'
import type { RowScope } from './scope.js'

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
