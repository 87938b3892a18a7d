import type { Action } from '../../data-service/entity/action.js'
import type { Entity } from '../../data-service/entity/entity.js'
import type { Column } from '../../data-service/entity/field.js'
import type { WireValue } from '../oracle/wire-value.js'
import { OWNERS } from './caller.js'
import { BODY_VALUES } from '../examples/every-entity/domain-values.js'
import { madeInput, madeValue } from './made-values.js'
import type { MadeRow, RowMaker } from './row-maker.js'
import { ruleOf } from './rule-of.js'
import { ownerColumn } from './rule.js'

export type Body = Readonly<Record<string, unknown>>

/** A create that is in order, for a row of the owner; the owner is named where `named`. */
export async function createBody(
  maker: RowMaker,
  entity: Entity,
  { owner, named }: { readonly owner: number; readonly named: boolean }
): Promise<Body> {
  const settable = entity.columns.filter(({ name, field }) => name !== 'id' && field.writability !== 'never')
  const body: Record<string, unknown> = await members(maker, entity, { columns: settable, owner })
  const column = ownerColumn(ruleOf(entity))
  if (column !== undefined && column !== 'id') {
    if (named) body[column] = owner
    else delete body[column]
  }
  for (const { children } of entity.creation.children) body[children.name] = [await childBody(maker, entity, children)]
  return { ...body, ...BODY_VALUES[`${entity.name} create`] }
}

/** A PUT that is in order. */
export async function updateBody(maker: RowMaker, entity: Entity): Promise<Body> {
  const settable = entity.columns.filter(({ name, field }) => name !== 'id' && field.writability === 'always')
  return {
    ...(await members(maker, entity, { columns: settable, owner: OWNERS[0] })),
    ...BODY_VALUES[`${entity.name} update`]
  }
}

/** What an action takes of this row: the first of the children that it names, rows that exist, small amounts. */
export async function actionBody(maker: RowMaker, entity: Entity, of: { action: Action; row: MadeRow }): Promise<Body> {
  const { action, row } = of
  const body: Record<string, unknown> = {}
  for (const column of action.input) {
    if (column.field.nullable && !column.field.requiredNullable) continue
    const child = childNamed(row, column.name)
    body[column.name] =
      child?.values['id'] ?? (await referredAnywhere(maker, entity, column)) ?? madeInput(column, maker.next())
    if (child !== undefined && action.guardedChild?.idMember === column.name) {
      body[action.guardedChild.versionMember] = child.version
    }
  }
  return { ...body, ...BODY_VALUES[`${entity.name}/${action.name}`] }
}

/** An id that a column of this name holds in the table of the entity or in one of its children's. */
async function referredAnywhere(maker: RowMaker, entity: Entity, column: Column): Promise<WireValue | undefined> {
  const own = await maker.referred(entity, column, OWNERS[0])
  if (own !== undefined) return own
  for (const { table, store } of entity.children) {
    const found = store === 'primary' ? await maker.referredByChild(entity, table, column) : undefined
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

async function members(
  maker: RowMaker,
  entity: Entity,
  { columns, owner }: { readonly columns: readonly Column[]; readonly owner: number }
): Promise<Record<string, WireValue>> {
  const n = maker.next()
  const body: Record<string, WireValue> = {}
  for (const column of columns) {
    body[column.name] = (await maker.referred(entity, column, owner)) ?? madeValue(column, n)
  }
  return body
}

async function childBody(
  maker: RowMaker,
  entity: Entity,
  { table, columns }: { readonly table: string; readonly columns: readonly Column[] }
): Promise<Record<string, WireValue>> {
  const n = maker.next()
  const body: Record<string, WireValue> = {}
  for (const column of columns) {
    if (column.name === 'id' || column.field.writability === 'never' || column.field.nullable) continue
    body[column.name] = (await maker.referredByChild(entity, table, column)) ?? madeInput(column, n)
  }
  return body
}
