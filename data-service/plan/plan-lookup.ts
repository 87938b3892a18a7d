import type { Resource } from './catalogue.js'
import type { Condition } from './condition.js'
import { FaultList, quoted } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { isTooLong, MAX_VALUE_CHARACTERS } from './parse-conditions.js'
import { expected, parseValue } from './parse-value.js'
import { planned, refuseUnplaced, UNPAGED_LIMIT, type PlanningCall, type Unplaced } from './planning.js'
import { readableRows } from './read-access.js'
import type { LookupPlan } from './read-plan.js'

export interface LookupTexts extends OwnerTexts {
  readonly resource: string
  readonly search?: string
  readonly unplaced: Unplaced | null
}

export function planLookup(request: LookupTexts, { planning, caller }: PlanningCall): LookupPlan {
  const resource = planning.catalogue.resource(request.resource)
  const faults = new FaultList()
  const { ownership } = planning
  const scope = readableRows({ resource, read: 'lookup', texts: request }, { caller, ownership }, faults)
  const conditions = parseSearch(request.search, resource, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  return planned({ operation: 'lookup', entity: resource.entity, scope, conditions, limit: UNPAGED_LIMIT })
}

function parseSearch(search: string | undefined, { entity }: Resource, faults: FaultList): readonly Condition[] {
  if (search === undefined || search.trim() === '') return []
  if (isTooLong(search)) {
    faults.add('filter.too-many', 'search', `search has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return []
  }
  const { label } = entity
  const path = { through: null, column: label }
  // What is no text is found by its whole value.
  const comparison = label.field.type === 'string' ? 'contains' : 'equals'
  const value = parseValue(search, label.field)
  if (value !== undefined) return [{ path, comparison, operands: [value] }]
  faults.add('filter.value.invalid', 'search', `${quoted(search)} is not ${expected(label.field)}.`)
  return []
}
