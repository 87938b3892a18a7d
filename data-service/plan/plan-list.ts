import { FaultList } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { parseShape, type ShapeTexts } from './parse-shape.js'
import { planShape } from './plan-shape.js'
import { planned, refuseUnplaced, UNPAGED_LIMIT, type PlanningCall, type Unplaced } from './planning.js'
import { readableRows, referenceScope } from './read-access.js'
import type { ListPlan } from './read-plan.js'

export interface ListTexts extends OwnerTexts {
  readonly resource: string
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planList(request: ListTexts, { planning, caller }: PlanningCall): ListPlan {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const faults = new FaultList()
  const scope = readableRows({ resource, read: 'list', texts: request }, { caller, ownership }, faults)
  const shape = parseShape(request.shape, resource, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  return planned({
    operation: 'list',
    entity: resource.entity,
    scope,
    ...planShape(shape, { resource, catalogue, referenceScope: (target) => referenceScope(target, caller, ownership) }),
    limit: UNPAGED_LIMIT
  })
}

/** The largest page size within the maximum that divides the list's limit, so that a page starts right after it. */
export function continuationPageSize(maxPageSize: number): number {
  let size = Math.min(maxPageSize, UNPAGED_LIMIT)
  while (UNPAGED_LIMIT % size !== 0) size--
  return size
}
