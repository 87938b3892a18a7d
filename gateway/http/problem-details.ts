import {
  conflictText,
  DomainError,
  type ErrorCode,
  errorKind,
  httpStatusOf,
  type Violation
} from '../../shared/errors.js'

const RESERVED_MEMBERS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'status',
  'detail',
  'instance',
  'code',
  'requestId',
  'errors'
])

/** The request that failed. */
interface ProblemPlace {
  /** The public base URL, without a slash at its end. */
  readonly base: string
  /** Path of the request, without its query. */
  readonly path: string
  readonly requestId: string
}

/** A response with a problem document (RFC 9457). */
export interface Problem {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export function toProblem(error: DomainError, place: ProblemPlace): Problem {
  const { code } = error
  const kind = errorKind(code)
  const status = httpStatusOf(error)
  const document = {
    type: `${place.base}/problems/${code}`,
    title: error.title ?? kind.title,
    status,
    detail: kind.detail ?? error.message,
    instance: place.path,
    code,
    requestId: place.requestId,
    ...(error.violations.length > 0 && kind.detail === undefined ? { errors: error.violations.map(errorEntry) } : {}),
    ...ownMembers(error)
  }
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff'
  }
  if (error.conflict !== undefined) headers['conflict-reason'] = conflictText(error.conflict)
  if (status === 401) headers['www-authenticate'] = challenge(code)
  if (error.retryAfter !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(error.retryAfter)))
  else if (code === 'upstream.unavailable') headers['retry-after'] = '1'
  return { status, headers, body: Buffer.from(JSON.stringify(document)) }
}

/** Members of the error whose names are taken by the standard members are left out (contract.md section 7). */
function ownMembers({ members }: DomainError): object {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !RESERVED_MEMBERS.has(name)))
}

function errorEntry({ code, detail, place, rule }: Violation): object {
  return { code, detail, [place.in]: place.name, ...rule }
}

/** The value of WWW-Authenticate. It has no error attribute where no token was sent (RFC 6750 section 3). */
function challenge(code: ErrorCode): string {
  return code === 'auth.invalid-token' ? 'Bearer error="invalid_token"' : 'Bearer'
}

/** For an answer of the data service that lacks something its contract promises. */
export function unintelligible(): DomainError {
  return new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
}
