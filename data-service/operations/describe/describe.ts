import { hasRowVersion } from '../../entity/fields/row-version.js'
import { createHash } from 'node:crypto'
import type { Action as WireAction } from '../../../shared/gen/entity/v1/Action.js'
import type { AllowedCalls } from '../../../shared/gen/entity/v1/AllowedCalls.js'
import type { CustomRead as WireCustomRead } from '../../../shared/gen/entity/v1/CustomRead.js'
import type { DescribeResponse } from '../../../shared/gen/entity/v1/DescribeResponse.js'
import type { JsonShape } from '../../../shared/gen/entity/v1/JsonShape.js'
import type { Navigation } from '../../../shared/gen/entity/v1/Navigation.js'
import type { Operation as WireOperation } from '../../../shared/gen/entity/v1/Operation.js'
import type { Property } from '../../../shared/gen/entity/v1/Property.js'
import type { Resource as WireResource } from '../../../shared/gen/entity/v1/Resource.js'
import type { Totals as WireTotals } from '../../../shared/gen/entity/v1/Totals.js'
import { needsNoToken, ownersIn } from '../../entity/access.js'
import type { Action } from '../../entity/action.js'
import type { Caller } from '../../entity/caller.js'
import type { CustomRead } from '../../entity/custom-read.js'
import type { Children, Column, Entity, Reference } from '../../entity/entity.js'
import { isComposite, isKeyed } from '../../entity/key.js'
import type { CustomType, Field } from '../../entity/fields/field.js'
import type { JsonSchema } from '../../entity/fields/json-schema.js'
import { rangeOf } from '../../entity/fields/numbers.js'
import type { Operation } from '../../entity/define-operation.js'
import { type ResolvedShape, valueColumn } from '../../entity/fields/shape.js'
import type { ReadName } from '../../../shared/read-parameters.js'
import { BATCHES, readsOf, WITHOUT_ID, WRITE_OPERATIONS } from '../../entity/operations.js'
import { aliasesOf } from '../../entity/fields/operators.js'
import { neededState } from '../../plan/plan-writes.js'
import {
  allowedCalls,
  batchesOf,
  isRouteId,
  ownerParameter,
  ownsEverything,
  takesImports,
  updatesBy
} from '../../plan/authorize.js'
import {
  type Catalogue,
  creatableChildren,
  isChangeable,
  isSettable,
  isSettableOfChild,
  isUnique,
  isWriteOnly,
  permissionsToSee,
  type Resource
} from '../../plan/model/catalogue.js'
import { allowsCall } from '../../plan/call-requests.js'
import type { OwnershipPolicy } from '../../plan/planning.js'
import type { ShapedProperty, ShownChildren } from '../../plan/model/plans.js'
import { Examples, exampleText, ROW_VERSION } from './examples.js'
import { describeActionRules, describeRules } from './rules.js'
import type { Totals } from '../../entity/totals.js'
import { valueEncoder } from '../../entity/types/types.js'

/**
 * The catalogue in the form of the wire, as the caller sees it; for a gateway, whole. `only: 'allowed'` leaves out resources
 * and operations of which the caller may call nothing, and write-only columns of resources whose bodies it may not send.
 */
export interface DescribeTo {
  (reader: Caller | 'gateway', only?: 'allowed'): DescribeResponse
  /** The same with a resource in a step, so that others can be served between. */
  steps(reader: Caller | 'gateway', only?: 'allowed'): Generator<undefined, DescribeResponse, undefined>
}

/** Answers that are kept, the latest last. There is one for each set of column permissions that callers hold: usually few. */
const MAX_ANSWERS = 64

/** Describes each view of a resource once, and the catalogue once for each combination of views. */
export function describeCatalogue(
  catalogue: Catalogue,
  ownership: OwnershipPolicy,
  operations: readonly Operation[] = []
): DescribeTo {
  const described = new WeakMap<Resource, { readonly whole: WireResource; readonly unwritten: WireResource }>()
  const examples = new Examples(catalogue.resources('gateway').map(({ entity }) => entity))
  const answers: { readonly seen: readonly unknown[]; readonly answer: DescribeResponse }[] = []
  /** The digests of what answers are made of. */
  const digests = new WeakMap<object, string>()
  const digestOf = (part: object): string => {
    const digest = digests.get(part) ?? sha256(JSON.stringify(part))
    digests.set(part, digest)
    return digest
  }
  const describe = (resource: Resource): { readonly whole: WireResource; readonly unwritten: WireResource } => {
    const known = described.get(resource)
    if (known !== undefined) return known
    const whole = describeResource(resource, { ownership, examples })
    const made = { whole, unwritten: withoutWriteOnly(whole) }
    described.set(resource, made)
    return made
  }
  // Every caller may know what operations there are, as it may know the actions of a resource.
  const ofApplication: readonly (WireOperation & { readonly name: string })[] = operations
    .map((operation) => ({ ...describeOperation(operation), name: operation.name }))
    .toSorted(byName)
  const viewOf = (now: readonly WireResource[], called = ofApplication): DescribeResponse => {
    const parts = [...now, ...called]
    const at = answers.findIndex(
      ({ seen }) => seen.length === parts.length && seen.every((one, index) => one === parts[index])
    )
    const [known] = at === -1 ? [] : answers.splice(at, 1)
    if (known !== undefined) {
      answers.push(known)
      return known.answer
    }
    const sorted = now.toSorted(byName)
    const areSomeLeftOut = now.length < catalogue.resources('gateway').length
    // What is left of navigations to others follows from who they are.
    const digest = sha256(JSON.stringify([areSomeLeftOut, sorted.map(digestOf), called.map(digestOf)]))
    const answer = { resources: withoutOthers(sorted, areSomeLeftOut), operations: [...called], digest }
    if (answers.length === MAX_ANSWERS) answers.shift()
    answers.push({ seen: parts, answer })
    return answer
  }
  function* steps(reader: Caller | 'gateway', only?: 'allowed'): Generator<undefined, DescribeResponse, undefined> {
    const seen = catalogue.resources(reader)
    const all: { readonly resource: Resource; readonly names: string[] }[] = []
    for (const resource of seen) {
      const { whole, unwritten } = describe(resource)
      digestOf(whole)
      digestOf(unwritten)
      if (reader !== 'gateway') all.push({ resource, names: allowedCalls(resource, { caller: reader, ownership }) })
      yield
    }
    if (reader === 'gateway') return viewOf(seen.map((resource) => describe(resource).whole))
    const told = only === undefined ? all : all.filter(({ names }) => names.length > 0)
    const allowedOperations = operations.filter((one) => allowsCall(one, reader)).map(({ name }) => name)
    const called = ofApplication.filter(({ name }) => only === undefined || allowedOperations.includes(name))
    const view = viewOf(
      told.map(({ resource, names }) => {
        const { whole, unwritten } = describe(resource)
        return only === undefined || sendsBodies(names) ? whole : unwritten
      }),
      called
    )
    const allowed = told.map(({ resource, names }): AllowedCalls => ({ resource: resource.entity.name, names }))
    const owner = reader.kind === 'authenticated' ? reader.owner : null
    const roles = reader.kind === 'authenticated' ? [...reader.roles] : []
    return {
      ...view,
      allowed,
      owner: owner === null ? '' : owner.toString(),
      everyOwner: ownsEverything(reader, ownership),
      roles,
      allowedOperations
    }
  }
  const describeTo = (reader: Caller | 'gateway', only?: 'allowed'): DescribeResponse => {
    const parts = steps(reader, only)
    for (;;) {
      const { done, value } = parts.next()
      if (done === true) return value
    }
  }
  return Object.assign(describeTo, { steps })
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Whether a caller of these calls sends bodies of the resource, which have its write-only columns. */
function sendsBodies(allowed: readonly string[]): boolean {
  return ['create', 'update'].some((one) => allowed.includes(one))
}

/** The resource for callers who may not send its bodies: no answer names such a column. */
function withoutWriteOnly(resource: WireResource): WireResource {
  const shown = ({ navigations = [], ...rest }: Navigation): Navigation => ({
    ...rest,
    writeOnly: [],
    navigations: navigations.map(shown)
  })
  return { ...resource, writeOnly: [], navigations: (resource.navigations ?? []).map(shown) }
}

/** A navigation to a resource that is left out does not name it. */
function withoutOthers(resources: WireResource[], areSomeLeftOut: boolean): WireResource[] {
  if (!areSomeLeftOut) return resources
  const known = new Set(resources.map(({ name }) => name))
  const named = ({ resource = '', navigations = [], references = [], ...rest }: Navigation): Navigation => ({
    ...rest,
    resource: known.has(resource) ? resource : '',
    navigations: navigations.map(named),
    references: references.map(named)
  })
  return resources.map((one) => ({ ...one, navigations: (one.navigations ?? []).map(named) }))
}

function byName(a: { readonly name?: string }, b: { readonly name?: string }): number {
  return (a.name ?? '') < (b.name ?? '') ? -1 : 1
}

function describeOperation(operation: Operation): WireOperation {
  const {
    name,
    method,
    segments,
    description,
    access,
    path,
    query,
    body,
    answer,
    status,
    versioned = false
  } = operation
  return {
    name,
    method,
    path: `/${segments.join('/')}`,
    description,
    access: access.kind,
    permission: access.kind === 'permission' ? access.permission : '',
    pathParameters: path.map(describeValue),
    queryParameters: query.map(describeParameter),
    ...(body === undefined ? {} : { body: describeShape(body, describeMember) }),
    ...(answer === undefined ? {} : { answer: describeShape(answer, describeValue) }),
    status,
    versioned
  }
}

/** A shape in the catalogue's words, with the values of its members in those of `describe`. */
function describeShape(shape: ResolvedShape, describe: (column: Column) => Property): JsonShape {
  if (shape.kind === 'object') {
    const members = shape.members.map((member) =>
      member.kind === 'value'
        ? { property: describe(member.column) }
        : { name: member.name, shape: describeShape(member.shape, describe) }
    )
    return { kind: 'SHAPE_KIND_OBJECT', members }
  }
  const { item, min, max } = shape
  const list = { kind: 'SHAPE_KIND_LIST', minItems: min, maxItems: max } as const
  if (!('kind' in item)) return { ...list, item: describe(valueColumn('item', item)) }
  const inner = describeShape(item, describe)
  return item.kind === 'object' ? { ...list, members: inner.members ?? [] } : { ...list, nested: inner }
}

function describeResource(
  resource: Resource,
  { ownership, examples }: { readonly ownership: OwnershipPolicy; readonly examples: Examples }
): WireResource {
  const { entity } = resource
  const shaped = [...resource.properties.values()]
  return {
    name: entity.name,
    description: entity.description,
    ...entity.menu,
    label: entity.label?.name ?? (isKeyed(entity) ? 'id' : ''),
    key: entity.key.map(({ name }) => name),
    fullText: entity.fullText,
    operations: [...readsOf(entity), ...(entity.history ? ['history'] : []), ...writesOf(entity)],
    updatesByProperty: updatesBy(entity) && entity.columns.some((column) => isNamedBy(column, resource)),
    publicReads: readsOf(entity).every((operation) => isPublic(entity, operation)),
    properties: shaped.flatMap((property) => {
      const described = describeProperty(property, resource)
      return described === undefined ? [] : [{ ...described, example: examples.ofProperty(property, entity) }]
    }),
    navigations: shaped.flatMap((property): Navigation[] => {
      if (property.kind === 'reference') {
        return [describeReference(property.reference)]
      }
      if (property.kind === 'manyToMany') {
        const { name, target } = property.navigation
        return [{ name, kind: 'NAVIGATION_KIND_MANY_TO_MANY', resource: target.name }]
      }
      return property.kind === 'children'
        ? [describeChildren(property, { entity, maySet: resource.maySet, examples })]
        : []
    }),
    writeOnly: resource.entity.columns.filter(isWriteOnly).map((column) => ({
      ...describeColumn(column),
      ...settableOn(column, resource),
      example: examples.ofWriteOnly(column)
    })),
    actions: Array.from(entity.actions.values(), (action) => describeAction(action, { resource, examples })),
    deleteCondition: deleteCondition(entity),
    createdChildren: creatableChildren(resource).map(({ children }) => children.name),
    reads: Array.from(entity.customReads.values(), (read) => describeRead(read, { resource, examples })),
    ...(resource.totals === undefined ? {} : { totals: describeTotals(resource.totals, examples, entity) }),
    ...describeRules(resource),
    ...describeFilter(entity, ownership)
  }
}

function describeReference({ name, to, via }: Reference): Navigation {
  return { name, kind: 'NAVIGATION_KIND_REFERENCE', resource: to, via: shownNames(via) }
}

/** None where one of them is hidden: the others do not make a key. */
function shownNames(columns: readonly Column[]): string[] {
  return columns.some(({ field }) => field.hidden) ? [] : columns.map(({ name }) => name)
}

function describeChildren(
  { children, shown, nested, references }: ShownChildren,
  root: Pick<Resource, 'entity' | 'maySet'> & { readonly examples: Examples; readonly isNested?: boolean }
): Navigation {
  const { entity, maySet, examples, isNested = false } = root
  const { name, resource = '' } = children
  const isCreated = entity.creation.children.some((one) => one.children === children)
  const created = (column: Column): boolean => isCreated && maySet(column)
  const id = isComposite(children) ? [{ ...COMPOSITE_ID, example: examples.ofChildId(children) }] : []
  const own = shown.map((column) => ({
    ...describeChildColumn(column, children, created(column)),
    example: examples.ofChild(column, children, isNested ? undefined : entity)
  }))
  const writeOnly = children.columns.filter((column) => column.field.hidden && isSettableOfChild(column, children))
  const version = hasRowVersion(children) ? [rowVersion] : []
  return {
    name,
    kind: 'NAVIGATION_KIND_CHILDREN',
    resource,
    properties: [...id, ...own, ...version],
    writeOnly: writeOnly.map((column) => ({
      ...describeChildColumn(column, children, created(column)),
      example: examples.ofWriteOnly(column)
    })),
    navigations: nested.map((one) => describeChildren(one, { ...root, isNested: true })),
    references: references.map(describeReference)
  }
}

/** A resource as a caller sees it, and where its examples are. */
interface Exemplified {
  readonly resource: Resource
  readonly examples: Examples
}

function describeAction(action: Action, { resource, examples }: Exemplified): WireAction {
  const { name, description, input, guardedChild } = action
  return {
    name,
    description,
    input: input.map((column) => ({
      ...describeColumn(column),
      example: examples.ofInput(column, action, resource.entity)
    })),
    childPrecondition: guardedChild?.versionMember ?? '',
    child: guardedChild?.children.name ?? '',
    childId: guardedChild?.idMember ?? '',
    ...describeActionRules(action, resource)
  }
}

function deleteCondition({ name, writes, deletion: { required, rule } }: Entity): string {
  if (!writes.has('delete') || (required.length === 0 && rule === undefined)) return ''
  if (required.length === 0) return 'The resource has a rule of its own for deletes.'
  return neededState({ name: 'delete', required }, name)
}

function isPublic({ access, ownerFilter }: Entity, operation: ReadName): boolean {
  return needsNoToken(access[operation]) && ownerFilter?.routes.has(operation) !== true
}

/** The writes of a resource besides its actions, each with its batch behind it, and a create with the import. */
function writesOf(entity: Entity): string[] {
  const batches = batchesOf(entity)
  return WRITE_OPERATIONS.filter((operation) => entity.writes.has(operation)).flatMap((operation) => [
    operation,
    ...batches.filter((batch) => BATCHES[batch] === operation),
    ...(operation === 'create' && takesImports(entity) ? ['import'] : [])
  ])
}

/** Where the owner parameter may stand in the query. */
function describeFilter(
  entity: Entity,
  ownership: OwnershipPolicy
): Pick<WireResource, 'ownerParameter' | 'ownerFiltered' | 'ownerProperty'> {
  const { ownerFilter, actions } = entity
  if (ownerFilter === undefined) return { ownerParameter: '', ownerFiltered: [], ownerProperty: '' }
  const parameter = ownerParameter(ownerFilter, ownership)
  const inQuery = isRouteId(parameter) ? WITHOUT_ID : [...readsOf(entity), ...WRITE_OPERATIONS]
  const filtered = inQuery.filter((operation) => ownerFilter.routes.has(operation))
  const acts = !isRouteId(parameter) && [...actions.keys()].some((name) => ownerFilter.routes.has(name))
  const ownerFiltered = acts ? [...filtered, 'act'] : filtered
  return { ownerParameter: parameter, ownerFiltered, ownerProperty: ownerFilter.owner.name }
}

/** A caller who may not see an item may not call the read either, but a gateway that asks as one still routes it. */
function describeRead(
  { name, description, params, items, bare }: CustomRead,
  { resource, examples }: Exemplified
): WireCustomRead {
  return {
    name,
    description,
    parameters: params.map(describeParameter),
    ownerFiltered: resource.entity.ownerFilter?.routes.has(name) === true,
    items: items
      .filter((item) => !resource.withheld.has(item.name))
      .map((item) => ({ ...describeColumn(item), example: examples.ofItem(item, resource.entity) })),
    bareItems: bare
  }
}

/** What the totals of a resource can name. An example of a dimension is that of its column where it is one. */
function describeTotals({ dimensions, measures }: Totals, examples: Examples, entity: Entity): WireTotals {
  return {
    dimensions: dimensions.map(({ name, column, part, field }) => ({
      ...describeColumn({ ...column, name, field: { ...field, readableBy: column.field.readableBy } }),
      example: part === undefined ? examples.ofProperty({ kind: 'column', column }, entity) : EXAMPLES_OF_PARTS[part]
    })),
    measures: measures.map(({ name, column, field }) => ({
      ...describeColumn({ name, column: '', field: { ...field, readableBy: column?.field.readableBy } }),
      example: exampleText({ name, field })
    }))
  }
}

const EXAMPLES_OF_PARTS = { year: '2026', month: '"2026-01"', day: '"2026-01-31"' } as const

/** A property of a resource in the catalogue's words; undefined for navigations. */
export function describeProperty(property: ShapedProperty, resource: Resource): Property | undefined {
  switch (property.kind) {
    case 'id':
      return { ...COMPOSITE_ID, selectable: true }
    case 'column':
      return {
        ...describeColumn(property.column),
        ...settableOn(property.column, resource),
        ...queryable(property.column.name, resource),
        selectable: true,
        unique: isNamedBy(property.column, resource)
      }
    case 'joined': {
      const { name, field } = property.joined
      return {
        ...describeColumn({ ...property.column, name, field }),
        ...queryable(name, resource),
        readableBy: [...permissionsToSee(property)]
      }
    }
    case 'computed': {
      const { name, type, nullable } = property.computed
      return { name, type, nullable, readableBy: [...permissionsToSee(property)] }
    }
    case 'rowVersion':
      return { ...rowVersion, selectable: true }
    case 'reference':
    case 'manyToMany':
    case 'children':
      return undefined
  }
}

/** A query parameter. It may be left out if it is optional or has a default. */
function describeParameter(column: Column): Property {
  const { nullable, defaultTo } = column.field
  return { ...describeMember(column), nullable: nullable || defaultTo !== undefined }
}

/** A member of a body. */
function describeMember(column: Column): Property {
  const { nullable, requiredNullable, defaultTo } = column.field
  return {
    ...describeValue(column),
    requiredOnCreate: requiredNullable || (!nullable && defaultTo === undefined),
    defaultValue: defaultTo === undefined ? '' : valueEncoder(column.field.type)(defaultTo)
  }
}

const COMPOSITE_ID: Property = {
  name: 'id',
  type: 'string',
  description:
    'The values of the key in its order with commas between them; %, comma and / in each are percent-encoded.'
}

const rowVersion: Property = { name: 'rowVersion', type: 'bytes', example: ROW_VERSION }

/** A value that is no column of a row: of a parameter, of an answer. */
function describeValue(column: Column): Property {
  return { ...describeColumn(column), example: exampleText(column) }
}

export function describeColumn({ name, field }: Column): Property {
  const { type, nullable, readableBy, description, custom } = field
  const sized = type === 'string' || type === 'binary' || type === 'base64url'
  return {
    name,
    type,
    nullable,
    minLength: sized ? field.minLength : 0,
    maxLength: sized ? field.maxLength : 0,
    ...boundsOf(field),
    precision: type === 'decimal' ? field.precision : 0,
    scale: type === 'decimal' ? field.scale : 0,
    readableBy: readableBy === undefined ? [] : [readableBy],
    description: description ?? '',
    words: [...field.words],
    fractionDigits: type === 'dateTime' || type === 'time' ? field.precision : 0,
    ...(field.schema === undefined ? {} : { schema: toldSchema(field.schema) }),
    writeOnly: field.hidden,
    preset: field.preset !== undefined,
    writableBy: field.writableBy ?? '',
    ...(custom === undefined ? {} : { ownType: custom.name, schema: schemaText(custom) })
  }
}

/** The bounds that the entity file sets, or those of an integer that has not the usual range of its type. */
function boundsOf(field: Field): Pick<Property, 'minimum' | 'maximum'> {
  const { type, storage, unsigned, minimum, maximum } = field
  const isUsual = (type !== 'int' && type !== 'long') || (storage === 'usual' && !unsigned)
  const range = isUsual ? undefined : rangeOf(field)
  return {
    minimum: minimum ?? range?.min.toString() ?? '',
    maximum: maximum ?? range?.max.toString() ?? ''
  }
}

/** References within a schema would lead elsewhere in the document that it becomes a part of. */
function toldSchema(schema: JsonSchema): string {
  const text = JSON.stringify(schema)
  return text.includes('"$ref"') ? '' : text
}

function schemaText({ schema, examples }: CustomType): string {
  return JSON.stringify({ ...schema, examples })
}

/** A child's column; children are set with their root's creation alone. */
function describeChildColumn(column: Column, children: Children, created: boolean): Property {
  const setOnCreate = created && isSettableOfChild(column, children)
  return { ...describeColumn(column), setOnCreate, requiredOnCreate: setOnCreate && mustBeGiven(column) }
}

function settableOn(
  column: Column,
  { entity, maySet }: Resource
): Pick<Property, 'setOnCreate' | 'requiredOnCreate' | 'setOnUpdate' | 'optionalOnUpdate'> {
  const setOnCreate = entity.writes.has('create') && isSettable(column) && maySet(column)
  const setOnUpdate = entity.writes.has('update') && isSettable(column) && isChangeable(column) && maySet(column)
  const access = entity.writeAccess.get('create')
  const isOwner = access !== undefined && ownersIn(access).includes(column.name)
  return {
    setOnCreate,
    requiredOnCreate: setOnCreate && !isOwner && mustBeGiven(column),
    setOnUpdate,
    optionalOnUpdate: setOnUpdate && !column.field.nullable && (column.field.hidden || !mustBeGiven(column))
  }
}

function mustBeGiven({ field }: Column): boolean {
  return !field.nullable && field.defaultTo === undefined && !field.filledByDatabase && field.preset === undefined
}

function queryable(
  name: string,
  resource: Resource
): Pick<Property, 'filterable' | 'sortable' | 'searchable' | 'operators' | 'operatorAliases'> {
  const filterable = resource.filterable.get(name.toLowerCase())
  const operators = filterable?.operators ?? []
  return {
    filterable: filterable !== undefined,
    sortable: resource.sortable.has(name.toLowerCase()),
    searchable: isSearchable(name, resource),
    operators: [...operators],
    operatorAliases: filterable === undefined ? [] : [...aliasesOf(filterable.field.type, operators)]
  }
}

/** Whether requests may name rows by the column. */
function isNamedBy(column: Column, { entity, filterable }: Resource): boolean {
  return filterable.has(column.name.toLowerCase()) && isUnique(column, entity)
}

function isSearchable(name: string, { entity, properties }: Resource): boolean {
  return entity.searchable.includes(name) && properties.has(name.toLowerCase())
}
