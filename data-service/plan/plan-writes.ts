import type { Action, RequiredColumns } from '../entity/action.js'
import type { Children, Column, KeyedEntity, Reference } from '../entity/entity.js'
import { firstRowVersion } from '../entity/fields/row-version.js'
import type { Operand, Value } from '../entity/fields/field.js'
import type { RowKey } from '../entity/key.js'
import { completeRow } from './parsing/body.js'
import type { KeyedResource } from './model/catalogue.js'
import { planned } from './planning.js'
import {
  type ChildPlan,
  type ColumnCondition,
  type Condition,
  type CountOutsidePlan,
  type CountReferencingPlan,
  type DeletePlan,
  type ExpectedVersions,
  type FindPlan,
  type FindReferencingPlan,
  type FindByUniquePlan,
  type GetPlan,
  type InsertPlan,
  type LockAllPlan,
  type LockPlan,
  type LookPlan,
  type NewChild,
  type NewChildren,
  type RowScope,
  type UpdatePlan,
  type WriteScope
} from './model/plans.js'

/** Randomness for ids and versions, passed in so that tests can know it. */
export interface RandomSource {
  readonly randomBytes: (size: number) => Buffer
  readonly newGuid: () => string
}

type Values = ReadonlyMap<Column, Value>

interface RowInScope<Scope> {
  readonly entity: KeyedEntity
  readonly key: RowKey
  readonly scope: Scope
}

export const planLock = (of: RowInScope<RowScope> & { readonly children: readonly Children[] }): LockPlan => planned(of)

export const planLockAll = (
  of: Omit<RowInScope<RowScope>, 'key'> & { readonly keys: readonly RowKey[] }
): LockAllPlan => planned(of)

export const planLook = (of: RowInScope<RowScope>): LookPlan => planned(of)

/** The row with a value in a unique column: of its values this one and its key. */
export const planLookBy = (of: Omit<RowInScope<RowScope>, 'key'> & { readonly where: ColumnCondition }): LookPlan =>
  planned(of)

/** A new root with its children. Fills in defaults, nulls, ids and first versions. */
export function planInsert(
  entity: KeyedEntity,
  row: {
    readonly scope: WriteScope
    readonly values: Values
    readonly children: readonly (Pick<NewChildren, 'children' | 'scope'> & { readonly rows: readonly Values[] })[]
  },
  random: RandomSource
): InsertPlan {
  return planned({
    entity,
    scope: row.scope,
    values: completeRow(entity, row.values, random.newGuid),
    version: entity.versionColumn === undefined ? null : firstRowVersion(random.randomBytes),
    children: row.children.map(({ children, scope, rows }) => ({
      children,
      scope,
      rows: rows.map((values) => newChild(children, values, random))
    }))
  })
}

/** `expected` are the versions that the caller sent, never one that was read meanwhile. */
export const planUpdate = (
  of: RowInScope<WriteScope> & {
    readonly expected: ExpectedVersions
    readonly required: readonly Condition[]
    readonly values: Values
    readonly defaulted?: readonly Column[]
  }
): UpdatePlan => planned(of)

export const planDelete = (
  of: RowInScope<WriteScope> & { readonly expected: DeletePlan['expected']; readonly required: readonly Condition[] }
): DeletePlan => planned(of)

interface ChildOf {
  readonly children: Children
  readonly rootKey: RowKey
}

/** A child that exists. `expected`: the version that the caller sent, or that of the child as loaded under lock. */
interface StoredChild extends ChildOf {
  readonly key: RowKey
  readonly expected: ExpectedVersions
}

export function planChildInsert({ children, rootKey }: ChildOf, values: Values, random: RandomSource): ChildPlan {
  return planned({ kind: 'insert', children, rootKey, row: newChild(children, values, random) } as const)
}

export const planChildUpdate = (child: StoredChild, values: Values): ChildPlan =>
  planned({ kind: 'update', ...child, values } as const)

export const planChildDelete = (child: StoredChild): ChildPlan => planned({ kind: 'delete', ...child } as const)

export const planFind = (entity: KeyedEntity, children: Children | null, keys: readonly RowKey[]): FindPlan =>
  planned({ entity, children, keys })

/** Throws TypeError for a column that is not unique, which is a mistake of the entity file. */
export function planFindByUnique(entity: KeyedEntity, column: Column, value: Operand): FindByUniquePlan {
  if (!column.field.unique) throw new TypeError(`${entity.name}.${column.name} is not unique`)
  return planned({ entity, column, value })
}

export const planFindReferencing = (of: {
  readonly entity: KeyedEntity
  readonly children: readonly Children[]
  readonly reference: Reference
  readonly key: RowKey
  readonly maxRows: number
}): FindReferencingPlan => planned(of)

/** Throws TypeError for a column that the resource does not have, which is a mistake of the entity file. */
export function planCountReferencing(of: {
  readonly entity: KeyedEntity
  readonly reference: Reference
  readonly key: RowKey
  readonly where: Readonly<Record<string, readonly Operand[]>>
}): CountReferencingPlan {
  const { entity, where } = of
  const conditions = Object.entries(where).map(([name, anyOf]) => {
    const column = entity.columns.find((one) => one.name === name)
    if (column === undefined) throw new TypeError(`${entity.name} has no ${name}`)
    return hasOneOf(column, anyOf)
  })
  return planned({ ...of, where: conditions })
}

/** Counts the rows of a new root that are outside of the scope of their collection. */
export const planCountOutside = (
  entity: KeyedEntity,
  { children: { foreignKey }, scope }: Pick<NewChildren, 'children' | 'scope'>,
  key: RowKey
): CountOutsidePlan => planned({ entity, foreignKey, key, scope })

/** The full DTO of a row that was just written, where the write may leave it so and its caller sees it. */
export function planWritten(resource: KeyedResource, key: RowKey, { shown }: WriteScope): GetPlan {
  return planOfWritten(resource, { key, scope: shown, projection: resource.projections.whole(ROW_ALONE) })
}

/** The id of such a row, where the write may leave it so. */
export function planUnseen(resource: KeyedResource, key: RowKey, { after }: WriteScope): GetPlan {
  const id = resource.properties.get('id')
  if (id === undefined) throw new TypeError(`${resource.entity.name} has no id`)
  return planOfWritten(resource, { key, scope: after, projection: resource.projections.of([id]) })
}

const ROW_ALONE = { references: false, children: false } as const

function planOfWritten({ entity }: KeyedResource, row: Pick<GetPlan, 'key' | 'scope' | 'projection'>): GetPlan {
  return planned({
    operation: 'get',
    entity,
    ...row,
    references: [],
    manyToMany: [],
    children: []
  } as const)
}

function newChild(children: Children, values: Values, random: RandomSource): NewChild {
  return { values: completeRow(children, values, random.newGuid), version: firstRowVersion(random.randomBytes) }
}

/** The state that a write needs the row to be in, with the name of the write for people. */
export type RequiredState = Pick<Action, 'name' | 'required'>

/** The required state as part of the match condition of the UPDATE or DELETE. */
export function requiredConditions({ required }: RequiredState): Condition[] {
  return required.map(({ column, anyOf }) => hasOneOf(column, anyOf))
}

function hasOneOf(column: Column, anyOf: readonly Operand[]): ColumnCondition {
  const path = { through: null, column }
  const [only, ...others] = anyOf
  return only !== undefined && others.length === 0
    ? { path, comparison: 'equals', operands: [only] }
    : { path, comparison: 'in', operands: anyOf }
}

/** Why the state of a row does not allow the write, in words; undefined where it does. */
export function wrongState(
  { name, required }: RequiredState,
  of: { readonly resource: string; readonly values: ReadonlyMap<string, Value> }
): string | undefined {
  const wrong = required.find(({ column, anyOf }) => !anyOf.some((one) => one === of.values.get(column.name)))
  if (wrong === undefined) return undefined
  const is = phrase(wrong.column, of.values.get(wrong.column.name) ?? null)
  return `The ${singularName(of.resource)} is ${is}; ${name} needs it to be ${phrases(wrong)}.`
}

/** The state that a write needs, as a sentence. */
export function neededState({ name, required }: RequiredState, resource: string): string {
  return `A ${name} needs the ${singularName(resource)} to be ${required.map(phrases).join(' and ')}.`
}

function phrases({ column, anyOf }: RequiredColumns[number]): string {
  return anyOf.map((one) => phrase(column, one)).join(' or ')
}

/** `shipped` of a status; `active` and `not active` of `isActive`; `with reserved 5` of a number. */
function phrase({ name }: Column, value: Operand | Value): string {
  if (value === null) return `without ${name}`
  if (typeof value === 'number') return `with ${name} ${value}`
  if (typeof value !== 'boolean') return String(value)
  const words = name.replace(/^is(?=[A-Z])/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${value ? '' : 'not '}${words.trim()}`
}

/** `purchase order` of `purchase-orders`, `category` of `categories`. */
function singularName(resource: string): string {
  return resource.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}
