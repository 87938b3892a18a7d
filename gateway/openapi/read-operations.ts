import type { Resource } from '../data-calls.js'
import type { ReadOperation } from '../headers/route-parameters.js'
import type { HeaderName } from './headers.js'
import { idParameter, type DocumentedOperation } from './operation.js'
import { operationParameters } from './parameters.js'
import { jsonContent, problemResponses, success } from './responses.js'

interface Read {
  readonly path: string
  readonly summary: string
  readonly answer: string
  readonly content: object
  readonly headers: readonly HeaderName[]
}

const CSV = { 'text/csv': { schema: { type: 'string' } } } as const

/** The reads that a resource serves. */
export function readOperations(resource: Resource): DocumentedOperation[] {
  // The keys are those of the record.
  return (Object.entries(readsOf(resource.name)) as [ReadOperation, Read][])
    .filter(([operation]) => resource.operations.includes(operation))
    .map(([operation, read]) => ({
      path: read.path,
      method: 'get',
      document: {
        id: `${operation} ${resource.name}`,
        summary: read.summary,
        parameters: [
          ...(operation === 'get' ? [idParameter(resource)] : []),
          ...operationParameters(resource, operation)
        ],
        responses: {
          ...success({ status: 200, description: read.answer, content: read.content, headers: read.headers }),
          ...problemResponses(operation === 'get' ? [404] : [])
        }
      }
    }))
}

function readsOf(name: string): Readonly<Record<ReadOperation, Read>> {
  const row = { $ref: `#/components/schemas/${name}` }
  const rows = jsonContent({ type: 'array', items: row })
  return {
    list: {
      path: `/${name}`,
      summary: 'The first rows by id',
      answer: 'Rows in order of id.',
      content: rows,
      headers: ['X-Row-Limit', 'X-Truncated', 'Link']
    },
    paged: {
      path: `/${name}/paged`,
      summary: 'A filtered, sorted page',
      answer: 'The rows of the page.',
      content: rows,
      headers: ['X-Pagination', 'X-Total-Count', 'Link']
    },
    export: {
      path: `/${name}/export`,
      summary: 'Every row that matches, as CSV',
      answer: 'RFC 4180 with CRLF. A cut file ends in a row that says so.',
      content: CSV,
      headers: ['X-Export-Row-Limit', 'Content-Disposition']
    },
    lookup: {
      path: `/${name}/lookup`,
      summary: 'Id and name pairs',
      answer: 'Ordered by name, then id.',
      content: jsonContent({ $ref: `#/components/schemas/${name}.lookup` }),
      headers: ['X-Truncated']
    },
    get: {
      path: `/${name}/{id}`,
      summary: 'One row',
      answer: 'The row.',
      content: jsonContent(row),
      headers: ['ETag']
    }
  }
}
