import { CODINGS } from '../http/header-fields.js'
import { MERGE_PATCH_TYPE } from '../http/json-body.js'
import type { Components, ComponentRef } from './components.js'

// Headers of responses, and successful responses.

interface Header {
  readonly description: string
  /** Whether every response that names the header has it. */
  readonly required?: true
  readonly schema: object
}

function header(description: string, schema: object = { type: 'string' }): Header {
  return { description, schema }
}

/** Response headers by name. Responses refer to them. */
const HEADERS = {
  'X-Request-Id': {
    ...header('The id of the request: the one that was sent where it matches the pattern, and a new one otherwise.', {
      type: 'string',
      pattern: '^[A-Za-z0-9._-]{1,128}$'
    }),
    required: true
  },
  traceparent: header(
    'W3C Trace Context: the trace of the request with a span id of the gateway. Absent where the request had no valid one.'
  ),
  'api-supported-versions': header('The versions served.', { type: 'string', const: '1.0' }),
  'X-Ignored-Parameters': header(
    'Percent-encoded names of what was ignored, comma-separated: query parameters, and members of the body as `body.<name>`.'
  ),
  'Preference-Applied': header('Confirms `handling=strict` and `tx=rollback` of `Prefer` (RFC 7240).', {
    type: 'string',
    enum: ['handling=strict', 'tx=rollback', 'handling=strict, tx=rollback']
  }),
  'Conflict-Reason': header(
    'Of a conflict: `stale` (the row has another version), `unique` (another row has the value), `reference` (the row that the value names is not there), `referenced` (other rows refer to this one) or `unspecified`; with `property` where one property is the reason and the caller may read it: `unique; property="sku"` (an item of structured fields, RFC 9651).'
  ),
  'Cache-Control': header('Whether the response may be stored (RFC 9111).'),
  'Content-Encoding': header(
    'The coding of the body, of those that `Accept-Encoding` names; absent where it has none.',
    {
      type: 'string',
      enum: [...CODINGS]
    }
  ),
  Vary: header('The request headers that the response depends on.'),
  'X-Row-Limit': { ...header('The most rows that an unpaged list answers.', { type: 'integer' }), required: true },
  'X-Truncated': header('Sent where rows were left out.', { type: 'string', const: 'true' }),
  'X-Truncated-Includes': header(
    'Sent where a row has more than 1000 rows of an included collection, of which the first 1000 are answered: the names of such collections, with commas between them.'
  ),
  'X-Unshown-Values': header(
    "Sent where the table holds values that are none of their property's type. Each is null in its row, whatever the schema says, and is named as `7; property=amount` with the percent-encoded id of its row; the first 20, and `more=5` for the others."
  ),
  'X-Pagination': {
    ...header('The place of the page among the others, as JSON.', {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: {
        type: 'object',
        required: ['pageSize', 'hasPrevious', 'hasNext'],
        properties: {
          totalCount: { type: 'integer', description: 'Absent with includeTotal=false; at most totalLimit.' },
          totalIsLowerBound: { const: true, description: 'Sent where more rows match than totalCount says.' },
          pageSize: { type: 'integer', description: 'As clamped.' },
          currentPage: {
            type: ['integer', 'null'],
            description:
              'As asked, in exact digits. null in an answer to a cursor; absent where it has over 1000 digits.'
          },
          totalPages: { type: 'integer', description: 'Absent without an exact total.' },
          hasPrevious: { type: 'boolean' },
          hasNext: { type: 'boolean' }
        }
      }
    }),
    required: true
  },
  'X-Total-Count': header('Rows that match in all, at most totalLimit; absent with includeTotal=false.', {
    type: 'integer'
  }),
  'X-Next-Cursor': header(
    'The value of `after` for the rows that follow. Absent where there are none, and where it would be over 1 KiB.'
  ),
  'X-Previous-Cursor': header('The value of `before` for the rows that precede, likewise.'),
  Link: header('Links to other pages (RFC 8288) that keep every other parameter. Left out where it would be too long.'),
  ETag: header(
    'The version of the row or of the document, as a weak entity tag; absent where the answer holds no rowVersion.',
    {
      type: 'string',
      pattern: '^W/"[A-Za-z0-9+/]+={0,2}"$'
    }
  ),
  Location: header('The absolute URL of the new row. Left out where it would be too long.', {
    type: 'string',
    format: 'uri'
  }),
  'Idempotent-Replayed': header('Sent where this is the answer to an earlier request with the same key.', {
    type: 'string',
    const: 'true'
  }),
  'X-Export-Row-Limit': { ...header('The most rows that an export holds.', { type: 'integer' }), required: true },
  'Content-Disposition': { ...header('The file name of the export.'), required: true },
  'Set-Cookie': header('Cookies of the session. All of them are HttpOnly and SameSite=Lax.'),
  'WWW-Authenticate': {
    ...header(
      '`Bearer`, with `error="invalid_token"` where a token was sent that is not accepted; `Basic` of `/auth/token`.'
    ),
    required: true
  },
  Allow: header('The methods that the path takes (RFC 9110), sent with 405.'),
  'Accept-Patch': header('The media type of patches (RFC 5789), sent with the 415 of a PATCH.', {
    type: 'string',
    const: MERGE_PATCH_TYPE
  }),
  'Retry-After': header('Seconds after which the same request may succeed.', { type: 'integer', minimum: 1 }),
  RateLimit: header(
    'The requests that are left to the address in this window and the seconds until it ends: `"address";r=59;t=60`. Absent where requests are not limited.'
  ),
  'RateLimit-Policy': header('The limit: `"address";q=60;w=60` for 60 requests in 60 seconds. Absent likewise.'),
  'RateLimit-Limit': header('The same limit for clients that know only older drafts.', { type: 'integer' }),
  'RateLimit-Remaining': header('Requests that are left in this window, likewise.', { type: 'integer' }),
  'RateLimit-Reset': header('Seconds until the window ends, likewise.', { type: 'integer' }),
  'Access-Control-Allow-Origin': header(
    'The origin of the script that asks, where the service allows that origin (Fetch Standard). Never under `/auth`.'
  ),
  'Access-Control-Expose-Headers': header('The response headers that such a script may read.'),
  'X-Content-Type-Options': header('Browsers take the media type as it is stated (Fetch Standard).', {
    type: 'string',
    const: 'nosniff'
  }),
  'Content-Security-Policy': header('What a browser may load for the response, which is nothing but for pages.'),
  'Referrer-Policy': header('Browsers tell no other site the address.', { type: 'string', const: 'no-referrer' }),
  'Timing-Allow-Origin': header(
    'The origin of the script that asks, where it may read the times of the response (W3C Resource Timing).'
  ),
  'Cross-Origin-Resource-Policy': header('Pages of other sites cannot embed the response.', {
    type: 'string',
    const: 'same-origin'
  }),
  'Server-Timing': header(
    'Milliseconds until the head of the answer, where the service tells them: `total`, `data` in data services, `sql` in statements (W3C Server Timing).'
  ),
  'Strict-Transport-Security': header('Sent where the service is reached over HTTPS (RFC 6797).')
} as const satisfies Readonly<Record<string, Header>>

export type HeaderName = keyof typeof HEADERS

/** Headers that browsers obey and scripts have no use for; `Set-Cookie` is kept from them (Fetch Standard). */
const FOR_BROWSERS: ReadonlySet<string> = new Set([
  'Set-Cookie',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Timing-Allow-Origin',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Referrer-Policy',
  'Cross-Origin-Resource-Policy'
])

/** The names of all response headers that a script may read. */
export const RESPONSE_HEADERS: readonly string[] = Object.keys(HEADERS).filter((name) => !FOR_BROWSERS.has(name))

/** Headers of every response. */
const COMMON_HEADERS = [
  'X-Request-Id',
  'traceparent',
  'Cache-Control',
  'Vary',
  'RateLimit',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Server-Timing',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Timing-Allow-Origin',
  'X-Content-Type-Options',
  'Content-Security-Policy',
  'Referrer-Policy',
  'Cross-Origin-Resource-Policy',
  'Strict-Transport-Security'
] as const

/** References for the `headers` of a response. Those that most responses may have are in the exact document alone. */
export function headerRefs(components: Components, names: readonly HeaderName[]): object {
  const shown = components.exact ? [...COMMON_HEADERS, ...names] : names.filter((name) => !IN_EXACT.includes(name))
  return Object.fromEntries(shown.map((name) => [name, components.refer('headers', name, () => HEADERS[name])]))
}

/** The successful response of an operation. */
export interface Success {
  readonly status: 200 | 201 | 202 | 204 | 303 | 304 | 308
  readonly description: string
  readonly content?: object
  readonly headers: readonly HeaderName[]
}

/** A successful response with its headers, as a member of `responses`. */
export function success(components: Components, answer: Success): Readonly<Record<string, object>> {
  return { [answer.status]: successResponse(components, answer) }
}

/** The same where it is one response for all resources, but for the examples of the exact document. */
export function sharedSuccess(components: Components, name: string, answer: Success): Readonly<Record<string, object>> {
  if (components.exact) return success(components, answer)
  return { [answer.status]: components.refer('responses', name, () => successResponse(components, answer)) }
}

/** The response itself. */
export function successResponse(
  components: Components,
  { description, content: body, headers }: Omit<Success, 'status'>
): object {
  return {
    description,
    headers: headerRefs(components, headers),
    ...(body === undefined ? {} : { content: body })
  }
}

/** Headers of the successful responses of resources and of the application's operations. */
export const ENTITY_HEADERS = ['api-supported-versions', 'X-Ignored-Parameters', 'Preference-Applied'] as const

/** Headers that mean the same wherever they are sent. They are in the exact document alone. */
const IN_EXACT: readonly string[] = [
  ...ENTITY_HEADERS,
  'Idempotent-Replayed',
  'X-Truncated-Includes',
  'X-Unshown-Values',
  'Link'
]

export function jsonContent(schema: object, example?: ComponentRef): object {
  return content('application/json', schema, example)
}

export function mergePatchContent(schema: object, example?: ComponentRef): object {
  return content(MERGE_PATCH_TYPE, schema, example)
}

/** A body of the media type, with an example where there is one. */
export function content(mediaType: string, schema: object, example?: ComponentRef): object {
  return { [mediaType]: { schema, ...(example === undefined ? {} : { examples: { example } }) } }
}
