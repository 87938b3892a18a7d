import type { JsonShape, Operation, Property } from '../data/data-client.js'
import { ERROR_CODES, type ErrorCode, errorKind } from '../../shared/errors.js'
import type { Components, ComponentRef } from './components.js'
import { shapeExample } from './examples.js'
import { type DocumentedOperation, parameterOf } from './operations.js'
import { createKey, headerParameters, writeHeader } from './parameters.js'
import { problemResponses } from './problems.js'
import { answerSchema, inputSchema } from './property-schema.js'
import { ENTITY_HEADERS, jsonContent, success } from './responses.js'

/** The tag of the operations that the application has beside the uniform ones. */
export const OPERATIONS_TAG = {
  name: 'operations',
  description: 'What the application does beside its resources.'
} as const

/** An operation of the application, with whether its access token is optional. */
interface OwnOperation extends DocumentedOperation {
  readonly isPublic: boolean
}

export function ownOperations(components: Components, operations: readonly Operation[]): OwnOperation[] {
  return operations.map((operation) => {
    const { name, path, description, access, permission, pathParameters, queryParameters, body, answer, versioned } =
      operation
    const method = OPENAPI_METHODS[operation.method] ?? 'get'
    const isGuarded = versioned && method !== 'get'
    return {
      path,
      method,
      isPublic: access === 'everyone',
      document: {
        id: name,
        summary: description,
        description:
          permission === '' ? 'An operation of the application.' : `For callers with the permission \`${permission}\`.`,
        parameters: [
          ...pathParameters.map((one) => parameterOf(one, 'path')),
          ...queryParameters.map((one) => parameterOf(one, 'query')),
          ...keyParameters(components, method),
          ...(isGuarded ? [writeHeader(components, 'If-Match')] : []),
          ...headerParameters(components, method === 'get' ? 'read' : 'write')
        ],
        ...(body === null
          ? {}
          : { requestBody: shapeBody(body, shapeExample(components, `operation.${name}.body`, body)) }),
        responses: {
          ...success(components, {
            status: documentedStatus(operation),
            description: answer === null ? 'It is done.' : 'The answer.',
            ...(answer === null
              ? {}
              : {
                  content: jsonContent(
                    shapeSchema(answer, answerSchema),
                    shapeExample(components, `operation.${name}.answer`, answer)
                  )
                }),
            headers: [
              ...ENTITY_HEADERS,
              ...(versioned ? (['ETag'] as const) : []),
              ...(method === 'get' ? [] : (['Idempotent-Replayed'] as const))
            ]
          }),
          ...problemResponses(components, {
            name: method === 'get' ? 'operation' : isGuarded ? 'operation.guarded' : 'operation.write',
            codes: codesOf(method, isGuarded),
            guarded: isGuarded
          })
        }
      }
    }
  })
}

/** The codes of the errors of the application's operations, whose handlers decide most of them. */
function codesOf(method: DocumentedOperation['method'], isGuarded: boolean): readonly ErrorCode[] {
  const statuses = method === 'get' ? [400, 401, 403, 404] : [400, 401, 403, 404, 409, 413, 415, 422]
  const own = ERROR_CODES.filter((code) => statuses.includes(errorKind(code).http) && !NOT_OF_OPERATIONS.test(code))
  return isGuarded ? [...own, 'precondition.malformed', 'precondition.required'] : own
}

/** Codes of resources, of browser sessions and of paths that do not exist. */
const NOT_OF_OPERATIONS =
  /^(?:paging|fields|sort|include|precondition|id\.mismatch|request\.cross-site|antiforgery|auth\.invalid-credentials|route)/

const OPENAPI_METHODS: Readonly<Record<string, DocumentedOperation['method']>> = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  DELETE: 'delete'
}

function documentedStatus({ status }: Operation): 200 | 201 | 202 | 204 {
  return status === 201 || status === 202 || status === 204 ? status : 200
}

function shapeBody(body: JsonShape, example: ComponentRef | undefined): object {
  const { required, ...schema } = shapeSchema(body, inputSchema)
  return {
    required: required !== undefined && required.length > 0,
    content: jsonContent({ ...schema, required }, example)
  }
}

function keyParameters(components: Components, method: string): object[] {
  if (method === 'get') return []
  return [method === 'post' ? createKey(components) : writeHeader(components, 'Idempotency-Key')]
}

interface ShapeSchema {
  readonly type: 'object' | 'array'
  readonly required?: readonly string[]
  readonly [keyword: string]: unknown
}

/** `valueSchema` makes the schema of a single value: of a request or of an answer. */
function shapeSchema(shape: JsonShape, valueSchema: (property: Property) => object): ShapeSchema {
  if (shape.kind !== 'SHAPE_KIND_LIST') return objectSchema(shape, valueSchema)
  const { item, nested, minItems, maxItems } = shape
  const items =
    item !== null
      ? valueSchema(item)
      : nested !== null
        ? shapeSchema(nested, valueSchema)
        : objectSchema(shape, valueSchema)
  return { type: 'array', minItems, maxItems, items }
}

function objectSchema({ members }: JsonShape, valueSchema: (property: Property) => object): ShapeSchema {
  const isInput = valueSchema === inputSchema
  const named = members.flatMap(({ name, property, shape }) => {
    if (property !== null) {
      return [{ name: property.name, required: !isInput || property.requiredOnCreate, schema: valueSchema(property) }]
    }
    if (shape === null) return []
    const mayBeAbsent = isInput && shape.kind === 'SHAPE_KIND_LIST' && shape.minItems === 0
    return [{ name, required: !mayBeAbsent, schema: shapeSchema(shape, valueSchema) }]
  })
  return {
    type: 'object',
    required: named.filter(({ required }) => required).map(({ name }) => name),
    properties: Object.fromEntries(named.map(({ name, schema }) => [name, schema]))
  }
}
