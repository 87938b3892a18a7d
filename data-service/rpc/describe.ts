import { createHash } from 'node:crypto'
import type { Action as WireAction } from '../../shared/gen/entity/v1/Action.js'
import type { CustomRead as WireCustomRead } from '../../shared/gen/entity/v1/CustomRead.js'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Navigation } from '../../shared/gen/entity/v1/Navigation.js'
import type { Resource as WireResource } from '../../shared/gen/entity/v1/Resource.js'
import { READ_OPERATIONS, type ReadOperation } from '../entity/access.js'
import type { Action } from '../entity/action.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Entity } from '../entity/entity.js'
import { WRITE_OPERATIONS } from '../entity/write-access.js'
import type { Catalogue, Resource } from '../plan/catalogue.js'
import type { OwnershipPolicy } from '../plan/ownership.js'
import { isRouteId, ownerParameter } from '../plan/owner-filter.js'
import { describeChildColumn, describeColumn, describeProperty, rowVersion } from './describe-property.js'

/** Routes whose path holds no id. */
const WITHOUT_ID = ['list', 'paged', 'export', 'lookup', 'create'] as const

/** The catalogue as the wire knows it; the same for every caller, so it is made once. */
export function describeCatalogue(catalogue: Catalogue, ownership: OwnershipPolicy): DescribeResponse {
  const resources = catalogue.resources
    .map((resource) => describeResource(resource, ownership))
    .toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
  return { resources, digest: createHash('sha256').update(JSON.stringify(resources)).digest('base64url') }
}

function describeResource(resource: Resource, ownership: OwnershipPolicy): WireResource {
  const { entity } = resource
  const shaped = [...resource.properties.values()]
  return {
    name: entity.name,
    description: entity.description,
    label: entity.label.name,
    operations: [...READ_OPERATIONS, ...WRITE_OPERATIONS.filter((operation) => entity.writes.has(operation))],
    publicReads: READ_OPERATIONS.every((operation) => isPublic(entity, operation)),
    properties: shaped.flatMap((property) => describeProperty(property, resource) ?? []),
    navigations: shaped.flatMap((property): Navigation[] => {
      if (property.kind === 'reference') {
        const { name, to } = property.reference
        return [{ name, kind: 'NAVIGATION_KIND_REFERENCE', resource: to }]
      }
      if (property.kind !== 'children') return []
      const { name, columns } = property.children
      const created = entity.creation.children.some(({ children }) => children === property.children)
      const visible = columns.filter(({ field }) => !field.hidden)
      const properties = [...visible.map((column) => describeChildColumn(column, created)), rowVersion]
      return [{ name, kind: 'NAVIGATION_KIND_CHILDREN', properties }]
    }),
    actions: Array.from(entity.actions.values(), describeAction),
    createdChildren: entity.creation.children.map(({ children }) => children.name),
    reads: Array.from(entity.customReads.values(), (read) => describeRead(read, entity)),
    ...describeFilter(entity, ownership)
  }
}

function describeAction({ name, description, input, guardedChild }: Action): WireAction {
  return { name, description, input: input.map(describeColumn), childPrecondition: guardedChild?.versionMember ?? '' }
}

function isPublic({ access, ownerFilter }: Entity, operation: ReadOperation): boolean {
  return access[operation].kind === 'everyone' && ownerFilter?.routes.has(operation) !== true
}

/** Where the owner parameter may stand in the query. */
function describeFilter(
  { ownerFilter, actions }: Entity,
  ownership: OwnershipPolicy
): Pick<WireResource, 'ownerParameter' | 'ownerFiltered' | 'ownerProperty'> {
  if (ownerFilter === undefined) return { ownerParameter: '', ownerFiltered: [], ownerProperty: '' }
  const parameter = ownerParameter(ownerFilter, ownership)
  const inQuery = isRouteId(parameter) ? WITHOUT_ID : [...READ_OPERATIONS, ...WRITE_OPERATIONS]
  const filtered = inQuery.filter((operation) => ownerFilter.routes.has(operation))
  const acts = !isRouteId(parameter) && [...actions.keys()].some((name) => ownerFilter.routes.has(name))
  const ownerFiltered = acts ? [...filtered, 'act'] : filtered
  return { ownerParameter: parameter, ownerFiltered, ownerProperty: ownerFilter.owner.name }
}

function describeRead({ name, description, items, bare }: CustomRead, { ownerFilter }: Entity): WireCustomRead {
  return {
    name,
    description,
    parameters: [],
    ownerFiltered: ownerFilter?.routes.has(name) === true,
    items: items.map(describeColumn),
    bareItems: bare
  }
}
