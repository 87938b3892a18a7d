import type { Children, Column, Entity } from '../entity/entity.js'
import type { RowVersion } from '../entity/row-version.js'
import type { Operand, Value } from '../entity/value.js'
import type { Condition } from './condition.js'
import type { Planned } from './read-plan.js'
import type { RowScope } from './scope.js'

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
export type FindUniquePlan = Planned<{
  readonly entity: Entity
  readonly column: Column
  readonly value: Operand
}>

/**
 * The rows of a resource that refer to one row by a column, with children of theirs. They stay as they are; that none is
 * added is up to a lock on the row that they refer to.
 */
export type FindReferringPlan = Planned<{
  readonly entity: Entity
  readonly children: readonly Children[]
  readonly column: Column
  readonly id: Operand
  /** No more than 1000. */
  readonly most: number
}>
