import { createHash } from 'node:crypto'
import type { DescribeResponse } from '../../shared/gen/entity/v1/DescribeResponse.js'
import type { Navigation } from '../../shared/gen/entity/v1/Navigation.js'
import type { Resource as WireResource } from '../../shared/gen/entity/v1/Resource.js'
import { READ_OPERATIONS } from '../entity/access.js'
import type { Catalogue, Resource } from '../plan/catalogue.js'
import { describeColumn, describeProperty, rowVersion } from './describe-property.js'

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
    operations: [...READ_OPERATIONS],
    publicReads: READ_OPERATIONS.every((operation) => entity.access[operation].kind === 'everyone'),
    properties: shaped.flatMap((property) => describeProperty(property, resource) ?? []),
    navigations: shaped.flatMap((property): Navigation[] => {
      if (property.kind === 'reference') {
        const { name, to } = property.reference
        return [{ name, kind: 'NAVIGATION_KIND_REFERENCE', resource: to }]
      }
      if (property.kind !== 'children') return []
      const { name, columns } = property.children
      const visible = columns.filter(({ field }) => !field.hidden)
      return [{ name, kind: 'NAVIGATION_KIND_CHILDREN', properties: [...visible.map(describeColumn), rowVersion] }]
    })
  }
}
