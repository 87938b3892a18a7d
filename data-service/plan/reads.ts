import { DomainError } from '../../shared/errors.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Column } from '../entity/entity.js'
import { type OwnerTexts, readableRows, referenceScope } from './authorize.js'
import type { Catalogue, Resource } from './catalogue.js'
import { type FilterTexts, isTooLong, MAX_VALUE_CHARACTERS, parseConditions } from './filters.js'
import { planned, type PlanningCall, refuseUnplaced, UNPAGED_LIMIT, type Unplaced } from './planning.js'
import type {
  Condition,
  ExportPlan,
  GetPlan,
  ListPlan,
  LookupPlan,
  PagePlan,
  Path,
  PlannedChildren,
  PlannedReference,
  Projection,
  RowScope,
  ShapedProperty
} from './plans.js'
import { propertyName } from './projection.js'
import {
  type Paging,
  type PagingTexts,
  type ParsedShape,
  parseFields,
  parseId,
  parsePaging,
  parseShape,
  parseSort,
  type ShapeTexts,
  type SortTexts
} from './read-parameters.js'
import { expected, parseValue } from './values.js'
import { Violations, quoted } from './violations.js'

export interface PlannedShape {
  readonly projection: Projection
  readonly references: readonly PlannedReference[]
  readonly children: readonly PlannedChildren[]
}

/**
 * For a shape without violations. `referenceScope` says which rows of a referenced resource the caller may see; null for
 * none.
 */
export function planShape(
  { flags, named }: ParsedShape,
  on: {
    readonly resource: Resource
    readonly catalogue: Catalogue
    readonly referenceScope: (target: Resource) => RowScope | null
  }
): PlannedShape {
  const { projections } = on.resource
  const projection = named === undefined ? projections.whole(flags) : projections.of(named)
  return {
    projection,
    references: projection.shown.flatMap((property) => {
      if (property.kind !== 'reference') return []
      const { reference } = property
      const target = on.catalogue.resource(reference.to)
      const scope = on.referenceScope(target)
      return [{ reference, target: target.entity, projection: target.projections.referenced, scope }]
    }),
    children: projection.shown.flatMap((property) =>
      property.kind === 'children' ? [{ children: property.children }] : []
    )
  }
}

export interface ListTexts extends OwnerTexts {
  readonly resource: string
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planList(request: ListTexts, { planning, caller }: PlanningCall): ListPlan {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const violations = new Violations()
  const scope = readableRows({ resource, read: 'list', texts: request }, { caller, ownership }, violations)
  const shape = parseShape(request.shape, resource, violations)
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
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
  const violations = new Violations()
  const scope = readableRows({ resource, read: 'paged', texts: request }, { caller, ownership }, violations)
  const conditions = parseConditions(request.selection?.filters ?? [], resource, violations)
  const sort = parseSort(request.selection, resource, violations)
  const paging = parsePaging(request, planning.maxPageSize, violations)
  const shape = parseShape(request.shape, resource, violations)
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
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

export interface ExportTexts extends OwnerTexts {
  readonly resource: string
  readonly selection: SelectionTexts | null
  readonly fields?: string
  readonly unplaced: Unplaced | null
}

export function planExport(request: ExportTexts, { planning, caller }: PlanningCall): ExportPlan {
  const resource = planning.catalogue.resource(request.resource)
  const violations = new Violations()
  const { ownership } = planning
  const scope = readableRows({ resource, read: 'export', texts: request }, { caller, ownership }, violations)
  const conditions = parseConditions(request.selection?.filters ?? [], resource, violations)
  const sort = parseSort(request.selection, resource, violations)
  const named = parseFields(request.fields, resource, { violations, refuse: unfit })
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
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

export interface GetTexts extends OwnerTexts {
  readonly resource: string
  readonly id: string
  readonly shape: ShapeTexts | null
  readonly unplaced: Unplaced | null
}

export function planGet(request: GetTexts, { planning, caller }: PlanningCall): GetPlan {
  const { catalogue, ownership } = planning
  const resource = catalogue.resource(request.resource)
  const violations = new Violations()
  const scope = readableRows({ resource, read: 'get', texts: request }, { caller, ownership }, violations)
  const id = parseId(request.id, resource.id.field, violations)
  const shape = parseShape(request.shape, resource, violations)
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
  return planned({
    operation: 'get',
    entity: resource.entity,
    scope,
    ...planShape(shape, { resource, catalogue, referenceScope: (target) => referenceScope(target, caller, ownership) }),
    id
  })
}

export interface LookupTexts extends OwnerTexts {
  readonly resource: string
  readonly search?: string
  readonly unplaced: Unplaced | null
}

export function planLookup(request: LookupTexts, { planning, caller }: PlanningCall): LookupPlan {
  const resource = planning.catalogue.resource(request.resource)
  const violations = new Violations()
  const { ownership } = planning
  const scope = readableRows({ resource, read: 'lookup', texts: request }, { caller, ownership }, violations)
  const conditions = parseSearch(request.search, resource, violations)
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
  return planned({ operation: 'lookup', entity: resource.entity, scope, conditions, limit: UNPAGED_LIMIT })
}

function parseSearch(search: string | undefined, { entity }: Resource, violations: Violations): readonly Condition[] {
  if (search === undefined || search.trim() === '') return []
  if (isTooLong(search)) {
    violations.add('filter.too-many', 'search', `search has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return []
  }
  const { label } = entity
  const path = { through: null, column: label }
  // What is no text is found by its whole value.
  const comparison = label.field.type === 'string' ? 'contains' : 'equals'
  const value = parseValue(search, label.field)
  if (value !== undefined) return [{ path, comparison, operands: [value] }]
  violations.add('filter.value.invalid', 'search', `${quoted(search)} is not ${expected(label.field)}.`)
  return []
}

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
  const violations = new Violations()
  const scope = readableRows({ resource, read, texts: request }, { caller, ownership }, violations)
  refuseUnplaced({ parameters: Object.keys(request.parameters) }, violations)
  refuseUnplaced(request.unplaced, violations)
  violations.finish()
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
