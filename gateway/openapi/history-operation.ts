import type { Resource } from '../data/data-client.js'
import { HISTORY_PARAMETERS } from '../entity-routes/history.js'
import { ownerParameterOf } from '../entity-routes/paths.js'
import type { Components } from './components.js'
import { historyExample } from './examples.js'
import { headerParameters, ownerParameters, plainParameter } from './parameters.js'
import { ENTITY_HEADERS, jsonContent, sharedSuccess } from './responses.js'

/** `GET /{resource}/{id}/history`. `id` is the parameter of the path. */
export function historyOperation(
  components: Components,
  resource: Resource,
  { id, problems }: { readonly id: object; readonly problems: object }
) {
  const { name } = resource
  return {
    path: `/${name}/{id}/history`,
    method: 'get' as const,
    document: {
      id: `history ${name}`,
      summary: 'What writes have changed of a row',
      description:
        'The audit entries of the row, the newest first, with the properties that the caller may read. A row that was ' +
        'deleted has a history for callers who read every row and the audit entries.',
      parameters: [
        id,
        ...HISTORY_PARAMETERS.map((one) => plainParameter(components, one)),
        ...ownerParameters(components, ownerParameterOf(resource, 'get')),
        ...headerParameters(components)
      ],
      responses: {
        ...sharedSuccess(components, 'History', {
          status: 200,
          description: 'A page of entries, at most 50.',
          content: jsonContent(
            components.refer('schemas', 'History', () => HISTORY),
            historyExample(components, resource)
          ),
          headers: [...ENTITY_HEADERS, 'X-Next-Cursor', 'Link']
        }),
        ...problems
      }
    }
  }
}

const CHANGE = {
  type: 'object',
  description:
    '`before` is absent for a new row, `after` for a deleted one, both where the values were too long to be kept.',
  properties: { before: {}, after: {}, omitted: { type: 'boolean' } }
} as const

const HISTORY = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'at', 'action', 'changes'],
    properties: {
      id: { type: 'string' },
      at: { type: 'string', format: 'date-time' },
      action: { type: 'string', description: '`create`, `update`, `delete` or the name of an action.' },
      subject: {
        type: 'string',
        description: 'Issuer and subject of the writer, for callers who read the audit entries.'
      },
      requestId: { type: ['string', 'null'], description: 'Likewise: `X-Request-Id` of the write.' },
      changes: { type: 'object', additionalProperties: CHANGE }
    }
  }
} as const
