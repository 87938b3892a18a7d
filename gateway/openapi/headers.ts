const TEXT = { type: 'string' } as const

function header(description: string, schema: object = TEXT): object {
  return { description, schema }
}

/** Response headers, by the name under which responses refer to them. */
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
        currentPage: { type: 'integer', description: 'As asked, in exact digits.' },
        totalPages: { type: 'integer', description: 'Absent with includeTotal=false.' },
        hasPrevious: { type: 'boolean' },
        hasNext: { type: 'boolean' }
      }
    }
  }),
  'X-Total-Count': header('Rows that match in all; absent with includeTotal=false.', { type: 'integer' }),
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

export type HeaderName = keyof typeof COMPONENT_HEADERS

/** References for the `headers` of a response. */
export function headerRefs(...names: readonly HeaderName[]): object {
  return Object.fromEntries(
    (['X-Request-Id', 'api-supported-versions', ...names] as const).map((name) => [
      name,
      { $ref: `#/components/headers/${name}` }
    ])
  )
}
