import { FaultList } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { parseConditions, type FilterTexts } from './parse-conditions.js'
import { parsePaging, type Paging, type PagingTexts } from './parse-paging.js'
import { parseShape, type ShapeTexts } from './parse-shape.js'
import { parseSort, type SortTexts } from './parse-sort.js'
import { planShape } from './plan-shape.js'
import { planned, refuseUnplaced, type PlanningCall, type Unplaced } from './planning.js'
import { readableRows, referenceScope } from './read-access.js'
import type { PagePlan } from './read-plan.js'

export interface SelectionTexts extends SortTexts {
  readonly filters: readonly FilterTexts[]
}

export interface PageTexts extends PagingTexts, OwnerTexts {
  readonly resource: string
  readonly selection: SelectionTexts | null
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planPage(request: PageTexts, call: PlanningCall): { readonly plan: PagePlan; readonly paging: Paging } {
  const { caller, planning } = call
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const faults = new FaultList()
  const scope = readableRows({ resource, read: 'paged', texts: request }, { caller, ownership }, faults)
  const conditions = parseConditions(request.selection?.filters ?? [], resource, faults)
  const sort = parseSort(request.selection, resource, faults)
  const paging = parsePaging(request, planning.maxPageSize, faults)
  const shape = parseShape(request.shape, resource, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  const plan: PagePlan = planned({
    operation: 'paged',
    entity: resource.entity,
    scope,
    ...planShape(shape, { resource, catalogue, referenceScope: (target) => referenceScope(target, caller, ownership) }),
    conditions,
    sort,
    limit: paging.pageSize,
    offset: paging.offset,
    withTotal: paging.withTotal
  })
  return { plan, paging }
}
