import type { Action } from '../entity/action.js'
import type { Children, Column, Entity } from '../entity/entity.js'
import { firstRowVersion, nextRowVersion, type Operand, type RowVersion, type Value } from '../entity/field.js'
import { completeRow } from './body.js'
import type { Resource } from './catalogue.js'
import { planned } from './planning.js'
import {
  allRows,
  type ChildPlan,
  type Condition,
  type DeletePlan,
  type FindPlan,
  type FindReferencingPlan,
  type FindByUniquePlan,
  type GetPlan,
  type InsertPlan,
  type LockPlan,
  type NewChild,
  type RowScope,
  type UpdatePlan
} from './plans.js'
import type { StoredRow, Versioned } from './stores.js'

/** Randomness for ids and versions, passed in so that tests can know it. */
export interface RandomSource {
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

/** A new root with its children. Fills in defaults, nulls, ids and first versions. */
export function planInsert(
  entity: Entity,
  row: {
    readonly values: Values
    readonly children: readonly { readonly children: Children; readonly rows: readonly Values[] }[]
  },
  random: RandomSource
): InsertPlan {
  return planned({
    entity,
    values: completeRow(entity.columns, row.values, random.newGuid),
    version: entity.versioned ? firstRowVersion(random.randomBytes) : null,
    children: row.children.map(({ children, rows }) => ({
      children,
      rows: rows.map((values) => newChild(children, values, random))
    }))
  })
}

/** The caller has checked that the version of the locked row is expected; it is part of the match condition too. */
export function planUpdate(
  entity: Entity,
  of: {
    readonly id: Operand
    readonly scope: RowScope
    readonly locked: Versioned<StoredRow>
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

export function planChildInsert({ children, rootId }: ChildOf, values: Values, random: RandomSource): ChildPlan {
  return planned({ kind: 'insert', children, rootId, row: newChild(children, values, random) } as const)
}

export function planChildUpdate(
  { children, rootId }: ChildOf,
  locked: Versioned<StoredRow>,
  values: Values
): ChildPlan {
  const version = nextRowVersion(locked.version)
  const expected: readonly [RowVersion] = [locked.version]
  return planned({ kind: 'update', children, rootId, id: idOf(locked), expected, values, version } as const)
}

export function planChildDelete({ children, rootId }: ChildOf, locked: Versioned<StoredRow>): ChildPlan {
  const expected: readonly [RowVersion] = [locked.version]
  return planned({ kind: 'delete', children, rootId, id: idOf(locked), expected } as const)
}

export const planFind = (entity: Entity, children: Children | null, ids: readonly Operand[]): FindPlan =>
  planned({ entity, children, ids })

/** Throws TypeError for a column that is not unique, which is a mistake of the entity file. */
export function planFindByUnique(entity: Entity, column: Column, value: Operand): FindByUniquePlan {
  if (!column.field.unique) throw new TypeError(`${entity.name}.${column.name} is not unique`)
  return planned({ entity, column, value })
}

export const planFindReferencing = (of: {
  readonly entity: Entity
  readonly children: readonly Children[]
  readonly column: Column
  readonly id: Operand
  readonly maxRows: number
}): FindReferencingPlan => planned(of)

/** The full DTO of a row that was just written, whether or not the caller may read the resource. */
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

function newChild({ columns }: Children, values: Values, random: RandomSource): NewChild {
  return { values: completeRow(columns, values, random.newGuid), version: firstRowVersion(random.randomBytes) }
}

function idOf({ values }: StoredRow): Operand {
  const id = values.get('id')
  if (id === undefined || id === null || Buffer.isBuffer(id)) throw new TypeError('a stored row has no id')
  return id
}

/** The state that an action needs, as part of the match condition of its UPDATE. */
export function requiredConditions({ required }: Action): Condition[] {
  return required.map(({ column, anyOf }) => {
    const path = { through: null, column }
    const [only, ...others] = anyOf
    return only !== undefined && others.length === 0
      ? { path, comparison: 'equals', operands: [only] }
      : { path, comparison: 'in', operands: anyOf }
  })
}

/** Why the state of a row does not allow the action, in words; undefined where it does. */
export function wrongState(
  { name, required }: Action,
  of: { readonly resource: string; readonly values: ReadonlyMap<string, Value> }
): string | undefined {
  const wrong = required.find(({ column, anyOf }) => !anyOf.some((one) => one === of.values.get(column.name)))
  if (wrong === undefined) return undefined
  const { column, anyOf } = wrong
  const is = phrase(column, of.values.get(column.name) ?? null)
  return `The ${singular(of.resource)} is ${is}; ${name} needs it to be ${anyOf.map((one) => phrase(column, one)).join(' or ')}.`
}

/** `shipped` of a status; `active` and `not active` of `isActive`. */
function phrase({ name }: Column, value: Operand | Value): string {
  if (typeof value !== 'boolean') return value === null ? `without ${name}` : String(value)
  const words = name.replace(/^is(?=[A-Z])/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${value ? '' : 'not '}${words.trim()}`
}

/** `purchase order` of `purchase-orders`, `category` of `categories`. */
function singular(resource: string): string {
  return resource.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}
