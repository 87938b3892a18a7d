import type { Column } from '../entity/entity.js'
import type { CustomRead } from '../entity/custom-read.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Condition, Path } from './condition.js'
import { FaultList } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { planned, refuseUnplaced, UNPAGED_LIMIT, type PlanningCall, type Unplaced } from './planning.js'
import { readableRows } from './read-access.js'
import type { PagePlan } from './read-plan.js'

export interface ReadTexts extends OwnerTexts {
  readonly resource: string
  readonly name: string
  readonly parameters: Readonly<Record<string, string>>
  readonly unplaced: Unplaced | null
}

/** A custom read: the one page of it that there is. */
export function planRead(
  request: ReadTexts,
  { planning, caller }: PlanningCall
): { readonly plan: PagePlan; readonly read: CustomRead } {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const { entity } = resource
  const read = entity.customReads.get(request.name)
  if (read === undefined) throw new DomainError('route.not-found', 'There is no such read.')
  const faults = new FaultList()
  const scope = readableRows({ resource, read, texts: request }, { caller, ownership }, faults)
  refuseUnplaced({ parameters: Object.keys(request.parameters) }, faults)
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  const sort = read.sort.includes(resource.id) ? read.sort : [...read.sort, resource.id]
  const plan: PagePlan = planned({
    operation: 'paged',
    entity,
    scope,
    projection: resource.projections.of(read.items.map((column) => ({ kind: 'column', column }))),
    references: [],
    children: [],
    conditions: read.where.map(equals),
    sort: sort.map((column) => ({ path: own(column), descending: false })),
    limit: UNPAGED_LIMIT,
    offset: 0,
    withTotal: false
  })
  return { plan, read }
}

function equals({ column, value }: CustomRead['where'][number]): Condition {
  return { path: own(column), comparison: 'equals', operands: [value] }
}

function own(column: Column): Path {
  return { through: null, column }
}
