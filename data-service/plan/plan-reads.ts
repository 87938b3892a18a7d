import { DomainError } from '../../shared/errors.js'
import { MAX_CONDITIONS } from '../../shared/request-limits.js'
import type { NamedValues } from '../entity/action.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Entity, Reference } from '../entity/entity.js'
import type { ReadName } from '../../shared/read-parameters.js'
import { foreignRow, type OwnerParams, readableRows, referenceableRows } from './authorize.js'
import { isKeyedResource, type KeyedResource, orderOfAll, type Resource, uniqueColumn } from './model/catalogue.js'
import { CursorCodec } from './parsing/cursors.js'
import {
  type ConditionParams,
  isTooLong,
  MAX_VALUE_CHARACTERS,
  missingHalf,
  parseConditions,
  parseSearch
} from './parsing/filters.js'
import { parseId, parseSearchedId, parseUnique } from './parsing/keys.js'
import { readParameters } from './parameters.js'
import {
  planned,
  type PlanningContext,
  rejectUnknownParameters,
  UNPAGED_LIMIT,
  type UnknownParameters
} from './planning.js'
import {
  allRows,
  type ColumnCondition,
  type Condition,
  type ExportPlan,
  type GetByPlan,
  type GetPlan,
  intersectScopes,
  type LinkedRows,
  type ListPlan,
  type LookupPlan,
  ownPath,
  type PagePlan,
  type PlannedChildren,
  type PlannedManyToMany,
  type PlannedNavigations,
  type PlannedReference,
  type Projection,
  type RowScope,
  type RowsPlan,
  scopeBehind,
  type ShapedProperty,
  type ShownChildren,
  type SortKey,
  valueIs
} from './model/plans.js'
import { isBytes, propertyName } from './model/projection.js'
import { type Includes, NO_INCLUDES } from './parsing/includes.js'
import {
  type Paging,
  type PagingParams,
  type ParsedShape,
  parseFields,
  parsePaging,
  parseShape,
  parseSort,
  type ShapeParams,
  type SortParams
} from './parsing/query.js'
import { PREDICATE_WORDS, rowsAskedFor } from './row-scopes.js'
import { quoted, Violations } from './parsing/violations.js'
import { expected, fieldOfParts, parseValue } from '../entity/types/types.js'

// Each planner takes the request of one read, throws one DomainError with all of its violations, or answers its plan.
// The members of a request are named as in proto/, so that a gRPC message is one.

/** What every read request says. */
export interface ReadParams extends OwnerParams {
  readonly resource: string
  /** Parameters that the transport does not know: violations. */
  readonly unplaced: UnknownParameters | null
}

/**
 * The checks of every read, in one order: the access rules, the parameters that `parse` reads, the parameters that are
 * unknown. Throws `auth.required`, `capability.denied` or `ownership.denied` at once and then one error with all
 * violations.
 */
export function checkRead<Parsed>(
  read: {
    readonly resource: Resource
    readonly read: ReadName | CustomRead
    readonly params: ReadParams
  },
  context: PlanningContext,
  parse: (violations: Violations) => Parsed
): { readonly scope: RowScope; readonly parsed: Parsed } {
  const violations = new Violations()
  const scope = readableRows(read, context, violations)
  const parsed = parse(violations)
  // A URL holds few of them, a gRPC message may hold many thousands, and each is compared with the name of every property.
  const isFew = (read.params.unplaced?.parameters.length ?? 0) <= MAX_CONDITIONS
  const takesFilters = isFew && (read.read === 'paged' || read.read === 'export' || read.read === 'totals')
  const explain = (parameter: string): string | undefined => missingHalf(parameter, read.resource, violations)
  rejectUnknownParameters(read.params.unplaced, violations, takesFilters ? explain : undefined)
  violations.finish()
  return { scope, parsed }
}

interface ListParams extends ReadParams {
  readonly shape: ShapeParams | null
  readonly search?: string
}

export function planList(params: ListParams, context: PlanningContext): ListPlan {
  const resource = context.planning.catalogue.resource(params.resource, context.caller)
  const { scope, parsed } = checkRead({ resource, read: 'list', params }, context, (violations) => ({
    conditions: parseSearch(params.search, resource, violations),
    shape: parseShape(params.shape, resource, shapeReader(context, violations))
  }))
  return planned({
    operation: 'list',
    entity: resource.entity,
    scope,
    ...planShape(parsed.shape, resource, context),
    conditions: parsed.conditions,
    sort: orderOfAll([], resource),
    limit: UNPAGED_LIMIT
  })
}

/** The largest page size within the maximum that divides the limit of a list, so that some page starts right after it. */
export function continuationPageSize(maxPageSize: number): number {
  let size = Math.min(maxPageSize, UNPAGED_LIMIT)
  while (UNPAGED_LIMIT % size !== 0) size--
  return size
}

export interface SelectionParams extends SortParams, ConditionParams {
  readonly search?: string
}

/** The conditions of filters and search, and the order. */
function parseSelection(
  params: SelectionParams | null,
  resource: Resource,
  violations: Violations
): { readonly conditions: readonly Condition[]; readonly sort: readonly SortKey[] } {
  return { conditions: parseRows(params, resource, violations), sort: parseSort(params, resource, violations) }
}

/** The conditions of filters and search. */
export function parseRows(
  params: Omit<SelectionParams, keyof SortParams> | null,
  resource: Resource,
  violations: Violations
): readonly Condition[] {
  const filters = parseConditions(params ?? {}, resource, violations)
  return [...filters, ...parseSearch(params?.search, resource, violations)]
}

interface PageParams extends PagingParams, ReadParams {
  readonly selection: SelectionParams | null
  readonly shape: ShapeParams | null
}

/** A page, its paging, and the cursors of its query. */
interface PlannedPage {
  readonly plan: PagePlan
  readonly paging: Paging
  readonly cursors: CursorCodec
}

export function planPage(params: PageParams, context: PlanningContext): PlannedPage {
  const { catalogue, maxPageSize } = context.planning
  const resource = catalogue.resource(params.resource, context.caller)
  const { scope, parsed } = checkRead({ resource, read: 'paged', params }, context, (violations) => {
    const selection = parseSelection(params.selection, resource, violations)
    const cursors = new CursorCodec({ resource: resource.entity.name, ...selection })
    const limits = {
      maxPageSize,
      cursors: violations.isEmpty ? cursors : undefined,
      isKeyed: isKeyedResource(resource)
    }
    return {
      ...selection,
      cursors,
      paging: parsePaging(params, limits, violations),
      shape: parseShape(params.shape, resource, shapeReader(context, violations))
    }
  })
  const { paging, cursors } = parsed
  const plan: PagePlan = planned({
    operation: 'paged',
    entity: resource.entity,
    scope,
    ...planShape(parsed.shape, resource, context),
    conditions: parsed.conditions,
    sort: parsed.sort,
    limit: paging.pageSize,
    start: paging.start,
    withTotal: paging.withTotal,
    ...(paging.totalLimit === undefined ? {} : { totalLimit: paging.totalLimit })
  })
  return { plan, paging, cursors }
}

interface GetParams extends ReadParams {
  readonly id: string
  readonly shape: ShapeParams | null
}

export function planGet(params: GetParams, context: PlanningContext): GetPlan {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  const { scope, parsed } = checkRead({ resource, read: 'get', params }, context, (violations) => ({
    key: parseId(params.id, resource.entity, violations),
    shape: parseShape(params.shape, resource, shapeReader(context, violations))
  }))
  const { projection, references, manyToMany, children, askedBy } = planShape(parsed.shape, resource, context)
  const { entity } = resource
  // Without a spread: V8 adds each member that follows one by a call of its runtime, and this is done for every row by id.
  return planned({
    operation: 'get',
    entity,
    scope,
    projection,
    references,
    manyToMany,
    children,
    askedBy,
    key: parsed.key
  })
}

interface GetByParams extends ReadParams {
  readonly property: string
  readonly value: string
  readonly shape: ShapeParams | null
}

/** A read by id whose row is named by a unique property. `absent`: the error for a value that no row has. Without it, that of an absent id. */
export function planGetBy(
  params: GetByParams,
  context: PlanningContext
): { readonly plan: GetByPlan; readonly absent: DomainError | undefined } {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  const by = uniqueColumn(resource, params.property)
  const { scope, parsed } = checkRead({ resource, read: 'get', params: { ...params, by } }, context, (violations) => ({
    where: valueIs(by, parseUnique(params.value, by, violations)),
    shape: parseShape(params.shape, resource, shapeReader(context, violations))
  }))
  const { entity } = resource
  const plan: GetByPlan = planned({
    operation: 'getBy',
    entity,
    scope,
    ...planShape(parsed.shape, resource, context),
    where: parsed.where
  })
  return { plan, absent: foreignRow({ resource, route: 'get', by }, context) }
}

function shapeReader(context: PlanningContext, violations: Violations): Parameters<typeof parseShape>[2] {
  const readable = (name: string): Resource | undefined => {
    const target = resourceOf(name, context)
    return referenceableRows(target, context) === null ? undefined : target
  }
  return { resourceOf: readable, violations }
}

/** Another resource, as the caller sees it. */
function resourceOf(name: string, { planning, caller }: PlanningContext): KeyedResource {
  return planning.catalogue.keyedResource(name, caller)
}

type PlannedShape = Pick<RowsPlan, 'projection' | 'askedBy' | keyof PlannedNavigations>

function planShape(shape: ParsedShape, { projections }: Resource, context: PlanningContext): PlannedShape {
  const { flags, includes, named } = shape
  const projection = named === undefined ? projections.whole(flags, includes) : projections.of(named)
  const { references, manyToMany, children } = planNavigations(projection, includes, context)
  return { projection, references, manyToMany, children, askedBy: includes.size === 0 ? undefined : askedBy(flags) }
}

function askedBy(flags: ParsedShape['flags']): RowsPlan['askedBy'] {
  return {
    references: flags.references ? 'includeFKs' : 'include',
    collections: flags.children ? 'includeChildren' : 'include'
  }
}

/** The navigations that a projection shows, with those of their rows that `includes` names. */
function planNavigations(projection: Projection, includes: Includes, context: PlanningContext): PlannedNavigations {
  const { references, manyToMany, children } = navigationsOf(projection)
  for (const one of children) requireServed(one, context)
  return {
    references: references.map((one) => planReference(one, includes.get(one.name), context)),
    manyToMany: manyToMany.map((one) => planManyToMany(one, includes.get(one.name), context)),
    children: includes.size === 0 ? children : children.map((one) => withFollowed(one, includes, context))
  }
}

/** Rows of children may be those of a resource that is out of service. */
function requireServed({ children: { resource }, nested }: ShownChildren, context: PlanningContext): void {
  if (resource !== undefined) resourceOf(resource, context)
  for (const one of nested) requireServed(one, context)
}

/** A reference shows what the caller could read by itself. */
function planReference(
  reference: Reference,
  within: ReadonlySet<string> | undefined,
  context: PlanningContext
): PlannedReference {
  const target = resourceOf(reference.to, context)
  return {
    reference,
    target: target.entity,
    scope: referenceableRows(target, context),
    ...planRows(target, within, context)
  }
}

/** What is shown of the rows that a navigation leads to. */
function planRows(
  { projections }: Resource,
  named: ReadonlySet<string> | undefined,
  context: PlanningContext
): Pick<PlannedReference, 'projection' | 'within'> {
  if (named === undefined || named.size === 0) return { projection: projections.referenced }
  const projection = projections.whole({ references: false, children: false }, named)
  return { projection, within: planNavigations(projection, NO_INCLUDES, context) }
}

/** Children of children come with these, whether or not they are named. */
function withFollowed(
  shown: Navigations['children'][number],
  includes: Includes,
  context: PlanningContext
): PlannedChildren {
  const named = includes.get(shown.children.name)
  const followed = shown.references.filter(({ name }) => named?.has(name) === true)
  if (followed.length === 0) return shown
  const of = shown.children
  return { ...shown, followed: followed.map((one) => ({ ...planReference(one, undefined, context), of })) }
}

/** The navigations that a projection shows. */
interface Navigations {
  readonly references: readonly Reference[]
  readonly manyToMany: readonly LinkedRows[]
  readonly children: readonly ShownChildren[]
}

/** Found once for each projection, which the cache of projections (projection.ts) keeps for many requests. */
const navigations = new WeakMap<Projection, Navigations>()

function navigationsOf(projection: Projection): Navigations {
  const known = navigations.get(projection)
  if (known !== undefined) return known
  const { shown } = projection
  const found: Navigations = {
    references: shown.flatMap((property) => (property.kind === 'reference' ? [property.reference] : [])),
    manyToMany: shown.flatMap((property) => (property.kind === 'manyToMany' ? [property.navigation] : [])),
    children: shown.flatMap((property) => (property.kind === 'children' ? [property] : []))
  }
  navigations.set(projection, found)
  return found
}

/** A link shows what the caller could read by itself: the row of the link entity, and the row that it leads to. */
function planManyToMany(
  navigation: LinkedRows,
  within: ReadonlySet<string> | undefined,
  context: PlanningContext
): PlannedManyToMany {
  const link = resourceOf(navigation.link.name, context)
  const target = resourceOf(navigation.target.name, context)
  const [links, rows] = [referenceableRows(link, context), referenceableRows(target, context)]
  return {
    navigation,
    ...planRows(target, within, context),
    scope: links === null || rows === null ? null : intersectScopes(links, scopeBehind(navigation.to, rows))
  }
}

interface ExportParams extends ReadParams {
  readonly selection: SelectionParams | null
  readonly fields?: string
}

export function planExport(params: ExportParams, context: PlanningContext): ExportPlan {
  const { catalogue, maxExportRows } = context.planning
  const resource = catalogue.resource(params.resource, context.caller)
  const { scope, parsed } = checkRead({ resource, read: 'export', params }, context, (violations) => ({
    ...parseSelection(params.selection, resource, violations),
    named: parseFields(params.fields, resource, { violations, reject: notExported })
  }))
  const { projections } = resource
  return planned({
    operation: 'export',
    entity: resource.entity,
    scope,
    projection: parsed.named === undefined ? projections.cells : projections.of(parsed.named),
    conditions: parsed.conditions,
    sort: parsed.sort,
    limit: maxExportRows
  })
}

/** Why a property cannot be named in the fields of an export; undefined where it can. */
function notExported(property: ShapedProperty): string | undefined {
  const name = propertyName(property)
  switch (property.kind) {
    case 'id':
    case 'column':
    case 'rowVersion':
      return isBytes(property) ? `"${name}" is a byte array, which an export leaves out.` : undefined
    case 'computed':
    case 'joined':
      return `"${name}" is read-only and has no column of its own: leave fields out to get it.`
    case 'reference':
    case 'manyToMany':
    case 'children':
      return `"${name}" is a navigation, which an export leaves out.`
  }
}

interface LookupParams extends ReadParams {
  readonly search?: string
}

export function planLookup(params: LookupParams, context: PlanningContext): LookupPlan {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  const { scope, parsed: conditions } = checkRead({ resource, read: 'lookup', params }, context, (violations) =>
    parseLabelSearch(params.search, resource, violations)
  )
  return planned({ operation: 'lookup', entity: resource.entity, scope, conditions, limit: UNPAGED_LIMIT })
}

function parseLabelSearch(
  search: string | undefined,
  { entity }: KeyedResource,
  violations: Violations
): readonly ColumnCondition[] {
  if (search === undefined || search.trim() === '') return []
  if (isTooLong(search)) {
    violations.add('filter.too-many', 'search', `search has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return []
  }
  const { label } = entity
  if (label === undefined) {
    const key = parseSearchedId(search, entity, violations)
    return entity.key.map((column, at) => ({ path: ownPath(column), comparison: 'equals', operands: [key[at] ?? ''] }))
  }
  const path = ownPath(label)
  if (label.field.type === 'enum') {
    const part = search.toLowerCase()
    const operands = label.field.words.filter((word) => word.toLowerCase().includes(part))
    // A label is never null.
    return [
      operands.length === 0 ? { path, comparison: 'isEmpty', operands: [] } : { path, comparison: 'in', operands }
    ]
  }
  // A label that is no text is found by its whole value.
  const comparison = label.field.type === 'string' ? 'contains' : 'equals'
  const value = parseValue(search, comparison === 'contains' ? fieldOfParts(label.field) : label.field)
  if (value !== undefined) return [{ path, comparison, operands: [value] }]
  violations.add('filter.value.invalid', 'search', `${quoted(search)} is not ${expected(label.field)}.`)
  return []
}

interface CustomReadParams extends ReadParams {
  readonly name: string
  readonly parameters: Readonly<Record<string, string>>
}

/** A custom read answers one page, the first. */
export function planCustomRead(
  params: CustomReadParams,
  context: PlanningContext
): { readonly plan: PagePlan; readonly read: CustomRead } {
  const resource = context.planning.catalogue.resource(params.resource, context.caller)
  const { entity } = resource
  const read = entity.customReads.get(params.name)
  if (read === undefined) throw new DomainError('route.not-found', 'There is no such read.')
  const { scope, parsed: values } = checkRead({ resource, read, params }, context, (violations) =>
    readParameters(params.parameters, read.params, { violations })
  )
  const sort = read.sort.map((column) => ({ path: ownPath(column), descending: false }))
  const limit = read.limit === undefined ? undefined : values[read.limit]
  const plan: PagePlan = planned({
    operation: 'paged',
    entity,
    scope: intersectScopes(scope, rowsOfRead(read, values, entity)),
    projection: resource.projections.of(read.items.map((column) => ({ kind: 'column', column }))),
    references: [],
    manyToMany: [],
    children: [],
    conditions: read.where.map(({ column, value }) => ({
      path: ownPath(column),
      comparison: 'equals',
      operands: [value]
    })),
    sort: orderOfAll(sort, resource),
    limit: typeof limit === 'number' ? Math.min(limit, UNPAGED_LIMIT) : UNPAGED_LIMIT,
    start: { kind: 'offset', offset: 0 },
    withTotal: false
  })
  return { plan, read }
}

/** The rows that the parameters of a custom read ask for. They narrow the caller's scope and never widen it. */
function rowsOfRead({ rows }: CustomRead, params: NamedValues, entity: Entity): RowScope {
  return rows === undefined ? allRows : rowsAskedFor(rows({ params, ...PREDICATE_WORDS }), entity)
}
