import type { Caller } from '../../data-service/entity/caller.js'
import type { Entity, KeyedEntity } from '../../data-service/entity/entity.js'
import type { Operand } from '../../data-service/entity/fields/field.js'
import type { Catalogue } from '../../data-service/plan/model/catalogue.js'
import {
  allRows,
  type ColumnCondition,
  type Condition,
  type GetPlan,
  type ListPlan,
  type PagePlan,
  type Projection,
  type TotalsPlan
} from '../../data-service/plan/model/plans.js'
import type { ReadStore } from '../../data-service/plan/model/stores.js'
import { inScope, inScopesOf, keyIs } from '../../data-service/sql/entity-rows/statements/conditions.js'
import { LoadedPage } from '../../data-service/sql/entity-rows/loaded-page.js'
import type { Source } from '../../data-service/sql/entity-rows/navigations.js'
import type { Statements } from '../../data-service/sql/entity-rows/statements/statements.js'
import type { ReadSession } from '../../data-service/sql/engines/sessions.js'
import type { SqlDialect } from '../../data-service/sql/engines/statement.js'

// Only data-service/plan makes plans, and only plans become SQL: whoever writes one down elsewhere, scope and all, does
// not compile without a cast, which reviews look for.
declare const entity: KeyedEntity
declare const projection: Projection
declare const store: ReadStore
const shape = { entity, projection, scope: allRows, references: [], manyToMany: [], children: [] }

// @ts-expect-error not made by the planner
export const list: ListPlan = { ...shape, operation: 'list', limit: 1000 }
// @ts-expect-error not made by the planner
export const get: GetPlan = { ...shape, operation: 'get', id: 1 }
const paging = { conditions: [], sort: [], limit: 10, offset: 0, withTotal: true }
// @ts-expect-error not made by the planner
export const page: PagePlan = { ...shape, ...paging, operation: 'paged' }

// @ts-expect-error not made by the planner
export const totals: TotalsPlan = { ...shape, ...paging, operation: 'totals', dimensions: [], measures: [] }

export const unplanned = (signal: AbortSignal): Promise<unknown> =>
  // @ts-expect-error the store runs plans alone
  store.get({ ...shape, operation: 'get', id: 1 }, signal)

declare const perhapsKeyless: Entity
// @ts-expect-error a plan by id of an entity that may have no key
export const byIdWithoutKey: GetPlan['entity'] = perhapsKeyless

declare const planned: ListPlan
/** Control: what the planner made does run. */
export const run = (signal: AbortSignal): Promise<unknown> => store.list(planned, signal)
// @ts-expect-error a plan of one operation is none of another
export const another = (signal: AbortSignal): Promise<unknown> => store.page(planned, signal)
// @ts-expect-error a scope is one of the two that are spelled out
export const unscoped: ListPlan['scope'] = {}
// @ts-expect-error conditions that are none do not stand for every row
export const everything: ListPlan['scope'] = { kind: 'rows-where', conditions: [] }

declare const session: ReadSession
declare const source: Source
declare const dialect: SqlDialect
declare const wanted: GetPlan
const key = keyIs(entity.key, wanted.key)
/** Control: rows are loaded by conditions of which the scope is a part. */
export const scoped = LoadedPage.load(session, source, {
  plan: wanted,
  cut: { conditions: inScope(key, wanted.scope), sort: [] }
})
declare const statements: Statements
declare const added: TotalsPlan
/** Control: totals are of rows within the scope. */
export const scopedTotals = statements.totals({ ...added, conditions: inScope(added.conditions, added.scope) })
// @ts-expect-error totals of everybody
export const totalsOfEverybody = statements.totals(added)
// @ts-expect-error rows of everybody
export const ofEverybody = LoadedPage.load(session, source, { plan: wanted, cut: { conditions: key, sort: [] } })
/** Control: rows of several callers, each with its scope. */
export const ofSeveral = inScopesOf(entity.key, [wanted, wanted], dialect)
// @ts-expect-error a row whose caller's scope was left out
export const ofNoCaller = inScopesOf(entity.key, [wanted, { key: wanted.key }], dialect)

declare const path: ColumnCondition['path']
/** Control: as many operands as the operator takes. */
export const compared: readonly [Condition, ...Condition[]] = [
  { path, comparison: 'equals', operands: [1] },
  { path, comparison: 'between', operands: [1, 2] },
  { path, comparison: 'in', operands: [1, 2, 3] }
]
/** Control: conditions joined by OR and AND. */
export const joined: Condition = { anyOf: [{ allOf: compared }, { path, comparison: 'isEmpty', operands: [] }] }
// @ts-expect-error conditions that are none would match every row
export const nothing: Condition = { anyOf: [] }
// @ts-expect-error a list is no operand of a comparison with one value
export const listed: Condition = { path, comparison: 'equals', operands: [1, 2] as readonly Operand[] }
// @ts-expect-error between takes two operands
export const half: Condition = { path, comparison: 'between', operands: [1] }

declare const catalogue: Catalogue
declare const caller: Caller
/** Control: a resource is one as a caller sees it. */
export const resource = catalogue.resource('things', caller)
// @ts-expect-error a resource of nobody, which could hold columns that the caller may not see
export const ofNobody = catalogue.resource('things')
