import type { Children, KeyedEntity } from '../../data-service/entity/entity.js'
import type { RowVersion } from '../../data-service/entity/fields/row-version.js'
import {
  allRows,
  type ChildPlan,
  type DeletePlan,
  type InsertPlan,
  type UpdatePlan,
  type WriteScope
} from '../../data-service/plan/model/plans.js'
import type { UnitOfWork } from '../../data-service/plan/model/stores.js'
import type { Resource } from '../../data-service/plan/model/catalogue.js'
import { planDelete, planInsert, planWritten, type RandomSource } from '../../data-service/plan/plan-writes.js'

// source.md, "Guarded writes": a null token is never accepted by the persistence layer, and there is no value that means
// "skip the check".
declare const entity: KeyedEntity
declare const version: RowVersion
declare const unit: UnitOfWork
declare const update: UpdatePlan
declare const scope: WriteScope
declare const resource: Resource
declare const random: RandomSource
declare const children: Children
const values = new Map()
const shape = { entity, key: [1], scope, required: [], values }

// @ts-expect-error not made by the planner
export const unplanned: UpdatePlan = { ...shape, expected: [version] }
// @ts-expect-error nor is a new row
export const insert: InsertPlan = { entity, scope, values, version, children: [] }

// @ts-expect-error no version is none that is expected
export const none: UpdatePlan['expected'] = []
// @ts-expect-error null is no version
export const nothing: UpdatePlan['expected'] = [null]
// @ts-expect-error nor are bytes that nobody looked at
export const bytes: UpdatePlan['expected'] = [Buffer.alloc(8)]
// @ts-expect-error an update is never unconditional
export const unconditional: UpdatePlan['expected'] = 'unconditional'
// @ts-expect-error nor is one of a child
export const child: Extract<ChildPlan, { kind: 'update' }>['expected'] = 'unconditional'
// @ts-expect-error nor is the removal of a child
export const removed: Extract<ChildPlan, { kind: 'delete' }>['expected'] = []
// @ts-expect-error a delete says so in so many words
export const silent = planDelete({ entity, key: [1], scope, required: [] })
// @ts-expect-error whose rows they are is never left out
export const unscoped = planDelete({ entity, key: [1], expected: 'unconditional', required: [] })
// @ts-expect-error nor of a new row
export const unscopedRow = planInsert(entity, { values, children: [] }, random)
// @ts-expect-error nor of new rows that come with it
export const unscopedRows = planInsert(entity, { scope, values, children: [{ children, rows: [] }] }, random)
// @ts-expect-error nor of the answer
export const unscopedAnswer = planWritten(resource, [1])
// @ts-expect-error a scope of reads says nothing of the row as it will be
export const scopeOfReads = planDelete({ entity, key: [1], scope: allRows, expected: 'unconditional', required: [] })
// @ts-expect-error only the planner makes a scope of writes
export const scopeByHand: WriteScope = { before: allRows, after: allRows, shown: allRows }

/** Controls: what is planned does run, and what is meant can be said. */
export const run = (): Promise<boolean> => unit.update(update)
export const known: UpdatePlan['expected'] = [version]
export const spelledOut: DeletePlan = planDelete({
  entity,
  key: [1],
  scope,
  expected: 'unconditional',
  required: []
})
