import { createHash } from 'node:crypto'
import type { Children, Column, KeyedEntity, Reference } from '../../../../data-service/entity/entity.js'
import type { RowKey } from '../../../../data-service/entity/key.js'
import { asRowVersion, type RowVersion } from '../../../../data-service/entity/fields/row-version.js'
import type { Operand, Value } from '../../../../data-service/entity/fields/field.js'
import {
  allRows,
  type Assignments,
  type ChildPlan,
  type DeletePlan,
  type FindPlan,
  type FindReferencingPlan,
  type FindByUniquePlan,
  type InsertPlan,
  type LockPlan,
  type LookPlan,
  type NewChild,
  type NewChildren,
  type Planned,
  type StatementPlan,
  type RowScope,
  type UpdatePlan,
  type WriteScope
} from '../../../../data-service/plan/model/plans.js'

import type { CreateAtOnce, KeyClaim } from '../../../../data-service/plan/model/stores.js'
import { everything } from '../plan-by-hand.js'

type Shape<Plan> = Plan extends Planned<infer S> ? S : never

/** The one place of these tests that takes a shape for a plan: what stands before SQL is not under test here. */
function planned<Plan>(shape: Shape<Plan>): Plan {
  return shape as unknown as Plan
}

/** A version of eight bytes that ends in a number. */
export function version(number: number): RowVersion {
  return anyVersion(Buffer.from(number.toString(16).padStart(16, '0'), 'hex'))
}

export function anyVersion(bytes: Buffer): RowVersion {
  const made = asRowVersion(bytes)
  if (made === undefined) throw new Error('No version is empty')
  return made
}

export function children(entity: KeyedEntity, name: string): Children {
  const found = entity.children.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${entity.name} has no ${name}`)
  return found
}

export function assign(
  of: { readonly columns: readonly Column[] },
  values: Readonly<Record<string, Value>>
): Assignments {
  return new Map(
    Object.entries(values).map(([name, value]) => {
      const column = of.columns.find((one) => one.name === name)
      if (column === undefined) throw new Error(`No column ${name}`)
      return [column, value]
    })
  )
}

export function newChild(of: Children, values: Readonly<Record<string, Value>>, number = 1): NewChild {
  return { values: assign(of, values), version: version(number) }
}

/** A scope of writes with these rows before and after. */
export function writeScope(rows: RowScope): WriteScope {
  // The brand exists in the types only.
  return { before: rows, after: rows, shown: rows } as unknown as WriteScope
}

export function insertPlan(
  entity: KeyedEntity,
  values: Readonly<Record<string, Value>>,
  {
    children: collections = [],
    ...more
  }: Partial<Omit<Shape<InsertPlan>, 'children'>> & { readonly children?: readonly Omit<NewChildren, 'scope'>[] } = {}
): InsertPlan {
  const [scope, written] = [writeScope(allRows), assign(entity, values)]
  const all = collections.map((one) => ({ ...one, scope }))
  return planned<InsertPlan>({ entity, scope, values: written, version: version(1), children: all, ...more })
}

export function lockPlan(entity: KeyedEntity, id: Operand | RowKey, more: Partial<Shape<LockPlan>> = {}): LockPlan {
  return planned<LockPlan>({ entity, key: keyOf(id), scope: allRows, children: [], ...more })
}

export function lookPlan(entity: KeyedEntity, id: Operand | RowKey, more: Partial<Shape<LookPlan>> = {}): LookPlan {
  return planned<LookPlan>({ entity, key: keyOf(id), scope: allRows, ...more })
}

/** An idempotency key that is claimed for an hour. */
export const KEY: KeyClaim = {
  keyHash: createHash('sha256').update('key').digest(),
  fingerprint: createHash('sha256').update('body').digest(),
  now: 0,
  expiresAt: 3_600_000
}

/** A create in one round trip, told by an entry of its number. */
export function atOnce(claim: KeyClaim | undefined, insert: InsertPlan, rowId?: string): CreateAtOnce {
  const { entity } = insert
  const at = '2026-01-31T08:00:00.000Z'
  const entry = { at, subject: 'test', resource: entity.name, rowId, action: 'create', requestId: 'r-1' }
  return { claim, insert, entry, projection: everything(entity) }
}

export function ownStatement(sql: string): StatementPlan {
  return planned<StatementPlan>({ sql, values: new Map(), columns: [], maxRows: 1 })
}

export function updatePlan(
  entity: KeyedEntity,
  id: Operand | RowKey,
  values: Readonly<Record<string, Value>>,
  more: Partial<Shape<UpdatePlan>> = {}
): UpdatePlan {
  return planned<UpdatePlan>({
    entity,
    key: keyOf(id),
    scope: writeScope(allRows),
    expected: [version(1)],
    required: [],
    values: assign(entity, values),
    ...more
  })
}

export function deletePlan(
  entity: KeyedEntity,
  id: Operand | RowKey,
  more: Partial<Shape<DeletePlan>> = {}
): DeletePlan {
  return planned<DeletePlan>({
    entity,
    key: keyOf(id),
    scope: writeScope(allRows),
    expected: 'unconditional',
    required: [],
    ...more
  })
}

export function childPlan(shape: Shape<ChildPlan>): ChildPlan {
  return planned<ChildPlan>(shape)
}

export function findPlan(
  entity: KeyedEntity,
  ids: readonly (Operand | RowKey)[],
  of: Children | null = null
): FindPlan {
  return planned<FindPlan>({ entity, children: of, keys: ids.map(keyOf) })
}

export function findByUniquePlan(entity: KeyedEntity, property: string, value: Operand): FindByUniquePlan {
  return planned<FindByUniquePlan>({ entity, column: columnOf(entity, property), value })
}

export function findReferencingPlan(
  entity: KeyedEntity,
  property: string,
  { id, ...of }: { readonly id: Operand } & Partial<FindReferencingPlan>
): FindReferencingPlan {
  return planned<FindReferencingPlan>({
    entity,
    reference: referenceBy(entity, property),
    key: [id],
    children: [],
    maxRows: 1000,
    ...of
  })
}

function referenceBy(entity: KeyedEntity, property: string): Reference {
  const via = columnOf(entity, property)
  return entity.references.find((one) => one.via.includes(via)) ?? { name: property, to: entity.name, via: [via] }
}

function keyOf(id: Operand | RowKey): RowKey {
  return typeof id === 'object' ? id : [id]
}

function columnOf(entity: KeyedEntity, property: string): Column {
  const column = entity.columns.find(({ name }) => name === property)
  if (column === undefined) throw new Error(`No column ${property}`)
  return column
}
