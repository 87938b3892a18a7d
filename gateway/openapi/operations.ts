import type { ErrorCode } from '../../shared/errors.js'
import type { ReadName } from '../../shared/read-parameters.js'
import { MAX_BATCH, MAX_GROUPS } from '../../shared/request-limits.js'
import type { Action, CustomRead, Property, Resource } from '../data/data-client.js'
import {
  ownerParameterOf,
  ownerParameterOfRead,
  READ_NAMES,
  READ_ROUTES,
  uniqueProperties
} from '../entity-routes/paths.js'
import type { Components, ComponentRef } from './components.js'
import {
  actionExample,
  batchExample,
  changesExample,
  createExample,
  deletesExample,
  exampleIn,
  exportExample,
  itemsExample,
  lookupExample,
  patchExample,
  rowExample,
  rowsExample,
  totalsExample,
  updateExample
} from './examples.js'
import { historyOperation } from './history-operation.js'
import { importOperation } from './import-operation.js'
import {
  createKey,
  exampleMember,
  headerParameters,
  operationParameters,
  ownerParameters,
  writeHeader
} from './parameters.js'
import { problemResponses } from './problems.js'
import { idSchema, parameterSchema, propertySchema } from './property-schema.js'
import {
  content,
  ENTITY_HEADERS,
  jsonContent,
  mergePatchContent,
  sharedSuccess,
  success,
  type Success,
  successResponse
} from './responses.js'
import {
  actionSchema,
  changeSchema,
  createSchema,
  deletedSchema,
  lookupSchema,
  patchSchema,
  shapedRowSchema,
  totalsSchema,
  updateSchema,
  writtenSchema
} from './schemas.js'

/** One operation of the document with its path and method. */
export interface DocumentedOperation {
  readonly path: string
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** The operation object without what all operations have: tags, id and security. */
  readonly document: {
    /** The words of the operation's id. */
    readonly id: string
    readonly summary: string
    readonly description: string
    readonly parameters: readonly object[]
    readonly requestBody?: object
    readonly responses: object
  }
}

// The codes of the errors that each kind of operation may be answered with, beside those of every operation.

const ANY: readonly ErrorCode[] = [
  'request.malformed',
  'parameter.unknown',
  'version.unsupported',
  'auth.required',
  'auth.invalid-token',
  'ownership.denied',
  'capability.denied'
]
const BODY: readonly ErrorCode[] = [
  'body.malformed',
  'body.invalid',
  'body.too-large',
  'media-type.unsupported',
  'idempotency.key.invalid',
  'idempotency.key.reused',
  'idempotency.in-flight'
]
const ROW: readonly ErrorCode[] = ['id.invalid', 'not-found']
const FILTERS: readonly ErrorCode[] = [
  'filter.property.unknown',
  'filter.operator.unsupported',
  'filter.value.invalid',
  'filter.too-many',
  'sort.property.unknown',
  'sort.direction.invalid',
  'fields.invalid'
]
const TOTALS: readonly ErrorCode[] = [...FILTERS.filter((code) => code !== 'fields.invalid'), 'totals.invalid']
const SEARCH: readonly ErrorCode[] = ['filter.value.invalid', 'filter.too-many']

const CODES = {
  list: [...ANY, ...SEARCH, 'fields.invalid', 'include.invalid', 'include.too-many'],
  paged: [...ANY, ...FILTERS, 'include.invalid', 'include.too-many', 'paging.invalid', 'paging.cursor.invalid'],
  export: [...ANY, ...FILTERS],
  lookup: [...ANY, ...SEARCH],
  totals: [...ANY, ...TOTALS],
  // `totals` is never an id, also where the resource has no totals.
  get: [...ANY, ...ROW, 'route.not-found', 'fields.invalid', 'include.invalid', 'include.too-many'],
  history: [...ANY, ...ROW, 'paging.invalid', 'paging.cursor.invalid'],
  read: [...ANY, ...SEARCH],
  create: [...ANY, ...BODY, 'idempotency.key.missing', 'conflict', 'state.invalid'],
  guarded: [
    ...ANY,
    ...BODY,
    ...ROW,
    'id.mismatch',
    'precondition.malformed',
    'precondition.required',
    'conflict',
    'state.invalid'
  ],
  // Also without a condition: a stored value that cannot be read keeps a history or a hook from having the row.
  delete: [...ANY, ...ROW, 'precondition.malformed', 'conflict', 'state.invalid']
} as const satisfies Readonly<Record<string, readonly ErrorCode[]>>

function problems(components: Components, name: keyof typeof CODES): object {
  return problemResponses(components, { name, codes: CODES[name], guarded: name === 'guarded' })
}

/** The `{id}` of a path. */
function idParameter(components: Components, { name, properties }: Resource): object {
  const id = properties.find((property) => property.name === 'id')
  const parameter = {
    name: 'id',
    in: 'path',
    description: 'The `id` of the row.',
    required: true,
    schema: id === undefined ? { type: 'string' } : idSchema(id)
  }
  if (!components.exact) return components.share('parameters', `id.${id?.type ?? 'string'}`, parameter)
  return components.refer('parameters', `${name}.id`, () => ({
    ...parameter,
    ...(id === undefined ? {} : exampleMember(exampleIn(id)))
  }))
}

/** Whether rows have a row version, and so an `ETag`. */
function isVersioned({ properties }: Resource): boolean {
  return properties.some(({ name }) => name === 'rowVersion')
}

/** No parameter of OpenAPI has a number in its name. */
const GROUPS =
  `Filters in groups: \`anyOf[<n>].filters[<property>].operator\` and \`.value\`, with n from 1 to ${MAX_GROUPS}. Of the ` +
  'conditions of each group one at least must hold.'

/** Paths below a resource that name a row by a unique property. Their parameter has the name of the property. */
function pathBy({ name }: Resource, property: Property): string {
  return `/${name}/by/${property.name}/{${property.name}}`
}

function byParameter(property: Property): object {
  const { name } = property
  return {
    name,
    in: 'path',
    description: `The \`${name}\` of the row.`,
    required: true,
    schema: idSchema(property),
    ...exampleMember(exampleIn(property))
  }
}

/** The reads of a resource that all resources may have. */
export function readOperations(components: Components, resource: Resource): DocumentedOperation[] {
  const { name } = resource
  const reads = READ_NAMES.filter((operation) => resource.operations.includes(operation)).map(
    (operation): DocumentedOperation => {
      const { url, filters } = READ_ROUTES[operation]
      const { summary, answer } = wordsOf(operation, resource)
      const isRow = url.endsWith('/:id')
      return {
        path: url.replace(':resource', name).replace(':id', '{id}'),
        method: 'get',
        document: {
          id: `${operation} ${name}`,
          summary,
          description: filters ? `${answer} ${GROUPS}` : answer,
          parameters: [
            ...(isRow ? [idParameter(components, resource)] : []),
            ...operationParameters(components, resource, operation)
          ],
          responses: answers(components, resource, operation)
        }
      }
    }
  )
  return [
    ...reads,
    ...uniqueProperties(resource).map((property) => getByOperation(components, resource, property)),
    ...(resource.operations.includes('history') ? [history(components, resource)] : [])
  ]
}

function history(components: Components, resource: Resource): DocumentedOperation {
  const id = idParameter(components, resource)
  return historyOperation(components, resource, { id, problems: problems(components, 'history') })
}

function getByOperation(components: Components, resource: Resource, property: Property): DocumentedOperation {
  return {
    path: pathBy(resource, property),
    method: 'get',
    document: {
      id: `get ${resource.name} by ${property.name}`,
      summary: `The row with this \`${property.name}\``,
      description: 'The answer of the read by id. Text is compared as the unique index compares it.',
      parameters: [byParameter(property), ...operationParameters(components, resource, 'get')],
      responses: answers(components, resource, 'get')
    }
  }
}

function answers(components: Components, resource: Resource, operation: ReadName): object {
  const { mediaType, headers } = READ_ROUTES[operation]
  const { answer } = wordsOf(operation, resource)
  const lacking = [
    ...(isVersioned(resource) ? [] : ['ETag']),
    ...(resource.key.length > 0 ? [] : ['X-Next-Cursor', 'X-Previous-Cursor'])
  ]
  const succeeds = (row: Success): object =>
    operation === 'export' ? sharedSuccess(components, 'Export', row) : success(components, row)
  return {
    ...succeeds({
      status: 200,
      description: answer,
      content: {
        ...content(mediaType, ...documentedAnswer(components, resource, operation)),
        ...(operation === 'totals' ? content('text/csv', { type: 'string' }) : {})
      },
      headers: [...ENTITY_HEADERS, ...headers.filter((header) => !lacking.includes(header))]
    }),
    ...problems(components, operation)
  }
}

/** Rows without a key have no order by id. */
function wordsOf(operation: ReadName, { key }: Resource): { readonly summary: string; readonly answer: string } {
  const isUnnamed = operation === 'list' && key.length === 0
  return isUnnamed
    ? { summary: 'The first rows', answer: 'Rows in order of all their properties.' }
    : READ_ROUTES[operation]
}

/** The schema of the body, and its example. */
function documentedAnswer(
  components: Components,
  resource: Resource,
  operation: ReadName
): readonly [schema: object, example: ComponentRef | undefined] {
  switch (READ_ROUTES[operation].body) {
    case 'rows':
      return [{ type: 'array', items: shapedRowSchema(components, resource) }, rowsExample(components, resource)]
    case 'row':
      return [shapedRowSchema(components, resource), rowExample(components, resource)]
    case 'lookup':
      return [lookupSchema(components, resource), lookupExample(components, resource)]
    case 'totals':
      return [totalsSchema(components, resource), totalsExample(components, resource)]
    case 'file':
      return [{ type: 'string' }, exportExample(components, resource)]
  }
}

/** The custom reads of a resource. */
export function customReadOperations(components: Components, resource: Resource): DocumentedOperation[] {
  return resource.reads.map((read) => ({
    path: `/${resource.name}/${read.name}`,
    method: 'get',
    document: {
      id: `${read.name} of ${resource.name}`,
      summary: read.description,
      description: 'A read of its own that the resource has.',
      parameters: [
        ...read.parameters.map((one) => parameterOf(one, 'query')),
        ...ownerParameters(components, ownerParameterOfRead(resource, read)),
        ...headerParameters(components)
      ],
      responses: {
        ...success(components, {
          status: 200,
          description: 'Its items.',
          content: jsonContent(
            { type: 'array', items: itemSchema(read) },
            itemsExample(components, resource.name, read)
          ),
          headers: [...ENTITY_HEADERS, 'X-Row-Limit', 'X-Truncated']
        }),
        ...problems(components, 'read')
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
    schema: parameterSchema(property),
    ...exampleMember(exampleIn(property))
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
export function writeOperations(components: Components, resource: Resource): DocumentedOperation[] {
  const { operations, actions, updatesByProperty } = resource
  return [
    ...(operations.includes('create') ? [createOperation(components, resource)] : []),
    ...(operations.includes('batch') ? [batch(components, resource)] : []),
    ...(operations.includes('import') ? [importOperation(components, resource, problems(components, 'create'))] : []),
    ...(operations.includes('update') ? [updateOperation(components, resource), patch(components, resource)] : []),
    ...(updatesByProperty ? uniqueProperties(resource).map((one) => updateByOperation(components, resource, one)) : []),
    ...(operations.includes('updateBatch') ? [patchBatch(components, resource)] : []),
    ...(operations.includes('delete') ? [deleteOperation(components, resource)] : []),
    ...(operations.includes('deleteBatch') ? [deleteBatch(components, resource)] : []),
    ...actions.map((action) => actOperation(components, resource, action))
  ]
}

function createOperation(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}`,
    method: 'post',
    document: {
      id: `create ${name}`,
      summary: 'A new row',
      description: 'Creates one row. With an `Idempotency-Key` a retry gets the first answer and makes no second row.',
      parameters: createParameters(components, resource),
      requestBody: requestBody(createSchema(components, resource), createExample(components, resource)),
      responses: {
        ...created(components, resource),
        ...problems(components, 'create')
      }
    }
  }
}

function batch(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  const items = createSchema(components, resource)
  return {
    path: `/${name}/batch`,
    method: 'post',
    document: {
      id: `batch ${name}`,
      summary: 'New rows, all or none',
      description: 'One transaction. Violations name the place of their row in the array, as `/3/name`.',
      parameters: createParameters(components, resource),
      requestBody: requestBody(batchOf(items), batchExample(components, resource)),
      responses: {
        ...success(components, {
          status: 201,
          description: 'The rows as created, in the order of the request.',
          content: jsonContent(
            { type: 'array', items: writtenSchema(components, resource) },
            rowsExample(components, resource)
          ),
          headers: [...ENTITY_HEADERS, 'Idempotent-Replayed']
        }),
        ...problems(components, 'create')
      }
    }
  }
}

function createParameters(components: Components, resource: Resource): object[] {
  return [
    ...ownerParametersFor(components, resource, 'create'),
    createKey(components),
    ...headerParameters(components, 'write')
  ]
}

function updateOperation(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/{id}`,
    method: 'put',
    document: {
      id: `update ${name}`,
      summary: 'What a client may set of a row, replaced',
      description: 'An optional member that is left out becomes null. The row must exist.',
      parameters: guardedParameters(components, resource, { operation: 'update' }),
      requestBody: requestBody(updateSchema(components, resource), updateExample(components, resource)),
      responses: { ...written(components, resource), ...problems(components, 'guarded') }
    }
  }
}

function updateByOperation(components: Components, resource: Resource, property: Property): DocumentedOperation {
  const { document } = updateOperation(components, resource)
  const { name } = property
  return {
    path: pathBy(resource, property),
    method: 'put',
    document: {
      ...document,
      id: `update ${resource.name} by ${name}`,
      description: `The row that has this \`${name}\` when it is written. The body may leave \`${name}\` out, and may name no other.`,
      parameters: guardedParameters(components, resource, { operation: 'update', row: byParameter(property) })
    }
  }
}

function patch(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/{id}`,
    method: 'patch',
    document: {
      id: `patch ${name}`,
      summary: 'Some of what a client may set of a row, replaced',
      description:
        'A JSON merge patch (RFC 7396). A member that is left out keeps its value, and null empties one that may be null.',
      parameters: guardedParameters(components, resource, { operation: 'update' }),
      requestBody: {
        required: true,
        content: mergePatchContent(patchSchema(components, resource), patchExample(components, resource))
      },
      responses: { ...written(components, resource), ...problems(components, 'guarded') }
    }
  }
}

const ALL_OR_NONE =
  'One transaction. Each item names its row and the `rowVersion` that the row was last read with, in the place of ' +
  '`If-Match`. The error of an item names its place in the array, as `/3`.'

function patchBatch(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  const items = changeSchema(components, resource)
  return {
    path: `/${name}/batch`,
    method: 'patch',
    document: {
      id: `patch batch ${name}`,
      summary: 'Some of what a client may set of several rows, replaced, all or none',
      description: `${ALL_OR_NONE} Its other members are a JSON merge patch (RFC 7396).`,
      parameters: batchParameters(components, resource, 'update'),
      requestBody: {
        required: true,
        content: mergePatchContent(batchOf(items), changesExample(components, resource))
      },
      responses: {
        ...success(components, {
          status: 200,
          description: 'The rows as they are now, in the order of the request.',
          content: jsonContent(
            { type: 'array', items: writtenSchema(components, resource) },
            rowsExample(components, resource)
          ),
          headers: [...ENTITY_HEADERS, 'Idempotent-Replayed']
        }),
        ...problems(components, 'guarded')
      }
    }
  }
}

function deleteBatch(components: Components, resource: Resource): DocumentedOperation {
  const { name } = resource
  return {
    path: `/${name}/batch/delete`,
    method: 'post',
    document: {
      id: `delete batch ${name}`,
      summary: 'Several rows and their children, removed, all or none',
      description: ALL_OR_NONE,
      parameters: batchParameters(components, resource, 'delete'),
      requestBody: requestBody(batchOf(deletedSchema(components, resource)), deletesExample(components, resource)),
      responses: {
        ...sharedSuccess(components, 'Deleted.batch', {
          status: 204,
          description: 'They are gone.',
          headers: [...ENTITY_HEADERS, 'Idempotent-Replayed']
        }),
        ...problems(components, 'guarded')
      }
    }
  }
}

function batchOf(items: object): object {
  return { type: 'array', minItems: 1, maxItems: MAX_BATCH, items }
}

function batchParameters(components: Components, resource: Resource, operation: 'update' | 'delete'): object[] {
  return [
    ...ownerParametersFor(components, resource, operation),
    operation === 'update' ? writeHeader(components, 'Idempotency-Key') : createKey(components),
    ...headerParameters(components, 'write')
  ]
}

function deleteOperation(components: Components, resource: Resource): DocumentedOperation {
  const { name, deleteCondition } = resource
  return {
    path: `/${name}/{id}`,
    method: 'delete',
    document: {
      id: `delete ${name}`,
      summary: 'A row and its children, removed',
      description: deleteCondition === '' ? 'Not while other rows refer to it.' : deleteCondition,
      parameters: [
        idParameter(components, resource),
        ...ownerParametersFor(components, resource, 'delete'),
        writeHeader(components, 'If-Match.optional'),
        ...headerParameters(components, 'write')
      ],
      responses: {
        ...sharedSuccess(components, 'Deleted', { status: 204, description: 'It is gone.', headers: ENTITY_HEADERS }),
        ...problems(components, 'delete'),
        // A delete is guarded if it names a version, and not otherwise.
        412: problemResponses(components, { name: 'delete', codes: ['conflict'], guarded: true })[412]
      }
    }
  }
}

function actOperation(components: Components, resource: Resource, action: Action): DocumentedOperation {
  const { name } = resource
  const { input, childPrecondition } = action
  const required = childPrecondition !== '' || input.some((member) => !member.nullable || member.requiredOnCreate)
  return {
    path: `/${name}/{id}/${action.name}`,
    method: 'put',
    document: {
      id: `${action.name} ${name}`,
      summary: action.description,
      description: 'An action on the row as it was last read.',
      parameters: guardedParameters(components, resource, { operation: 'act' }),
      requestBody: {
        ...requestBody(actionSchema(components, name, action), actionExample(components, name, action)),
        required
      },
      responses: { ...written(components, resource, action.handsOver), ...problems(components, 'guarded') }
    }
  }
}

function guardedParameters(
  components: Components,
  resource: Resource,
  { operation, row = idParameter(components, resource) }: { operation: 'update' | 'act'; row?: object }
): object[] {
  return [
    row,
    ...ownerParametersFor(components, resource, operation),
    writeHeader(components, 'If-Match'),
    writeHeader(components, 'Idempotency-Key'),
    ...headerParameters(components, 'write')
  ]
}

function ownerParametersFor(
  components: Components,
  resource: Resource,
  operation: 'create' | 'update' | 'delete' | 'act'
): object[] {
  return ownerParameters(components, ownerParameterOf(resource, operation))
}

function created(components: Components, resource: Resource): object {
  return success(components, {
    status: 201,
    description: 'The row as created.',
    content: jsonContent(writtenSchema(components, resource), rowExample(components, resource)),
    headers: [...writtenHeaders(resource), 'Location']
  })
}

/** The response of guarded writes, which share one, and one of the actions that hand a row over. */
function written(components: Components, resource: Resource, handsOver = false): object {
  const response = components.refer('responses', `${resource.name}.${handsOver ? 'handed-over' : 'written'}`, () =>
    successResponse(components, {
      description: handsOver
        ? 'The row as it is now, or its id where the caller reads it no more.'
        : 'The row as it is now.',
      content: jsonContent(writtenSchema(components, resource, handsOver), rowExample(components, resource)),
      headers: writtenHeaders(resource)
    })
  )
  return { 200: response }
}

function writtenHeaders(resource: Resource): Success['headers'] {
  return [...ENTITY_HEADERS, ...(isVersioned(resource) ? (['ETag'] as const) : []), 'Idempotent-Replayed']
}

function requestBody(schema: object, example: ComponentRef | undefined): object {
  return { required: true, content: jsonContent(schema, example) }
}
