import { createHash } from 'node:crypto'
import type { Action as WireAction } from '../../shared/gen/entity/v1/Action.js'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Navigation } from '../../shared/gen/entity/v1/Navigation.js'
import type { Resource as WireResource } from '../../shared/gen/entity/v1/Resource.js'
import { READ_OPERATIONS } from '../entity/access.js'
import type { Action } from '../entity/action.js'
import { WRITE_OPERATIONS } from '../entity/write-access.js'
import type { Catalogue, Resource } from '../plan/catalogue.js'
import { describeChildColumn, describeColumn, describeProperty, rowVersion } from './describe-property.js'

/** The catalogue as the wire knows it; the same for every caller, so it is made once. */
export function describeCatalogue(catalogue: Catalogue): DescribeResponse {
  const resources = catalogue.resources
    .map(describeResource)
    .toSorted((a, b) => ((a.name ?? '') < (b.name ?? '') ? -1 : 1))
  return { resources, digest: createHash('sha256').update(JSON.stringify(resources)).digest('base64url') }
}

function describeResource(resource: Resource): WireResource {
  const { entity } = resource
  const shaped = [...resource.properties.values()]
  return {
    name: entity.name,
    description: entity.description,
    label: entity.label.name,
    operations: [...READ_OPERATIONS, ...WRITE_OPERATIONS.filter((operation) => entity.writes.has(operation))],
    publicReads: READ_OPERATIONS.every((operation) => entity.access[operation].kind === 'everyone'),
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
    createdChildren: entity.creation.children.map(({ children }) => children.name)
  }
}

function describeAction({ name, description, input, guardedChild }: Action): WireAction {
  return { name, description, input: input.map(describeColumn), childPrecondition: guardedChild?.versionMember ?? '' }
}
