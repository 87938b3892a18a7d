import { ERROR_CODES, type ErrorCode, errorKind } from '../../shared/errors.js'
import type { Resource } from '../data/data-client.js'
import { MERGE_PATCH_TYPE } from '../http/json-body.js'

/** A place that holds the component: `{ "$ref": "#/components/schemas/products" }`. */
interface Reference {
  readonly $ref: string
}

type ComponentKind = 'schemas' | 'parameters' | 'responses' | 'headers'

/**
 * What the parts of a document share by reference. A component is made when it is first referred to, so the document
 * holds none that nothing uses.
 */
export class Components {
  readonly #resources: ReadonlyMap<string, Resource>
  readonly #made: Readonly<Record<ComponentKind, Map<string, object>>> = {
    schemas: new Map(),
    parameters: new Map(),
    responses: new Map(),
    headers: new Map()
  }

  constructor(resources: readonly Resource[]) {
    this.#resources = new Map(resources.map((resource) => [resource.name, resource]))
  }

  /** The resource that a navigation leads to; undefined if the caller sees none of this name. */
  resource(name: string): Resource | undefined {
    return this.#resources.get(name)
  }

  /** A reference to the component of this name. `make` may refer to the same component again. */
  refer(kind: ComponentKind, name: string, make: () => object): Reference {
    const components = this.#made[kind]
    if (!components.has(name)) {
      components.set(name, {})
      components.set(name, make())
    }
    return { $ref: `#/components/${kind}/${name}` }
  }

  /** A reference to this schema, under the name or, where another schema has it, under the name with a number. */
  share(name: string, schema: object): Reference {
    const text = JSON.stringify(schema)
    for (let number = 1; ; number++) {
      const numbered = number === 1 ? name : `${name}${number}`
      const known = this.#made.schemas.get(numbered)
      if (known === undefined || JSON.stringify(known) === text) return this.refer('schemas', numbered, () => schema)
    }
  }

  /** The `components` of the document. */
  toJSON(): object {
    const kinds = Object.entries(this.#made).map(([kind, components]) => [kind, Object.fromEntries(components)])
    return Object.fromEntries(kinds) as object
  }
}

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
  'Preference-Applied': header('Confirms `Prefer: handling=strict` (RFC 7240).', {
    type: 'string',
    const: 'handling=strict'
  }),
  'Cache-Control': header('Whether the response may be stored (RFC 9111).'),
  Vary: header('The request headers that the response depends on.'),
  'X-Row-Limit': { ...header('The most rows that an unpaged list answers.', { type: 'integer' }), required: true },
  'X-Truncated': header('Sent where rows were left out.', { type: 'string', const: 'true' }),
  'X-Pagination': {
    ...header('The place of the page among the others, as JSON.', {
      type: 'string',
      contentMediaType: 'application/json',
      contentSchema: {
        type: 'object',
        required: ['pageSize', 'hasPrevious', 'hasNext'],
        properties: {
          totalCount: { type: 'integer', description: 'Absent with includeTotal=false.' },
          pageSize: { type: 'integer', description: 'As clamped.' },
          currentPage: {
            type: ['integer', 'null'],
            description:
              'As asked, in exact digits. null in an answer to a cursor; absent where it has over 1000 digits.'
          },
          totalPages: { type: 'integer', description: 'Absent with includeTotal=false.' },
          hasPrevious: { type: 'boolean' },
          hasNext: { type: 'boolean' }
        }
      }
    }),
    required: true
  },
  'X-Total-Count': header('Rows that match in all; absent with includeTotal=false.', { type: 'integer' }),
  'X-Next-Cursor': header(
    'The value of `after` for the rows that follow. Absent where there are none, and where it would be over 1 KiB.'
  ),
  'X-Previous-Cursor': header('The value of `before` for the rows that precede, likewise.'),
  Link: header('Links to other pages (RFC 8288) that keep every other parameter. Left out where it would be too long.'),
  ETag: header('The row version as a weak entity tag; absent where the answer holds no rowVersion.', {
    type: 'string',
    pattern: '^W/"[A-Za-z0-9+/]+={0,2}"$'
  }),
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
    ...header('`Bearer`, with `error="invalid_token"` where a token was sent that is not accepted.'),
    required: true
  },
  Allow: header('The methods that the path takes (RFC 9110), sent with 405.'),
  'Retry-After': header('Seconds after which the same request may succeed.', { type: 'integer', minimum: 1 }),
  RateLimit: header(
    'The requests that are left to the address in this window and the seconds until it ends: `"address";r=59;t=60`. Absent where requests are not limited.'
  ),
  'RateLimit-Policy': header('The limit: `"address";q=60;w=60` for 60 requests in 60 seconds. Absent likewise.'),
  'Server-Timing': header(
    'Milliseconds until the head of the answer, where the service tells them: `total`, `data` in data services, `sql` in statements (W3C Server Timing).'
  ),
  'Strict-Transport-Security': header('Sent where the service is reached over HTTPS (RFC 6797).')
} as const satisfies Readonly<Record<string, Header>>

export type HeaderName = keyof typeof HEADERS

/** The names of all response headers that a script may read: `Set-Cookie` is for the browser alone (Fetch Standard). */
export const RESPONSE_HEADERS: readonly string[] = [
  ...Object.keys(HEADERS).filter((name) => name !== 'Set-Cookie'),
  // Answers to OPTIONS, which the document leaves out, have it.
  'Accept-Patch',
  // Some clients know only these of older drafts.
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset'
]

/** Headers of every response. */
const COMMON_HEADERS = [
  'X-Request-Id',
  'traceparent',
  'Cache-Control',
  'RateLimit',
  'RateLimit-Policy',
  'Server-Timing',
  'Strict-Transport-Security'
] as const

/** References for the `headers` of a response. */
function headerRefs(components: Components, names: readonly HeaderName[]): object {
  return Object.fromEntries(
    [...COMMON_HEADERS, ...names].map((name) => [name, components.refer('headers', name, () => HEADERS[name])])
  )
}

/** The successful response of an operation. */
export interface Success {
  readonly status: 200 | 201 | 202 | 204 | 303
  readonly description: string
  readonly content?: object
  readonly headers: readonly HeaderName[]
}

/** A successful response with its headers, as a member of `responses`. */
export function success(components: Components, answer: Success): Readonly<Record<string, object>> {
  return { [answer.status]: successResponse(components, answer) }
}

/** The response itself. */
export function successResponse(components: Components, { description, content, headers }: Success): object {
  return {
    description,
    headers: headerRefs(components, headers),
    ...(content === undefined ? {} : { content })
  }
}

/** Headers of the successful responses of resources and of the application's operations. */
export const ENTITY_HEADERS = ['api-supported-versions', 'X-Ignored-Parameters', 'Preference-Applied'] as const

export function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

export function mergePatchContent(schema: object): object {
  return { [MERGE_PATCH_TYPE]: { schema } }
}

/** Codes that any operation may be answered with. They share the response `default`. */
const ANYWHERE: readonly ErrorCode[] = [
  'uri.too-long',
  'headers.too-large',
  'method.not-allowed',
  'quota-exceeded',
  'internal',
  'configuration',
  'upstream.bad-gateway',
  'upstream.timeout'
]

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is malformed or something in it is invalid. Every violation is named.',
  401: 'The credentials are missing or not valid.',
  403: 'The caller may not do this.',
  404: 'There is no such row, or the caller may not see it.',
  409: 'The write collides with what is stored, or with a request that is still running.',
  412: 'The row was changed since it was read, or the write collides with what is stored.',
  413: 'The body is over 1 MiB.',
  415: 'The body is not of the media type that is taken.',
  422: 'The state of the row does not allow it, or the key was used for another request.',
  428: 'If-Match is missing.',
  429: 'Too many attempts, or too many requests of one address.',
  503: 'The data service or a database behind it cannot be reached.'
}

const FURTHER_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After']
}

/** How operations of one kind may fail. */
export interface ProblemsOf {
  /** The kind, `paged` for one. All operations of a kind share their responses. */
  readonly name: string
  /** Beside those that any operation may be answered with. */
  readonly codes: readonly ErrorCode[]
  /** Whether the operations take `If-Match`, so that a conflict is 412. */
  readonly guarded?: boolean
}

/** The error responses of an operation by status, each with the codes that it may have. */
export function problemResponses(
  components: Components,
  { name, codes, guarded = false }: ProblemsOf
): Readonly<Record<string, object>> {
  const statusOf = (code: ErrorCode): number => {
    const kind = errorKind(code)
    return (guarded ? kind.guarded?.http : undefined) ?? kind.http
  }
  const possible = new Set<ErrorCode>([...codes, 'upstream.unavailable'])
  const listed = ERROR_CODES.filter((code) => possible.has(code))
  const statuses = [...new Set(listed.map(statusOf))].toSorted((one, other) => one - other)
  const byStatus = statuses.map((status) => {
    const here = listed.filter((code) => statusOf(code) === status)
    return [status, problemResponse(components, { name, status, codes: here })] as const
  })
  return {
    ...Object.fromEntries(byStatus),
    default: components.refer('responses', 'Problem', () => ({
      description: `Any other failure: ${inWords(ANYWHERE)}.`,
      headers: headerRefs(components, ['Allow', 'Retry-After']),
      content: { 'application/problem+json': { schema: problemSchema(components) } }
    }))
  }
}

function problemResponse(
  components: Components,
  { name, status, codes }: { readonly name: string; readonly status: number; readonly codes: readonly ErrorCode[] }
): Reference {
  // Two codes are name enough, and other kinds of operations have the same two.
  const suffix = isStandard(codes, status) ? '' : `.${codes.length <= 2 ? codes.join('.') : name}`
  return components.refer('responses', `Problem${status}${suffix}`, () => ({
    description: `${DESCRIPTIONS[status] ?? 'The request failed.'} Codes: ${inWords(codes)}.`,
    headers: headerRefs(components, FURTHER_HEADERS[status] ?? []),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            problemSchema(components),
            {
              type: 'object',
              required: ['code', 'status'],
              properties: { code: { type: 'string', enum: codes }, status: { type: 'integer', const: status } }
            }
          ]
        }
      }
    }
  }))
}

/** The codes of a status that most operations have. Responses with them have short names. */
const STANDARD: readonly string[] = [
  ['auth.required', 'auth.invalid-token'],
  ['ownership.denied', 'capability.denied'],
  ['not-found'],
  ['idempotency.in-flight'],
  ['body.too-large'],
  ['media-type.unsupported'],
  ['idempotency.key.reused', 'state.invalid'],
  ['precondition.required'],
  ['quota-exceeded'],
  ['upstream.unavailable']
].map(String)

/** No two of the standard lists have the same status, and a conflict is the whole list of 412 alone. */
function isStandard(codes: readonly ErrorCode[], status: number): boolean {
  return STANDARD.includes(String(codes)) || (status === 412 && String(codes) === 'conflict')
}

function inWords(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ')
}

/** RFC 9457 with the members of contract.md section 7. */
function problemSchema(components: Components): Reference {
  const code = components.refer('schemas', 'ProblemCode', () => ({ type: 'string', enum: ERROR_CODES }))
  const violation = components.refer('schemas', 'Violation', () => ({
    type: 'object',
    description:
      'One thing that is wrong with a request, and its place: a parameter, a member of the body, or a header.',
    required: ['code', 'detail'],
    properties: {
      code,
      detail: { type: 'string' },
      parameter: { type: 'string' },
      pointer: { type: 'string', description: 'A JSON pointer into the body (RFC 6901).' },
      header: { type: 'string' }
    }
  }))
  return components.refer('schemas', 'Problem', () => ({
    type: 'object',
    description: 'A problem document (RFC 9457). A conflict that an action reports may have further members.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Leads to a page that explains the code.' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string' },
      instance: { type: 'string', description: 'The path of the request.' },
      code,
      requestId: { type: 'string' },
      errors: { type: 'array', description: 'Every violation, where there are several.', items: violation }
    }
  }))
}
