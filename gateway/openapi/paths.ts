import type { Resource } from '../data-calls.js'
import type { ReadOperation } from '../headers/route-parameters.js'
import { operationParameters } from './parameters.js'
import { valueSchema } from './property-schema.js'
import { jsonContent, problemResponses, success } from './responses.js'

interface OperationDocument {
  readonly path: string
  readonly summary: string
  readonly responses: object
}

/** The paths of a resource, one for each operation that it serves. */
export function resourcePaths(resource: Resource): Readonly<Record<string, object>> {
  const { name } = resource
  const row = { $ref: `#/components/schemas/${name}` }
  const documents: Readonly<Record<ReadOperation, OperationDocument>> = {
    list: {
      path: `/${name}`,
      summary: 'The first rows by id',
      responses: {
        ...success('Rows in order of id.', jsonContent({ type: 'array', items: row }), [
          'X-Row-Limit',
          'X-Truncated',
          'Link'
        ]),
        ...problemResponses()
      }
    },
    paged: {
      path: `/${name}/paged`,
      summary: 'A filtered, sorted page',
      responses: {
        ...success('The rows of the page.', jsonContent({ type: 'array', items: row }), [
          'X-Pagination',
          'X-Total-Count',
          'Link'
        ]),
        ...problemResponses()
      }
    },
    export: {
      path: `/${name}/export`,
      summary: 'Every row that matches, as CSV',
      responses: {
        ...success('RFC 4180 with CRLF. A cut file ends in a row that says so.', CSV, [
          'X-Export-Row-Limit',
          'Content-Disposition'
        ]),
        ...problemResponses()
      }
    },
    lookup: {
      path: `/${name}/lookup`,
      summary: 'Id and name pairs',
      responses: {
        ...success('Ordered by name, then id.', jsonContent({ $ref: `#/components/schemas/${name}.lookup` }), [
          'X-Truncated'
        ]),
        ...problemResponses()
      }
    },
    get: {
      path: `/${name}/{id}`,
      summary: 'One row',
      responses: { ...success('The row.', jsonContent(row), ['ETag']), ...problemResponses(404) }
    }
  }
  const served = Object.entries(documents).filter(([operation]) => resource.operations.includes(operation))
  return Object.fromEntries(
    // The keys are those of the record above.
    served.map(([operation, document]) => [document.path, pathItem(resource, operation as ReadOperation, document)])
  )
}

const CSV = { 'text/csv': { schema: { type: 'string' } } } as const

function pathItem(resource: Resource, operation: ReadOperation, document: OperationDocument): object {
  const id = resource.properties.find(({ name }) => name === 'id')
  const path = {
    name: 'id',
    in: 'path',
    required: true,
    schema: id === undefined ? { type: 'string' } : valueSchema(id)
  }
  return {
    get: {
      tags: [resource.name],
      operationId: `${operation} ${resource.name}`.replace(/[ -]+(\w)/g, (_, first: string) => first.toUpperCase()),
      summary: document.summary,
      parameters: [...(operation === 'get' ? [path] : []), ...operationParameters(resource, operation)],
      // An empty requirement: the token may be left out.
      security: resource.publicReads ? [{}, { bearer: [] }] : [{ bearer: [] }],
      responses: document.responses
    }
  }
}
