import type { Field } from '../entity/field.js'
import type { Operand } from '../entity/value.js'
import { FaultList, quoted } from './fault-list.js'
import { expected, parseValue } from './parse-value.js'
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

/** No id of any type needs more; leading zeros included. */
const MAX_ID_CHARACTERS = 100

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

function parseId(text: string, field: Field, faults: FaultList): Operand {
  const wellFormed = text.length <= MAX_ID_CHARACTERS && !text.startsWith('+')
  const id = wellFormed ? parseValue(text, field) : undefined
  if (id !== undefined) return id
  faults.add('id.invalid', 'id', `${quoted(text)} is no id here: it must be ${expected(field)}.`)
  return ''
}
