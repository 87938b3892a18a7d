import { FaultList } from './fault-list.js'
import { parseId } from './parse-id.js'
import { parseShape, type ShapeTexts } from './parse-shape.js'
import { planShape } from './plan-shape.js'
import { planned, refuseUnplaced, type PlanningCall, type Unplaced } from './planning.js'
import { readAccess, referenceScope } from './read-access.js'
import type { GetPlan } from './read-plan.js'

export interface GetTexts {
  readonly resource: string
  readonly id: string
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planGet(request: GetTexts, { planning, caller }: PlanningCall): GetPlan {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const granted = readAccess({ resource, operation: 'get', id: request.id }, caller, ownership)
  const faults = new FaultList()
  const id = parseId(granted.id ?? request.id, resource.id.field, faults)
  const shape = parseShape(request.shape, resource, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  return planned({
    operation: 'get',
    entity: resource.entity,
    scope: granted.scope,
    ...planShape(shape, { resource, catalogue, referenceScope: (target) => referenceScope(target, caller, ownership) }),
    id
  })
}
