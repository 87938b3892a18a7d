import type { Children, Column, Entity } from '../entity/entity.js'
import { firstRowVersion, nextRowVersion, type RowVersion } from '../entity/row-version.js'
import type { Operand, Value } from '../entity/value.js'
import { completeRow } from './assignments.js'
import type { Resource } from './catalogue.js'
import type { Condition } from './condition.js'
import { planned } from './planning.js'
import type { GetPlan } from './read-plan.js'
import { allRows, type RowScope } from './scope.js'
import type {
  ChildPlan,
  DeletePlan,
  FindPlan,
  FindReferringPlan,
  FindUniquePlan,
  InsertPlan,
  LockPlan,
  NewChild,
  UpdatePlan
} from './write-plan.js'
import type { LockedRow, StoredRow } from './write-store.js'

/** Randomness for what is new, passed in. */
export interface Makers {
  readonly randomBytes: (size: number) => Buffer
  readonly newGuid: () => string
}

type Values = ReadonlyMap<Column, Value>

export const planLock = (of: {
  readonly entity: Entity
  readonly id: Operand
  readonly scope: RowScope
  readonly children: readonly Children[]
}): LockPlan => planned(of)

/** Fills in defaults, nulls, ids and first versions. */
export function planInsert(
  entity: Entity,
  row: {
    readonly values: Values
    readonly children: readonly { readonly children: Children; readonly rows: readonly Values[] }[]
  },
  makers: Makers
): InsertPlan {
  return planned({
    entity,
    values: completeRow(entity.columns, row.values, makers.newGuid),
    version: firstRowVersion(makers.randomBytes),
    children: row.children.map(({ children, rows }) => ({
      children,
      rows: rows.map((values) => newChild(children, values, makers))
    }))
  })
}

/** The version under lock is one that the caller expected, and stays part of the match condition. */
export function planUpdate(
  entity: Entity,
  of: {
    readonly id: Operand
    readonly scope: RowScope
    readonly locked: LockedRow
    readonly required: readonly Condition[]
    readonly values: Values
  }
): UpdatePlan {
  const { id, scope, locked, required, values } = of
  return planned({
    entity,
    id,
    scope,
    expected: [locked.version],
    required,
    values,
    version: nextRowVersion(locked.version)
  })
}

export const planDelete = (
  entity: Entity,
  of: { readonly id: Operand; readonly scope: RowScope; readonly expected: DeletePlan['expected'] }
): DeletePlan => planned({ entity, ...of })

interface ChildOf {
  readonly children: Children
  readonly rootId: Operand
}

export function planChildInsert({ children, rootId }: ChildOf, values: Values, makers: Makers): ChildPlan {
  return planned({ kind: 'insert', children, rootId, row: newChild(children, values, makers) } as const)
}

export function planChildUpdate({ children, rootId }: ChildOf, locked: StoredRow, values: Values): ChildPlan {
  const version = nextRowVersion(locked.version)
  const expected: readonly [RowVersion] = [locked.version]
  return planned({ kind: 'update', children, rootId, id: idOf(locked), expected, values, version } as const)
}

export function planChildDelete({ children, rootId }: ChildOf, locked: StoredRow): ChildPlan {
  const expected: readonly [RowVersion] = [locked.version]
  return planned({ kind: 'delete', children, rootId, id: idOf(locked), expected } as const)
}

export const planFind = (entity: Entity, children: Children | null, ids: readonly Operand[]): FindPlan =>
  planned({ entity, children, ids })

/** A column that is not unique is a mistake of the entity file: a TypeError. */
export function planFindUnique(entity: Entity, column: Column, value: Operand): FindUniquePlan {
  if (!column.field.unique) throw new TypeError(`${entity.name}.${column.name} is not unique`)
  return planned({ entity, column, value })
}

export const planFindReferring = (of: {
  readonly entity: Entity
  readonly children: readonly Children[]
  readonly column: Column
  readonly id: Operand
  readonly most: number
}): FindReferringPlan => planned(of)

/** The full DTO of a row that was just written, whoever may read it. */
export function planWritten({ entity, projections }: Resource, id: Operand): GetPlan {
  return planned({
    operation: 'get',
    entity,
    id,
    scope: allRows,
    projection: projections.whole({ references: false, children: false }),
    references: [],
    children: []
  } as const)
}

function newChild({ columns }: Children, values: Values, makers: Makers): NewChild {
  return { values: completeRow(columns, values, makers.newGuid), version: firstRowVersion(makers.randomBytes) }
}

function idOf({ values }: StoredRow): Operand {
  const id = values.get('id')
  if (id === undefined || id === null || Buffer.isBuffer(id)) throw new TypeError('a stored row has no id')
  return id
}
