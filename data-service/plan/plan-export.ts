import { FaultList } from './fault-list.js'
import type { OwnerTexts } from './owner-filter.js'
import { parseConditions } from './parse-conditions.js'
import { parseFields } from './parse-shape.js'
import { parseSort } from './parse-sort.js'
import { planned, refuseUnplaced, type PlanningCall, type Unplaced } from './planning.js'
import type { SelectionTexts } from './plan-page.js'
import { propertyName } from './property-name.js'
import { readableRows } from './read-access.js'
import type { ExportPlan, ShapedProperty } from './read-plan.js'

export interface ExportTexts extends OwnerTexts {
  readonly resource: string
  readonly selection: SelectionTexts | null
  readonly fields?: string
  readonly unplaced: Unplaced | null
}

export function planExport(request: ExportTexts, { planning, caller }: PlanningCall): ExportPlan {
  const resource = planning.catalogue.resource(request.resource)
  const faults = new FaultList()
  const { ownership } = planning
  const scope = readableRows({ resource, read: 'export', texts: request }, { caller, ownership }, faults)
  const conditions = parseConditions(request.selection?.filters ?? [], resource, faults)
  const sort = parseSort(request.selection, resource, faults)
  const named = parseFields(request.fields, resource, { faults, refuse: unfit })
  refuseUnplaced(request.unplaced, faults)
  faults.finish()
  const { projections } = resource
  return planned({
    operation: 'export',
    entity: resource.entity,
    scope,
    projection: named === undefined ? projections.cells : projections.of(named),
    conditions,
    sort,
    limit: planning.maxExportRows
  })
}

/** What has no cell in a table, or no column to select. */
function unfit(property: ShapedProperty): string | undefined {
  const name = propertyName(property)
  switch (property.kind) {
    case 'column':
      return undefined
    case 'computed':
    case 'joined':
      return `"${name}" is read-only and has no column of its own: leave fields out to get it.`
    case 'rowVersion':
      return `"${name}" is a byte array, which an export leaves out.`
    case 'reference':
    case 'children':
      return `"${name}" is a navigation, which an export leaves out.`
  }
}
