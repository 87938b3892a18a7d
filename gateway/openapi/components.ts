import { ERROR_CODES } from '../../shared/errors.js'
import { MERGE_PATCH_TYPE } from '../http/json-body.js'

const TEXT = { type: 'string' } as const

function header(description: string, schema: object = TEXT): object {
  return { description, schema }
}

/** Response headers by name. Responses refer to them. */
export const COMPONENT_HEADERS = {
  'X-Request-Id': header('The id of the request, the one sent where it matches `[A-Za-z0-9._-]{1,128}`.'),
  'api-supported-versions': header('The versions served.', { type: 'string', const: '1.0' }),
  'X-Ignored-Parameters': header(
    'Percent-encoded names of what was ignored, comma-separated: query parameters, and members of the body as `body.<name>`.'
  ),
  'X-Row-Limit': header('The most rows that an unpaged list answers.', { type: 'integer' }),
  'X-Truncated': header('Sent where rows were left out.', { type: 'string', const: 'true' }),
  'X-Pagination': header('The place of the page among the others, as JSON.', {
    type: 'string',
    contentMediaType: 'application/json',
    contentSchema: {
      type: 'object',
      required: ['pageSize', 'currentPage', 'hasPrevious', 'hasNext'],
      properties: {
        totalCount: { type: 'integer', description: 'Absent with includeTotal=false.' },
        pageSize: { type: 'integer', description: 'As clamped.' },
        currentPage: {
          type: ['integer', 'null'],
          description: 'As asked, in exact digits. null in an answer to a cursor; absent where it has over 1000 digits.'
        },
        totalPages: { type: 'integer', description: 'Absent with includeTotal=false.' },
        hasPrevious: { type: 'boolean' },
        hasNext: { type: 'boolean' }
      }
    }
  }),
  'X-Total-Count': header('Rows that match in all; absent with includeTotal=false.', { type: 'integer' }),
  'X-Next-Cursor': header(
    'The value of `after` for the rows that follow. Absent where there are none, and where it would be over 1 KiB.'
  ),
  'X-Previous-Cursor': header('The value of `before` for the rows that precede, likewise.'),
  Link: header('Links to other pages (RFC 8288) that keep every other parameter. Left out where it would be too long.'),
  ETag: header('The row version as a weak entity tag; absent where the answer holds no rowVersion.'),
  Location: header('The absolute URL of the new row.', { type: 'string', format: 'uri' }),
  'Idempotent-Replayed': header('Sent where this is the answer to an earlier request with the same key.', {
    type: 'string',
    const: 'true'
  }),
  'X-Export-Row-Limit': header('The most rows that an export holds.', { type: 'integer' }),
  'Content-Disposition': header('The file name of the export.'),
  'WWW-Authenticate': header('`Bearer`, with `error="invalid_token"` where a token was sent.'),
  'Retry-After': header('Seconds.', { type: 'integer' })
} as const

type HeaderName = keyof typeof COMPONENT_HEADERS

/** References for the `headers` of a response. */
function headerRefs(...names: readonly HeaderName[]): object {
  return Object.fromEntries(
    (['X-Request-Id', 'api-supported-versions', ...names] as const).map((name) => [
      name,
      { $ref: `#/components/headers/${name}` }
    ])
  )
}

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } as const

const FURTHER = {
  404: problem('There is no such row, or the caller may not see it.'),
  409: problem('A unique value is taken, the row is referenced, or the key is in use.', 'Retry-After'),
  412: problem('The row was changed since it was read, or the write collides with another one.'),
  413: problem('The body is over 1 MiB.'),
  415: problem('The body is not of the media type that is taken.'),
  422: problem("The row's state does not allow it, or the key was used for another request."),
  428: problem('If-Match is missing.')
} as const

/** The error responses of an operation: those that all operations have, and the given ones. */
export function problemResponses(further: readonly (keyof typeof FURTHER)[]): Readonly<Record<string, object>> {
  return {
    400: problem('The request is malformed or something in it is invalid; every fault is named.'),
    401: problem('The access token is missing or invalid.', 'WWW-Authenticate'),
    403: problem('The caller may not do this.'),
    ...Object.fromEntries(further.map((status) => [status, FURTHER[status]])),
    503: problem('The data service or a database behind it cannot be reached.', 'Retry-After'),
    default: problem('Any other failure.')
  }
}

/** A successful response with its headers. */
export function success(answer: {
  readonly status: 200 | 201 | 202 | 204
  readonly description: string
  readonly content?: object
  readonly headers: readonly HeaderName[]
}): Readonly<Record<string, object>> {
  const { status, description, content, headers } = answer
  return {
    [status]: {
      description,
      headers: headerRefs('X-Ignored-Parameters', ...headers),
      ...(content === undefined ? {} : { content })
    }
  }
}

export function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

export function mergePatchContent(schema: object): object {
  return { [MERGE_PATCH_TYPE]: { schema } }
}

function problem(description: string, ...headers: readonly HeaderName[]): object {
  return { description, headers: headerRefs(...headers), content: PROBLEM }
}

/** RFC 9457 with the members of contract.md section 7. */
export const PROBLEM_SCHEMA = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Leads to a page that explains the code.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string', description: 'The path of the request.' },
    code: { type: 'string', enum: ERROR_CODES },
    requestId: { type: 'string' },
    errors: {
      type: 'array',
      description: 'Every fault, where there are several.',
      items: {
        type: 'object',
        required: ['code', 'detail'],
        properties: {
          code: { type: 'string', enum: ERROR_CODES },
          detail: { type: 'string' },
          parameter: { type: 'string' },
          pointer: { type: 'string', description: 'A JSON pointer into the body.' },
          header: { type: 'string' }
        }
      }
    }
  }
} as const
