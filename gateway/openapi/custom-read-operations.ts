import type { CustomRead, Property, Resource } from '../data-calls.js'
import { ownerParameterOfRead } from '../entity-routes/owner-parameter.js'
import type { DocumentedOperation } from './operation.js'
import { HEADER_PARAMETERS, ownerParameters } from './parameters.js'
import { propertySchema, valueSchema } from './property-schema.js'
import { jsonContent, problemResponses, success } from './responses.js'

/** The reads that a resource has of its own. */
export function customReadOperations(resource: Resource): DocumentedOperation[] {
  return resource.reads.map((read) => ({
    path: `/${resource.name}/${read.name}`,
    method: 'get',
    document: {
      id: `${read.name} of ${resource.name}`,
      summary: read.description,
      parameters: [
        ...read.parameters.map(parameter),
        ...ownerParameters(ownerParameterOfRead(resource, read)),
        ...HEADER_PARAMETERS
      ],
      responses: {
        ...success({
          status: 200,
          description: 'Its items.',
          content: jsonContent({ type: 'array', items: itemSchema(read) }),
          headers: ['X-Row-Limit', 'X-Truncated']
        }),
        ...problemResponses([])
      }
    }
  }))
}

function parameter(property: Property): object {
  return { name: property.name, in: 'query', required: !property.nullable, schema: valueSchema(property) }
}

function itemSchema({ items, bareItems }: CustomRead): object {
  const [only] = items
  if (bareItems && only !== undefined) return propertySchema(only)
  return {
    type: 'object',
    required: items.map(({ name }) => name),
    properties: Object.fromEntries(items.map((item) => [item.name, propertySchema(item)]))
  }
}
