import { MAX_IMPORT_ROWS } from '../../shared/request-limits.js'
import type { Resource } from '../data/data-client.js'
import { ownerParameterOf, uniqueProperties } from '../entity-routes/paths.js'
import type { Components } from './components.js'
import { importExamples } from './examples.js'
import { headerParameters, ownerParameters, writeHeader } from './parameters.js'
import { content, ENTITY_HEADERS, jsonContent, sharedSuccess } from './responses.js'

/** `POST /{resource}/import`. `problems` are the failures of a create, which are those of its rows. */
export function importOperation(components: Components, resource: Resource, problems: object) {
  const { name } = resource
  const examples = importExamples(components, resource)
  return {
    path: `/${name}/import`,
    method: 'post' as const,
    document: {
      id: `import ${name}`,
      summary: 'New rows out of a file',
      description:
        'Each row is judged as a create. The file has at most 256 MiB, is CSV with a header row of property names, or has a ' +
        'JSON object in each line. The same request sent again after a break goes on where it ended.',
      parameters: [
        ...ownerParameters(components, ownerParameterOf(resource, 'create')),
        components.refer('parameters', 'import.onError', () => ON_ERROR),
        ...byParameter(components, resource),
        writeHeader(components, 'Idempotency-Key.required'),
        ...headerParameters(components)
      ],
      requestBody: components.exact
        ? fileBody(examples)
        : components.refer('requestBodies', 'Import', () => fileBody(examples)),
      responses: {
        ...sharedSuccess(components, 'Imported', {
          status: 200,
          description: 'What the file came to.',
          content: jsonContent(
            components.refer('schemas', 'Import', () => OUTCOME),
            components.refer('examples', 'Import', () => ({ value: OUTCOME_EXAMPLE }))
          ),
          headers: [...ENTITY_HEADERS, 'Idempotent-Replayed']
        }),
        ...problems
      }
    }
  }
}

function fileBody({ csv, ndjson }: ReturnType<typeof importExamples>): object {
  return {
    required: true,
    content: {
      ...content('text/csv', { type: 'string' }, csv),
      ...content('application/x-ndjson', { type: 'string' }, ndjson)
    }
  }
}

const ON_ERROR = {
  name: 'onError',
  in: 'query',
  description:
    `What happens at a row that cannot be created. \`stop\`: nothing of the file stays, which has at most ${MAX_IMPORT_ROWS.stop} ` +
    `rows. \`skip\`: the other rows are created, of at most ${MAX_IMPORT_ROWS.skip}.`,
  schema: { type: 'string', enum: ['stop', 'skip'], default: 'stop' }
} as const

function byParameter(components: Components, resource: Resource): object[] {
  const names = uniqueProperties(resource).flatMap(({ name, setOnCreate }) => (setOnCreate ? [name] : []))
  if (names.length === 0) return []
  return [
    components.refer('parameters', `${resource.name}.import.by`, () => ({
      name: 'by',
      in: 'query',
      description: 'A row whose value of this property is there already is left alone, and counted as `existing`.',
      schema: { type: 'string', enum: names }
    }))
  ]
}

const COUNT = { type: 'integer', minimum: 0 } as const

const OUTCOME = {
  type: 'object',
  required: ['rows', 'created', 'failed', 'replayed', 'errors'],
  properties: {
    rows: { ...COUNT, description: 'Rows of the file.' },
    created: { ...COUNT, description: 'Rows that this request has created.' },
    existing: { ...COUNT, description: 'Rows that were not changed. Only with `by`.' },
    failed: { ...COUNT, description: 'Rows that could not be created.' },
    replayed: { ...COUNT, description: 'Rows that an earlier request with the same key has created.' },
    errors: {
      type: 'array',
      maxItems: 1000,
      items: {
        type: 'object',
        required: ['row', 'code', 'detail', 'pointer'],
        properties: {
          row: { type: 'integer', minimum: 1, description: 'Rows count from 1. A header row is none.' },
          code: { type: 'string' },
          detail: { type: 'string' },
          pointer: { type: 'string', description: 'JSON pointer into the row; empty for the whole row.' }
        }
      }
    }
  }
} as const

const OUTCOME_EXAMPLE = { rows: 1, created: 1, failed: 0, replayed: 0, errors: [] } as const
