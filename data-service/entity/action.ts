import type { Permission } from './access.js'
import type { Children, Column } from './column.js'
import type { Refusal } from './refuse.js'
import type { Operand, Value } from './value.js'

/** A guarded action as the service works with it: `PUT /{resource}/{id}/{name}`. */
export interface Action {
  readonly name: string
  /** One sentence for people. */
  readonly description: string
  /** Needed besides the write access of the resource. */
  readonly permission: Permission | undefined
  /** State the row must be in, part of the UPDATE's match condition; any other is 422 `state.invalid`. */
  readonly required: readonly { readonly column: Column; readonly anyOf: readonly Operand[] }[]
  /** Members of the body. */
  readonly input: readonly Column[]
  /** The child whose version the body must carry (contract.md section 5, child precondition). */
  readonly guardedChild: GuardedChild | undefined
  /** Children to load under lock with the root. */
  readonly loads: readonly Children[]
  /** What the action does, worked out within the transaction and under lock. */
  readonly change: (call: ActionCall) => Outcome | Promise<Outcome>
}

export interface GuardedChild {
  readonly children: Children
  /** Body member with the child's id, `variantId`. */
  readonly idMember: string
  /** Body member with the child's version, `variantRowVersion`. */
  readonly versionMember: string
}

/** A row by property name. */
export type NamedValues = Readonly<Record<string, Value>>

/** What an action or a creation knows. Values are as in value.ts. */
export interface ActionCall {
  /** The row under lock, hidden columns included. */
  readonly root: NamedValues
  /** Those of `loads`, by navigation name, in order of id. */
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
  /** The child whose version the body carried. */
  readonly child: NamedValues | undefined
  readonly input: NamedValues
  readonly lookUp: LookUp
  readonly lookUpBy: LookUpBy
  readonly lookUpWhole: LookUpWhole
  readonly lookUpAll: LookUpAll
  /** `2026-01-31T08:00:00.000Z`. */
  readonly now: string
  /** 12 random letters and digits, for numbers that people read out. */
  readonly newCode: () => string
}

/** What the creation of a row knows: the body's values and children, as validated. */
export interface CreationCall extends Omit<ActionCall, 'root' | 'children' | 'child'> {
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
}

/**
 * Rows of any resource, or of one of its child collections (`'products.variants'`), by id within the transaction.
 * Ids without a row are absent from the answer.
 */
export type LookUp = (rows: string, ids: readonly Operand[]) => Promise<ReadonlyMap<Operand, NamedValues>>

/** One root of any resource with its children of the primary store, under lock until the transaction ends. */
export type LookUpWhole = (resource: string, id: Operand) => Promise<WholeRow | undefined>

export interface WholeRow {
  readonly root: NamedValues
  /** By navigation name, in order of id. */
  readonly children: Readonly<Record<string, readonly NamedValues[]>>
}

/**
 * The row of a resource whose unique `property` is the value, in the eyes of the column: letter case makes no
 * difference, so the row may write it another way.
 */
export type LookUpBy = (resource: string, property: string, value: Operand) => Promise<NamedValues | undefined>

/**
 * Every row of a resource that refers to a row by `property`, which is that of one of its references: in order of id,
 * with their children of the primary store. All of it is under lock, the row that they refer to as well, so until the
 * transaction ends none is added, changed or deleted. More than 1000 are refused, 422 `state.invalid`.
 */
export type LookUpAll = (resource: string, property: string, id: Operand) => Promise<readonly WholeRow[]>

export type Outcome = Change | Refusal

/** What a write changes. The root's version advances whatever is in it. */
export interface Change {
  readonly set?: NamedValues
  /** By navigation name. */
  readonly children?: Readonly<Record<string, ChildChanges>>
  /** Other roots to create in the same transaction. */
  readonly create?: readonly NewRoot[]
}

export interface ChildChanges {
  readonly insert?: readonly NamedValues[]
  readonly update?: readonly { readonly id: Operand; readonly set: NamedValues }[]
  readonly remove?: readonly Operand[]
}

export interface NewRoot {
  readonly resource: string
  readonly values: NamedValues
  readonly children?: Readonly<Record<string, readonly NamedValues[]>>
}
