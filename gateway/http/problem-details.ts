import { DomainError, type ErrorCode, type Violation } from '../../shared/errors.js'

interface Kind {
  readonly status: number
  readonly title: string
}

/** The HTTP status and the title of every error code. A code without them does not compile. */
export const PROBLEM_KINDS: Readonly<Record<ErrorCode, Kind>> = {
  'request.malformed': { status: 400, title: 'The request is malformed' },
  'body.malformed': { status: 400, title: 'The body is malformed' },
  'body.invalid': { status: 400, title: 'The body is invalid' },
  'id.invalid': { status: 400, title: 'The id is invalid' },
  'id.mismatch': { status: 400, title: 'The ids differ' },
  'paging.invalid': { status: 400, title: 'The paging is invalid' },
  'filter.property.unknown': { status: 400, title: 'The filter names an unknown property' },
  'filter.operator.unsupported': { status: 400, title: 'The filter uses an unsupported operator' },
  'filter.value.invalid': { status: 400, title: 'The filter value is invalid' },
  'filter.too-many': { status: 400, title: 'The filter is too large' },
  'fields.invalid': { status: 400, title: 'The fields are invalid' },
  'sort.property.unknown': { status: 400, title: 'The sort column is unknown' },
  'sort.direction.invalid': { status: 400, title: 'The sort direction is invalid' },
  'include.invalid': { status: 400, title: 'The include is invalid' },
  'parameter.unknown': { status: 400, title: 'The parameter is unknown' },
  'precondition.malformed': { status: 400, title: 'The precondition is malformed' },
  'idempotency.key.invalid': { status: 400, title: 'The idempotency key is invalid' },
  'idempotency.key.missing': { status: 400, title: 'The idempotency key is missing' },
  'version.unsupported': { status: 400, title: 'The version is not supported' },
  'auth.required': { status: 401, title: 'Authentication is required' },
  'auth.invalid-token': { status: 401, title: 'The access token is invalid' },
  'auth.invalid-credentials': { status: 401, title: 'The credentials are invalid' },
  'ownership.denied': { status: 403, title: 'The owner does not match' },
  'capability.denied': { status: 403, title: 'The permission is missing' },
  'request.cross-site': { status: 403, title: 'The request is cross-site' },
  'antiforgery.invalid': { status: 403, title: 'The antiforgery token is invalid' },
  'not-found': { status: 404, title: 'Not found' },
  'route.not-found': { status: 404, title: 'No such route' },
  'method.not-allowed': { status: 405, title: 'The method is not allowed' },
  conflict: { status: 409, title: 'Conflict' },
  'idempotency.in-flight': { status: 409, title: 'The first request is still running' },
  'body.too-large': { status: 413, title: 'The body is too large' },
  'uri.too-long': { status: 414, title: 'The request target is too long' },
  'media-type.unsupported': { status: 415, title: 'The media type is not supported' },
  'idempotency.key.reused': { status: 422, title: 'The idempotency key was used for another request' },
  'state.invalid': { status: 422, title: 'The state does not allow it' },
  'precondition.required': { status: 428, title: 'A precondition is required' },
  'quota-exceeded': { status: 429, title: 'Too many attempts' },
  'headers.too-large': { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Internal error' },
  configuration: { status: 500, title: 'Configuration error' },
  'upstream.bad-gateway': { status: 502, title: 'The data service answered badly' },
  'upstream.unavailable': { status: 503, title: 'The data service is unavailable' },
  'upstream.timeout': { status: 504, title: 'The data service took too long' }
}

/** Details of the two codes that tell nothing of their cause (contract.md section 7). */
const FIXED_DETAILS: Partial<Readonly<Record<ErrorCode, string>>> = {
  internal: 'Something went wrong on our side. Its details are in the log under the request id.',
  configuration: 'The service is not configured for this request. The details are in the log under the request id.'
}

const RESERVED: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'requestId',
  'errors'
])

/** Where a problem happened. */
export interface ProblemPlace {
  /** Public base URL without a slash at its end. */
  readonly base: string
  /** Path of the request, without its query. */
  readonly path: string
  readonly requestId: string
}

/** A problem document (RFC 9457) ready for the socket. */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export function toProblem(error: DomainError, place: ProblemPlace): Problem {
  const { code } = error
  const status = statusOf(error)
  const document = {
    type: `${place.base}/problems/${code}`,
    title: error.title ?? PROBLEM_KINDS[code].title,
    status,
    detail: FIXED_DETAILS[code] ?? error.message,
    instance: place.path,
    code,
    requestId: place.requestId,
    ...(error.violations.length > 1 && FIXED_DETAILS[code] === undefined
      ? { errors: error.violations.map(errorEntry) }
      : {}),
    ...ownMembers(error)
  }
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff'
  }
  if (status === 401) headers['www-authenticate'] = challenge(code)
  if (error.retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfter)))
  else if (code === 'upstream.unavailable') headers['retry-after'] = '1'
  return { status, headers, body: Buffer.from(JSON.stringify(document)) }
}

/** What would be 409 on an unguarded write is a failed precondition on a guarded one, and says the same otherwise. */
function statusOf({ code, guarded }: DomainError): number {
  return code === 'conflict' && guarded ? 412 : PROBLEM_KINDS[code].status
}

/** An error's own members cannot stand in for ours (contract.md section 7). */
function ownMembers({ members }: DomainError): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !RESERVED.has(name)))
}

function errorEntry({ code, detail, place }: Violation): object {
  return { code, detail, [place.in]: place.name }
}

/** RFC 6750 section 3: no error attribute where no token was sent. */
function challenge(code: ErrorCode): string {
  return code === 'auth.invalid-token' ? 'Bearer error="invalid_token"' : 'Bearer'
}

/** An answer of the data service that lacks what its contract promises. */
export function unintelligible(): DomainError {
  return new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
}
