import { FaultList } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { parseId } from './parse-id.js'
import { parseShape, type ShapeTexts } from './parse-shape.js'
import { planShape } from './plan-shape.js'
import { planned, refuseUnplaced, type PlanningCall, type Unplaced } from './planning.js'
import { readableRows, referenceScope } from './read-access.js'
import type { GetPlan } from './read-plan.js'

export interface GetTexts extends OwnerTexts {
  readonly resource: string
  readonly id: string
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planGet(request: GetTexts, { planning, caller }: PlanningCall): GetPlan {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const faults = new FaultList()
  const scope = readableRows({ resource, read: 'get', texts: request }, { caller, ownership }, faults)
  const id = parseId(request.id, resource.id.field, faults)
  const shape = parseShape(request.shape, resource, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  return planned({
    operation: 'get',
    entity: resource.entity,
    scope,
    ...planShape(shape, { resource, catalogue, referenceScope: (target) => referenceScope(target, caller, ownership) }),
    id
  })
}
