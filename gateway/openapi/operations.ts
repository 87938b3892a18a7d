import type { CustomRead, Property, Resource } from '../data/data-client.js'
import { ownerParameterOf, ownerParameterOfRead, READ_OPERATIONS, READS } from '../entity-routes/paths.js'
import { jsonContent, mergePatchContent, problemResponses, success } from './components.js'
import { HEADER_PARAMETERS, operationParameters, ownerParameters, WRITE_HEADER_PARAMETERS } from './parameters.js'
import { parameterSchema, propertySchema, valueSchema } from './property-schema.js'
import { inputSchemaName } from './schemas.js'

/** One operation of the document with its path and method. */
export interface DocumentedOperation {
  readonly path: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** The operation object without what all operations have: tags, id and security. */
  readonly document: {
    /** The words of the operation's id. */
    readonly id: string
    readonly summary: string
    readonly description?: string
    readonly parameters: readonly object[]
    readonly requestBody?: object
    readonly responses: object
  }
}

/** The `{id}` of a path. */
function idParameter({ properties }: Resource): object {
  const id = properties.find(({ name }) => name === 'id')
  return { name: 'id', in: 'path', required: true, schema: id === undefined ? { type: 'string' } : valueSchema(id) }
}

/** Whether rows have a row version, and so an `ETag`. */
function isVersioned({ properties }: Resource): boolean {
  return properties.some(({ name }) => name === 'rowVersion')
}

/** The reads of a resource that all resources may have. */
export function readOperations(resource: Resource): DocumentedOperation[] {
  const { name } = resource
  return READ_OPERATIONS.filter((operation) => resource.operations.includes(operation)).map((operation) => {
    const { url, summary, answer, mediaType, schema, headers } = READS[operation]
    const isRow = url.endsWith('/:id')
    return {
      path: url.replace(':resource', name).replace(':id', '{id}'),
      method: 'get',
      document: {
        id: `${operation} ${name}`,
        summary,
        parameters: [...(isRow ? [idParameter(resource)] : []), ...operationParameters(resource, operation)],
        responses: {
          ...success({
            status: 200,
            description: answer,
            content: { [mediaType]: { schema: schema(name) } },
            headers: isVersioned(resource) ? headers : headers.filter((header) => header !== 'ETag')
          }),
          ...problemResponses(isRow ? [404] : [])
        }
      }
    }
  })
}

/** The custom reads of a resource. */
export function customReadOperations(resource: Resource): DocumentedOperation[] {
  return resource.reads.map((read) => ({
    path: `/${resource.name}/${read.name}`,
    method: 'get',
    document: {
      id: `${read.name} of ${resource.name}`,
      summary: read.description,
      parameters: [
        ...read.parameters.map((one) => parameterOf(one, 'query')),
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

/** A parameter of a query or a path. */
export function parameterOf(property: Property, place: 'query' | 'path'): object {
  const { name, nullable, description } = property
  return {
    name,
    in: place,
    required: !nullable,
    ...(description === '' ? {} : { description }),
    schema: parameterSchema(property)
  }
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

/** The writes of a resource, its actions included. */
export function writeOperations(resource: Resource): DocumentedOperation[] {
  const { operations, actions } = resource
  return [
    ...(operations.includes('create') ? [create(resource)] : []),
    ...(operations.includes('batch') ? [batch(resource)] : []),
    ...(operations.includes('update') ? [update(resource), patch(resource)] : []),
    ...(operations.includes('delete') ? [remove(resource)] : []),
    ...actions.map((action) => act(resource, action))
  ]
}

function create(resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}`,
    method: 'post',
    document: {
      id: `create ${name}`,
      summary: 'A new row',
      description: 'With an `Idempotency-Key` a retry gets the first answer and makes no second row.',
      parameters: [
        ...ownerParametersFor(resource, 'create'),
        WRITE_HEADER_PARAMETERS.idempotencyKey,
        ...HEADER_PARAMETERS
      ],
      requestBody: requestBody(`${name}.create`),
      responses: {
        ...written(resource, 201, 'The row as created.'),
        ...problemResponses([409, 413, 415, 422])
      }
    }
  }
}

function batch(resource: Resource): DocumentedOperation {
  const { name } = resource
  const items = { $ref: `#/components/schemas/${name}.create` }
  return {
    path: `/${name}/batch`,
    method: 'post',
    document: {
      id: `batch ${name}`,
      summary: 'New rows, all or none',
      description: 'One transaction. Violations name the place of their row in the array, as `/3/name`.',
      parameters: [
        ...ownerParametersFor(resource, 'create'),
        WRITE_HEADER_PARAMETERS.idempotencyKey,
        ...HEADER_PARAMETERS
      ],
      requestBody: { required: true, content: jsonContent({ type: 'array', minItems: 1, maxItems: 500, items }) },
      responses: {
        ...success({
          status: 201,
          description: 'The rows as created, in the order of the request.',
          content: jsonContent({ type: 'array', items: { $ref: `#/components/schemas/${name}` } }),
          headers: ['Idempotent-Replayed']
        }),
        ...problemResponses([409, 413, 415, 422])
      }
    }
  }
}

function update(resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/{id}`,
    method: 'put',
    document: {
      id: `update ${name}`,
      summary: 'What a client may set of a row, replaced',
      description: 'An optional member that is left out becomes null. The row must exist.',
      parameters: guarded(resource, 'update'),
      requestBody: requestBody(`${name}.update`),
      responses: {
        ...written(resource, 200, 'The row as it is now.'),
        ...problemResponses([404, 409, 412, 413, 415, 422, 428])
      }
    }
  }
}

function patch(resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/{id}`,
    method: 'patch',
    document: {
      id: `patch ${name}`,
      summary: 'Some of what a client may set of a row, replaced',
      description:
        'A JSON merge patch (RFC 7396): a member that is left out keeps its value, and null empties one that may be null.',
      parameters: guarded(resource, 'update'),
      requestBody: { required: true, content: mergePatchContent({ $ref: `#/components/schemas/${name}.patch` }) },
      responses: {
        ...written(resource, 200, 'The row as it is now.'),
        ...problemResponses([404, 409, 412, 413, 415, 422, 428])
      }
    }
  }
}

function remove(resource: Resource): DocumentedOperation {
  const { name, deleteCondition } = resource
  return {
    path: `/${name}/{id}`,
    method: 'delete',
    document: {
      id: `delete ${name}`,
      summary: 'A row and its children, removed',
      ...(deleteCondition === '' ? {} : { description: deleteCondition }),
      parameters: [
        idParameter(resource),
        ...ownerParametersFor(resource, 'delete'),
        WRITE_HEADER_PARAMETERS.optionalIfMatch,
        ...HEADER_PARAMETERS
      ],
      responses: {
        ...success({ status: 204, description: 'It is gone.', headers: [] }),
        ...problemResponses([404, 409, 412, ...(deleteCondition === '' ? [] : [422 as const])])
      }
    }
  }
}

function act(
  resource: Resource,
  { name: action, description, ...input }: Resource['actions'][number]
): DocumentedOperation {
  const { name } = resource
  const needsBody = input.childPrecondition !== '' || input.input.some(({ nullable }) => !nullable)
  return {
    path: `/${name}/{id}/${action}`,
    method: 'put',
    document: {
      id: `${action} ${name}`,
      summary: description,
      parameters: guarded(resource, 'act'),
      requestBody: { ...requestBody(inputSchemaName(name, action)), required: needsBody },
      responses: {
        ...written(resource, 200, 'The row as it is now.'),
        ...problemResponses([404, 409, 412, 413, 415, 422, 428])
      }
    }
  }
}

function guarded(resource: Resource, operation: 'update' | 'act'): object[] {
  const { ifMatch, idempotencyKey } = WRITE_HEADER_PARAMETERS
  return [
    idParameter(resource),
    ...ownerParametersFor(resource, operation),
    ifMatch,
    idempotencyKey,
    ...HEADER_PARAMETERS
  ]
}

function ownerParametersFor(resource: Resource, operation: 'create' | 'update' | 'delete' | 'act'): object[] {
  return ownerParameters(ownerParameterOf(resource, operation))
}

function written(resource: Resource, status: 200 | 201, description: string): object {
  return success({
    status,
    description,
    content: jsonContent({ $ref: `#/components/schemas/${resource.name}` }),
    headers: [
      ...(isVersioned(resource) ? (['ETag'] as const) : []),
      'Idempotent-Replayed',
      ...(status === 201 ? (['Location'] as const) : [])
    ]
  })
}

function requestBody(schema: string): object {
  return { required: true, content: jsonContent({ $ref: `#/components/schemas/${schema}` }) }
}
