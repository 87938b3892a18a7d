import type { Resource } from '../data-calls.js'
import { ownerParameterOf } from '../entity-routes/owner-parameter.js'
import { idParameter, type DocumentedOperation } from './operation.js'
import { HEADER_PARAMETERS, ownerParameters, WRITE_HEADER_PARAMETERS } from './parameters.js'
import { jsonContent, problemResponses, success } from './responses.js'
import { inputSchemaName } from './write-schemas.js'

/** The writes that a resource serves, its actions included. */
export function writeOperations(resource: Resource): DocumentedOperation[] {
  const { operations, actions } = resource
  return [
    ...(operations.includes('create') ? [create(resource)] : []),
    ...(operations.includes('update') ? [update(resource)] : []),
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
      parameters: [...ownerOf(resource, 'create'), WRITE_HEADER_PARAMETERS.idempotencyKey, ...HEADER_PARAMETERS],
      requestBody: requestBody(`${name}.create`),
      responses: {
        ...written(name, 201, 'The row as created.'),
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
        ...written(name, 200, 'The row as it is now.'),
        ...problemResponses([404, 409, 412, 413, 415, 422, 428])
      }
    }
  }
}

function remove(resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/{id}`,
    method: 'delete',
    document: {
      id: `delete ${name}`,
      summary: 'A row and its children, removed',
      parameters: [
        idParameter(resource),
        ...ownerOf(resource, 'delete'),
        WRITE_HEADER_PARAMETERS.optionalIfMatch,
        ...HEADER_PARAMETERS
      ],
      responses: {
        ...success({ status: 204, description: 'It is gone.', headers: [] }),
        ...problemResponses([404, 409, 412])
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
        ...written(name, 200, 'The row as it is now.'),
        ...problemResponses([404, 409, 412, 413, 415, 422, 428])
      }
    }
  }
}

function guarded(resource: Resource, operation: 'update' | 'act'): object[] {
  const { ifMatch, idempotencyKey } = WRITE_HEADER_PARAMETERS
  return [idParameter(resource), ...ownerOf(resource, operation), ifMatch, idempotencyKey, ...HEADER_PARAMETERS]
}

function ownerOf(resource: Resource, operation: 'create' | 'update' | 'delete' | 'act'): object[] {
  return ownerParameters(ownerParameterOf(resource, operation))
}

function written(name: string, status: 200 | 201, description: string): object {
  return success({
    status,
    description,
    content: jsonContent({ $ref: `#/components/schemas/${name}` }),
    headers: ['ETag', 'Idempotent-Replayed', ...(status === 201 ? (['Location'] as const) : [])]
  })
}

function requestBody(schema: string): object {
  return { required: true, content: jsonContent({ $ref: `#/components/schemas/${schema}` }) }
}
