import type { Action } from '../../data-service/entity/action.js'
import type { Children, KeyedEntity } from '../../data-service/entity/entity.js'
import type { Column } from '../../data-service/entity/fields/columns.js'
import type { WireValue } from '../oracle/wire-value.js'
import { OWNERS } from './callers.js'
import { madeInput, madeOf, madeValue, type Members, type Values } from './made-values.js'
import type { MadeRow, RowMaker } from './row-maker.js'
import { ownerColumn, type Rule, type States } from './rule.js'

/** A create that is in order, for a row of the owner; the owner is named where `named`. */
export async function createBody(
  maker: RowMaker,
  entity: KeyedEntity,
  { owner, named }: { readonly owner: number; readonly named: boolean }
): Promise<Members> {
  const settable = entity.columns.filter((column) => isNamedOnCreate(column))
  const body: Record<string, unknown> = await membersOf(maker, entity, { columns: settable, owner })
  const column = ownerColumn(maker.ruleOf(entity))
  if (column !== undefined && column !== 'id') {
    if (named) body[column] = owner
    else delete body[column]
  }
  for (const { children } of entity.creation.children) body[children.name] = [await childBody(maker, entity, children)]
  return { ...body, ...madeOf(maker.valuesOf(entity).create, maker.next()) }
}

/** Whether the body of a create may have the column: an `id` only where it says so. */
function isNamedOnCreate({ name, field }: Column): boolean {
  if (field.preset !== undefined || isForSome(field)) return false
  return field.writability === 'onCreate' || (name !== 'id' && field.writability === 'always')
}

/** Whether the body of a PUT may hold the column. */
export function isSetByUpdate({ name, field }: Column): boolean {
  return name !== 'id' && field.writability === 'always' && !isForSome(field)
}

/** Whether the column takes a permission to write and may be left out, so that a body of any writer does. */
function isForSome({ writableBy, nullable, defaultTo }: Column['field']): boolean {
  return writableBy !== undefined && (nullable || defaultTo !== undefined)
}

/** A PUT that is in order. */
export async function updateBody(maker: RowMaker, entity: KeyedEntity): Promise<Members> {
  const settable = entity.columns.filter(isSetByUpdate)
  return {
    ...(await membersOf(maker, entity, { columns: settable, owner: OWNERS[0] })),
    ...madeOf(maker.valuesOf(entity).update, maker.next())
  }
}

/** What an action takes of this row: the first of the children that it names, rows that exist, small amounts. */
export async function actionBody(
  maker: RowMaker,
  entity: KeyedEntity,
  of: { action: Action; row: MadeRow }
): Promise<Members> {
  const { action, row } = of
  const body: Record<string, unknown> = {}
  for (const column of action.input) {
    if (column.field.nullable && !column.field.requiredNullable) continue
    const child = childNamed(row, column.name)
    body[column.name] =
      child?.values['id'] ??
      (await referredAnywhere(maker, entity, column)) ??
      inBody(column, madeInput(column, maker.next()))
    if (child !== undefined && action.guardedChild?.idMember === column.name) {
      body[action.guardedChild.versionMember] = child.version
    }
  }
  return { ...body, ...madeOf(maker.valuesOf(entity).actions?.[action.name], maker.next()) }
}

/** An id that a column of this name holds in the table of the entity or in one of its children's. */
async function referredAnywhere(maker: RowMaker, entity: KeyedEntity, column: Column): Promise<WireValue | undefined> {
  const own = await maker.referred(entity, column, OWNERS[0])
  if (own !== undefined) return own
  for (const children of entity.children) {
    const found = children.store === 'primary' ? await maker.referredByChild(entity, children, column) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** The first of the children that `variantId` names one of. */
function childNamed({ children }: MadeRow, name: string): MadeRow | undefined {
  const singular = /^(.+)Id$/.exec(name)?.[1]
  if (singular === undefined) return undefined
  const found = Object.entries(children).find(([plural]) => plural === `${singular}s` || plural === `${singular}es`)
  return found?.[1][0]
}

async function membersOf(
  maker: RowMaker,
  entity: KeyedEntity,
  { columns, owner }: { readonly columns: readonly Column[]; readonly owner: number }
): Promise<Record<string, unknown>> {
  const n = maker.next()
  const body: Record<string, unknown> = {}
  for (const column of columns) {
    body[column.name] = (await maker.referred(entity, column, owner)) ?? inBody(column, madeValue(column, n))
  }
  // A composite key of which every part refers to a row would otherwise be that of a row that is there.
  return columns.some((column) => entity.key.length > 1 && entity.key.includes(column))
    ? { ...body, ...(await maker.newKey(entity, owner)) }
    : body
}

async function childBody(maker: RowMaker, entity: KeyedEntity, children: Children): Promise<Record<string, unknown>> {
  const n = maker.next()
  const body: Record<string, unknown> = {}
  for (const column of children.columns) {
    if (!isNamedOnCreate(column) || column.field.nullable) continue
    body[column.name] = (await maker.referredByChild(entity, children, column)) ?? inBody(column, madeInput(column, n))
  }
  return body
}

/** A JSON value, which is a text among the values of a row, as it is in a body. */
function inBody({ field }: Column, value: WireValue): unknown {
  return field.type === 'json' && typeof value === 'string' ? (JSON.parse(value) as unknown) : value
}

/** A state that no action is meant for. */
const ELSEWHERE = 'elsewhere'

/** The state that an action needs, by property. */
export function neededState({ states }: Rule, { name }: Action): States {
  return states[name] ?? {}
}

/** Every state that any action of an entity is about, those that its actions can be in first; none without actions. */
export function statesOf(entity: KeyedEntity, rule: Rule): Values[] {
  const values = new Map<string, WireValue[]>()
  for (const action of entity.actions.values()) {
    for (const [name, wanted] of Object.entries(neededState(rule, action))) {
      values.set(name, [...(values.get(name) ?? []), ...wanted])
    }
  }
  let states: Values[] = [{}]
  for (const [name, wanted] of values) {
    const all =
      typeof wanted[0] === 'boolean' ? [true, false] : [...new Set([...wanted, ...elsewhere(entity, name, wanted)])]
    states = states.flatMap((state) => all.map((value) => ({ ...state, [name]: value })))
  }
  return states
}

/** A state in which a row can be deleted. */
export function deletableState({ deletable }: Rule): Values {
  return Object.fromEntries(Object.entries(deletable).map(([name, [first = null]]) => [name, first]))
}

/** Every state of one property in which a row cannot be deleted, whatever else it has; none without such a rule. */
export function undeletableStates(entity: KeyedEntity, rule: Rule): Values[] {
  return Object.entries(rule.deletable).flatMap(([name, allowed]) => {
    const known = statesOf(entity, rule).flatMap((state) => state[name] ?? [])
    const others = [...new Set([...known, ...elsewhere(entity, name, allowed)])].filter((one) => !allowed.includes(one))
    return others.map((value) => ({ ...deletableState(rule), [name]: value }))
  })
}

/** Values of a property that are none of these. */
function elsewhere({ columns }: KeyedEntity, name: string, values: readonly WireValue[]): WireValue[] {
  const field = columns.find((one) => one.name === name)?.field
  if (field?.type === 'bool') return [true, false].filter((one) => !values.includes(one))
  if (field?.type === 'enum') return field.words.filter((one) => !values.includes(one))
  if (field?.type === 'int') {
    const most = Math.max(...values.map(Number))
    return [most + 1, most + 100]
  }
  return [ELSEWHERE.slice(0, field?.maxLength ?? ELSEWHERE.length)].filter((one) => !values.includes(one))
}

/** Whether an action can be done in a state. */
export function suits(needed: States, state: Values): boolean {
  return Object.entries(needed).every(([name, wanted]) => wanted.includes(state[name] ?? null))
}

/** A state that suits an action, on top of what any row of the entity has. */
export function suitableState(entity: KeyedEntity, rule: Rule, action: Action): Values {
  const needed = neededState(rule, action)
  return statesOf(entity, rule).find((state) => suits(needed, state)) ?? {}
}
