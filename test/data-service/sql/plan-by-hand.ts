import type { RowKey } from '../../../data-service/entity/key.js'
import type { Column, KeyedEntity, Reference } from '../../../data-service/entity/entity.js'
import type { Operand } from '../../../data-service/entity/fields/field.js'
import type { Comparison } from '../../../data-service/entity/fields/operators.js'
import {
  allRows,
  type Condition,
  type ExportPlan,
  type GetPlan,
  type ListPlan,
  type LookupPlan,
  type PagePlan,
  type Path,
  type Planned,
  type Projection,
  type Selected,
  type SortKey
} from '../../../data-service/plan/model/plans.js'
import type { LoadedRow } from '../../../data-service/plan/model/stores.js'

type Shape<Plan> = Plan extends Planned<infer S> ? S : never

/** The one place of the tests that takes a shape for a plan: what stands before SQL is not under test here. */
function planned<Plan>(shape: Shape<Plan>): Plan {
  return shape as unknown as Plan
}

export function column(entity: KeyedEntity, name: string): Column {
  const found = entity.columns.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${entity.name} has no ${name}`)
  return found
}

export function path(entity: KeyedEntity, name: string): Path {
  return { through: null, column: column(entity, name) }
}

export function throughPath(entity: KeyedEntity, through: string, target: KeyedEntity, name: string): Path {
  return { through: reference(entity, through), column: column(target, name) }
}

export function reference(entity: KeyedEntity, name: string): Reference {
  const found = entity.references.find((one) => one.name === name)
  if (found === undefined) throw new Error(`${entity.name} has no ${name}`)
  return found
}

export function condition(of: Path, comparison: Comparison, ...operands: readonly Operand[]): Condition {
  // Tests go through comparisons by name; that each gets as many operands as it takes is for them to see to.
  return { path: of, comparison, operands } as Condition
}

/** The columns of these names, as a projection. */
export function projection(entity: KeyedEntity, names: readonly string[]): Projection {
  const selected = names.map((name): Selected => {
    if (name === 'rowVersion') return { kind: 'rowVersion' }
    return { kind: 'column', column: column(entity, name) }
  })
  return { key: names.join(), selected, shown: [] }
}

export function everything(entity: KeyedEntity): Projection {
  return projection(entity, [...entity.columns.map(({ name }) => name), 'rowVersion'])
}

/** Sorted by a path, then by id in the same direction. */
export function sortedBy(entity: KeyedEntity, by: Path, descending: boolean): SortKey[] {
  const id = path(entity, 'id')
  return by.column === id.column && by.through === null
    ? [{ path: by, descending }]
    : [
        { path: by, descending },
        { path: id, descending }
      ]
}

const base = (entity: KeyedEntity) => ({
  entity,
  projection: projection(entity, ['id']),
  scope: allRows,
  references: [],
  manyToMany: [],
  children: []
})

type Over<Plan> = Partial<Omit<Shape<Plan>, 'operation' | 'entity'>>

export function listPlan(entity: KeyedEntity, over: Over<ListPlan> = {}): ListPlan {
  const sort = sortedBy(entity, path(entity, 'id'), false)
  return planned<ListPlan>({ ...base(entity), operation: 'list', conditions: [], sort, limit: 1000, ...over })
}

export function pagePlan(entity: KeyedEntity, over: Over<PagePlan> = {}): PagePlan {
  return planned<PagePlan>({
    ...base(entity),
    operation: 'paged',
    conditions: [],
    sort: sortedBy(entity, path(entity, 'id'), false),
    limit: 1000,
    start: { kind: 'offset', offset: 0 },
    withTotal: true,
    ...over
  })
}

export function getPlan(entity: KeyedEntity, id: Operand | RowKey, over: Over<GetPlan> = {}): GetPlan {
  return planned<GetPlan>({ ...base(entity), operation: 'get', key: typeof id === 'object' ? id : [id], ...over })
}

export function exportPlan(entity: KeyedEntity, over: Over<ExportPlan> = {}): ExportPlan {
  const { references: _references, children: _children, ...rest } = base(entity)
  return planned<ExportPlan>({
    ...rest,
    operation: 'export',
    conditions: [],
    sort: sortedBy(entity, path(entity, 'id'), false),
    limit: 1_000_000,
    ...over
  })
}

export function lookupPlan(entity: KeyedEntity, over: Over<LookupPlan> = {}): LookupPlan {
  return planned<LookupPlan>({ entity, scope: allRows, operation: 'lookup', conditions: [], limit: 1000, ...over })
}

/** The values of a loaded row, and those of the rows that it refers to and of its children. */
export function valuesOfRow(found: LoadedRow | undefined): unknown {
  return (
    found && {
      values: found.values,
      references: Array.from(found.references, ([name, one]) => [name, one?.values]),
      children: Array.from(found.children, ([name, some]) => [name, some.map(({ values }) => values)])
    }
  )
}
