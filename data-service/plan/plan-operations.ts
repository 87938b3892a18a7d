import type { NamedValues } from '../entity/action.js'
import type { Entity } from '../entity/entity.js'
import type { Field, Operand, Value } from '../entity/fields/field.js'
import type { SqlValues } from '../entity/define-operation.js'
import type { Procedure } from '../entity/procedure.js'
import type { RowsCall, RowsWanted } from '../entity/row-predicate.js'
import { readableByReference } from './authorize.js'
import { type Catalogue, isKeyedResource, type KeyedResource, totalOrder } from './model/catalogue.js'
import { keyOfId } from './parsing/keys.js'
import { planned, type PlanningContext, UNPAGED_LIMIT } from './planning.js'
import {
  allRows,
  type CallPlan,
  type GetPlan,
  intersectScopes,
  type PagePlan,
  type RowScope,
  type SortKey,
  type StatementPlan
} from './model/plans.js'
import { columnsProjection, selectedName } from './model/projection.js'
import { PREDICATE_WORDS, rowsAskedFor } from './row-scopes.js'
import type { LoadedRow } from './model/stores.js'

// What the operations of an application read and run.

/** The rows of an entity that an operation may find, with the columns that it gets. */
export interface FindableRows {
  readonly resource: KeyedResource
  readonly scope: RowScope
  readonly columns: Entity['columns']
}

/** Those that the caller could read by id. Throws what rejects that read. */
export function rowsOfCaller(entity: Entity, context: PlanningContext): FindableRows {
  const resource = context.planning.catalogue.keyedResource(entity.name, context.caller)
  const scope = readableByReference(resource, context)
  if (scope instanceof Error) throw scope
  const columns = entity.columns.filter(({ name, field }) => !field.hidden && !resource.withheld.has(name))
  return { resource, scope, columns }
}

/** All of them, with hidden columns too. */
export function everyRow(entity: Entity, catalogue: Catalogue): FindableRows {
  const resource = catalogue.resources('gateway').find((one) => one.entity.name === entity.name)
  if (resource === undefined || !isKeyedResource(resource))
    throw new TypeError(`${entity.name} is no entity of the application with a key`)
  return { resource, scope: allRows, columns: entity.columns }
}

/** A query of an operation, without the types of its names. */
export interface UntypedRowQuery {
  readonly where?: (words: UntypedWords) => RowsWanted
  readonly sort?: readonly string[]
  readonly limit?: number
}

type UntypedWords = Pick<RowsCall<never, never>, 'anyOf' | 'allOf'> & Pick<typeof PREDICATE_WORDS, 'where'>

/** One page of rows. Throws TypeError for names that the entity does not have, and RangeError for a limit beyond 1000. */
export function planFound(
  { resource, scope, columns }: FindableRows,
  { where, sort = [], limit = UNPAGED_LIMIT }: UntypedRowQuery,
  { withTotal }: { readonly withTotal: boolean }
): PagePlan {
  const { entity } = resource
  if (!Number.isInteger(limit) || limit < 1 || limit > UNPAGED_LIMIT)
    throw new RangeError(`limit is a whole number from 1 to ${UNPAGED_LIMIT}, not ${limit}`)
  const wanted = where === undefined ? allRows : rowsAskedFor(where(PREDICATE_WORDS), entity)
  const keys = sort.map((name): SortKey => {
    const column = columns.find((one) => one.name === name.replace(/^-/, ''))
    if (column === undefined) throw new TypeError(`${entity.name} has no ${name} to sort by`)
    return { path: { through: null, column }, descending: name.startsWith('-') }
  })
  return planned({
    operation: 'paged',
    entity,
    scope: intersectScopes(scope, wanted),
    projection: columnsProjection(columns),
    references: [],
    manyToMany: [],
    children: [],
    conditions: [],
    sort: totalOrder(keys, entity),
    limit,
    start: { kind: 'offset', offset: 0 },
    withTotal
  } as const)
}

/** The row with the id. Throws TypeError for an id that the entity cannot have. */
export function planFoundRow({ resource, scope, columns }: FindableRows, id: Operand): GetPlan {
  const { entity } = resource
  return planned({
    operation: 'get',
    entity,
    scope,
    key: keyOfId(id, entity),
    projection: columnsProjection(columns),
    references: [],
    manyToMany: [],
    children: []
  } as const)
}

/** A row by property name. */
export function foundRow(
  { projection }: Pick<PagePlan, 'projection'>,
  { columns }: FindableRows
): (row: LoadedRow) => NamedValues {
  const places = columns.map(({ name }): [string, number] => {
    const at = projection.selected.findIndex((one) => selectedName(one) === name)
    if (at < 0) throw new TypeError(`${name} was not selected`)
    return [name, at]
  })
  return ({ values }) => Object.fromEntries(places.map(([name, at]): [string, Value] => [name, values[at] ?? null]))
}

/** Rows of one SELECT of an application's own, and of one procedure. */
const MAX_SELECTED = 10_000

/** A statement of an application's own with its bound values. Throws TypeError for a text of the other kind. */
export function planStatement(
  kind: 'select' | 'change',
  sql: string,
  { values, columns = {} }: { readonly values: SqlValues; readonly columns?: Readonly<Record<string, Field>> }
): StatementPlan {
  const isSelect = /^\s*(?:SELECT|WITH)\b/i.test(sql)
  if (isSelect !== (kind === 'select'))
    throw new TypeError(isSelect ? 'run is for statements that change rows' : 'select is for a SELECT')
  return planned({
    sql,
    values: new Map(Object.entries(values).map(([name, value]) => [name, typedValue(value, name)])),
    columns: Object.values(columns),
    maxRows: MAX_SELECTED
  })
}

/** The call of a procedure. Throws TypeError for one that is not declared, and for a parameter without a value. */
export function planCall(procedures: readonly Procedure[], name: string, values: NamedValues): CallPlan {
  const procedure = procedures.find((one) => one.name === name)
  if (procedure === undefined) throw new TypeError(`${name} is none of the \`procedures\` of the operation`)
  return planned({
    procedure: name,
    parameters: procedure.parameters.map(({ name: parameter, field }) => {
      const value = values[parameter]
      if (value === undefined) throw new TypeError(`the procedure ${name} lacks a value for ${parameter}`)
      return { field, value }
    }),
    columns: procedure.columns,
    maxRows: MAX_SELECTED
  })
}

function typedValue(value: SqlValues[string], name: string): { readonly field?: Field; readonly value: SqlScalar } {
  if (typeof value === 'object' && value !== null) {
    const [field, operand] = value
    return { field, value: operand }
  }
  if (typeof value === 'number' && !Number.isInteger(value))
    throw new TypeError(`${name} is no whole number: say [decimal(…), text]`)
  return { value }
}

type SqlScalar = Operand | bigint | null
