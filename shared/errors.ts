import { status } from '@grpc/grpc-js'

/**
 * The one error type inside. It crosses gRPC with all its members (shared/transport/rpc-status.ts) and becomes a problem document
 * in the gateway only (gateway/http/problem-details.ts). Everything else that is thrown is answered as `internal`, and
 * its message stays in the log.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly violations: readonly Violation[]
  readonly retryAfter: number | undefined
  readonly guarded: boolean
  readonly title: string | undefined
  readonly members: ProblemMembers
  /** Only of `conflict`. */
  readonly conflict: ConflictReason | undefined
  readonly reason: string | undefined

  constructor(code: ErrorCode, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.violations = options.violations ?? []
    this.retryAfter = options.retryAfter
    this.guarded = options.guarded ?? false
    this.title = options.title
    this.members = options.members ?? {}
    this.reason = options.reason
    this.conflict = code === 'conflict' ? (options.conflict ?? UNSPECIFIED) : undefined
  }
}

/** The detail of the `upstream.unavailable` for a caller who reads so much at a time that no more of it is let in. */
export const TOO_MANY_READS = 'Too many reads are under way. Try again.'

export function saysTooManyReads(error: unknown): boolean {
  return error instanceof DomainError && error.message === TOO_MANY_READS
}

export interface DomainErrorOptions {
  readonly violations?: readonly Violation[]
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number
  /** Only for `conflict`: whether the write had a precondition. The answer is then 412 instead of 409. */
  readonly guarded?: boolean
  /** Only for a conflict that an action reports: the title of the problem document. */
  readonly title?: string
  readonly members?: ProblemMembers
  /** Only for `conflict`: what the caller learns of the cause. `unspecified` by default. */
  readonly conflict?: ConflictReason
  /** The actual reason. It is written to the log and never sent to the caller. */
  readonly cause?: unknown
  /** What the log says before the code of the cause, where the words of the cause may hold values. */
  readonly reason?: string | undefined
}

/** Why a write is a conflict, for programs: the header `Conflict-Reason`, and `conflict` in the metadata of ErrorInfo. */
export interface ConflictReason {
  readonly kind: (typeof CONFLICT_KINDS)[number]
  /** The property whose value is the cause, only where the caller may read it. */
  readonly property?: string
}

/**
 * `stale`: the row has another version. `unique`: another row has the value. `reference`: the row that the value names is
 * not there. `referenced`: other rows refer to the row.
 */
const CONFLICT_KINDS = ['stale', 'unique', 'reference', 'referenced', 'unspecified'] as const

const UNSPECIFIED: ConflictReason = { kind: 'unspecified' }

/** An item of structured fields (RFC 9651): `unique; property="sku"`. */
export function conflictText({ kind, property }: ConflictReason): string {
  // Names of properties are letters and digits, which need no escape.
  return property === undefined ? kind : `${kind}; property="${property}"`
}

/** The reverse of `conflictText`. Any other text is `unspecified`. */
export function parseConflict(text: string): ConflictReason {
  const [name, property] = text.endsWith('"') ? text.slice(0, -1).split('; property="') : [text]
  const kind = CONFLICT_KINDS.find((one) => one === name)
  if (kind === undefined) return UNSPECIFIED
  return property === undefined ? { kind } : { kind, property }
}

/** Further members of a problem document (RFC 9457 section 3.2). */
export type ProblemMembers = Readonly<Record<string, string | number | boolean>>

/**
 * One thing that is wrong with a request: `BadRequest.FieldViolation` of google.rpc, an item of `errors` in a problem
 * document. The detail says what would be right.
 */
export interface Violation {
  readonly code: ErrorCode
  readonly detail: string
  readonly place: ViolationPlace
  /** What the detail says, for clients that have messages in other languages. Absent where no rule of the list says it. */
  readonly rule?: ViolationRule
}

/**
 * The rule that a value does not follow, with its numbers: `{"rule":"length","minimum":1,"maximum":200}`. Bounds of numbers
 * that a JSON number may not hold are strings.
 */
export type ViolationRule =
  | { readonly rule: 'required' | 'notNull' }
  /** Characters of a text, bytes of a text or binary value, rows of a collection. */
  | { readonly rule: 'length' | 'bytes' | 'items'; readonly minimum: number; readonly maximum: number }
  | { readonly rule: 'range'; readonly minimum?: number | string; readonly maximum?: number | string }
  /** The most digits of a decimal number before and after its point, and of a second's fraction. */
  | { readonly rule: 'digits'; readonly whole?: number; readonly fraction: number }
  | { readonly rule: 'oneOf'; readonly words: readonly string[] }
  /** A type of contract.md section 3, `int` for example. */
  | { readonly rule: 'type'; readonly type: string }

/** The part of the request that is wrong: a query or path parameter, a JSON pointer into the body, or a header. */
export interface ViolationPlace {
  readonly in: 'parameter' | 'pointer' | 'header'
  readonly name: string
}

/** All violations of a request as one error. It has the code and the detail of the first. */
export function rejection(violations: readonly [Violation, ...Violation[]]): DomainError {
  const [first] = violations
  const others = violations.length - 1
  const detail =
    others === 0 ? first.detail : `${first.detail} ${others} more fault${others === 1 ? '' : 's'} in errors.`
  return new DomainError(first.code, detail, { violations })
}

/** An error whose one violation has its code and detail. */
export function rejectionAt(
  code: ErrorCode,
  detail: string,
  { place, cause }: { readonly place: ViolationPlace; readonly cause?: unknown }
): DomainError {
  return new DomainError(code, detail, { violations: [{ code, detail, place }], cause })
}

/** The place of an access token that is missing or not valid. */
export const AUTHORIZATION: ViolationPlace = { in: 'header', name: 'Authorization' }

/** At most `length` characters, followed by an ellipsis where something was cut. Characters are code points, so that no surrogate pair is cut in half. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // A code point has at most two UTF-16 units. One unit more shows whether anything is left out.
  const characters = Array.from(text.slice(0, 2 * length + 1))
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`
}

/** What callers see of one kind of error. */
interface ErrorAnswer {
  readonly grpc: status
  readonly http: number
  /** The statuses of a write with a precondition, where they differ (contract.md section 5). */
  readonly guarded?: { readonly grpc: status; readonly http: number }
  /** Sent in place of the error's own message, which could tell something about the cause (contract.md section 7). */
  readonly detail?: string
  /** `title` of the problem document, and the heading of its page. */
  readonly title: string
  /** What the code means. Text between backticks is code. */
  readonly meaning: string
  /** What the caller can do about it. */
  readonly remedy: string
}

/** The gRPC status of an error (https://grpc.io/docs/guides/status-codes). */
export function grpcStatusOf({ code, guarded }: DomainError): status {
  const kind = errorKind(code)
  return (guarded ? kind.guarded : undefined)?.grpc ?? kind.grpc
}

/** The HTTP status of an error. */
export function httpStatusOf({ code, guarded }: DomainError): number {
  const kind = errorKind(code)
  return (guarded ? kind.guarded : undefined)?.http ?? kind.http
}

export function errorKind(code: ErrorCode): ErrorAnswer {
  return ERRORS[code]
}

/** Public in problem documents and in google.rpc.ErrorInfo. A code never changes its meaning. */
export type ErrorCode = keyof typeof ERRORS

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text)
}

/**
 * The error catalogue. Both mappings (gRPC and Problem Details), docs/errors.md and the pages under `/problems/` come
 * from this table, and test/fitness/error-catalogue.test.ts compares docs/errors.md with it.
 */
const ERRORS = {
  'request.malformed': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The request is malformed',
    meaning: 'The bytes are no valid request.',
    remedy:
      'The HTTP message, its request line, a header or the percent-encoding of the path cannot be read. Send a well-formed HTTP/1.1 request.'
  },
  'body.malformed': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The body is malformed',
    meaning: 'The body is not valid JSON.',
    remedy:
      'The body does not parse as JSON, or is empty where one is needed. Send one JSON object in UTF-8, without a byte order mark.'
  },
  'body.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The body is invalid',
    meaning: 'A member of the body is missing or not allowed.',
    remedy:
      'The body is JSON, but a member is absent, of another type, out of range, too long, or has more digits than its column. Nothing is rounded or cut: `errors` names every member by its JSON pointer and says what would be right. Send longs and decimals as strings.'
  },
  'id.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The id is invalid',
    meaning: 'The id, or the value of a unique property, in the path is of another type.',
    remedy:
      "The resource's ids are integers, 64-bit integers or Guids; this one does not parse as such, or is too long. An id that parses and names no row is `not-found` instead."
  },
  'id.mismatch': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The ids differ',
    meaning: 'The id, or the unique property, in the body is not the one in the path.',
    remedy:
      'Leave it out of the body, or send that of the path, with the same characters. A unique property may also have the characters that the row shows.'
  },
  'paging.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The paging is invalid',
    meaning: 'The page number or size is not a positive integer, or the request names the beginning of the page twice.',
    remedy:
      '`pageNumber` (alias `page`) and `pageSize` take decimal digits from 1, once each, and only one of the two names. A request takes one of `pageNumber`, `after` and `before`. A `pageSize` over the maximum is no fault: it is clamped.'
  },
  'paging.cursor.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The cursor is invalid',
    meaning: 'A cursor was not made by the service, was changed, or belongs to another query.',
    remedy:
      '`after` and `before` take a cursor exactly as `X-Next-Cursor` or `X-Previous-Cursor` of an earlier answer had it, with the same filters, search, `sortColumn` and `sortDirection`. Without a cursor the walk begins anew.'
  },
  'filter.property.unknown': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The filter names an unknown property',
    meaning: 'A filter names a property that cannot be filtered.',
    remedy:
      '`filters[<Property>]` takes the filterable properties of the resource, which the OpenAPI document lists. Letter case does not matter.'
  },
  'filter.operator.unsupported': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The filter uses an unsupported operator',
    meaning: "The property's type does not have the operator.",
    remedy: 'The detail names the operators that the property has.'
  },
  'filter.value.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The filter value is invalid',
    meaning: 'A filter value, or the value of a parameter, does not parse or is missing.',
    remedy:
      "The value is none of the property's type, or one item of `in` or `between` is not. `between` takes exactly two items; an item that holds a comma goes into double quotes. The parameters of a resource's own reads have the types and bounds that the OpenAPI document shows."
  },
  'filter.too-many': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The filter is too large',
    meaning: 'The filter is larger than allowed.',
    remedy: 'At most 50 conditions, 200 items of `in`, 4096 characters a value and eight words of `search`.'
  },
  'fields.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The fields are invalid',
    meaning: '`fields` names what cannot be selected.',
    remedy:
      "`fields` takes the resource's column-backed properties, separated by commas. Computed and joined properties cannot be asked for, and a navigation only when its include is on. All faults are named at once."
  },
  'sort.property.unknown': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The sort column is unknown',
    meaning: '`sortColumn` names what cannot be sorted by.',
    remedy:
      'Up to four different properties with commas between. The OpenAPI document lists the sortable properties of the resource.'
  },
  'sort.direction.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The sort direction is invalid',
    meaning: '`sortDirection` is not one of `asc`, `desc`, `ascending` and `descending`.',
    remedy:
      '`asc`, `desc`, `ascending` or `descending`, in any letter case: one for all sort columns, or as many as there are, with commas between.'
  },
  'include.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The include is invalid',
    meaning:
      '`includeFKs` or `includeChildren` is not a boolean, or `include` has an unknown name or the same name twice.',
    remedy: '`true` or `false`. `include` takes up to ten of the names that the detail lists, each once.'
  },
  'include.too-many': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The answer would include too many rows',
    meaning: 'The answer would include more than 20,000 rows besides its own.',
    remedy:
      'Ask for a smaller page, or for fewer navigations by `fields`. Of each row at most 1000 rows of a collection are included; a collection that is a resource of its own can be read by its own pages.'
  },
  'totals.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The totals are invalid',
    meaning: '`by` or `measures` names what the totals of the resource do not have.',
    remedy:
      'At most four dimensions in `by` and ten measures in `measures`, with commas between. The detail names those that there are.'
  },
  'parameter.unknown': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The parameter is unknown',
    meaning:
      'A parameter or member is unknown, and handling is strict: by `Prefer: handling=strict`, or by a setting of the service.',
    remedy:
      'With `Prefer: handling=lenient` unknown parameters are ignored and named in `X-Ignored-Parameters`. `includeChildren` on an export is refused in any case.'
  },
  'precondition.malformed': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The precondition is malformed',
    meaning: '`If-Match` cannot be decoded.',
    remedy: 'Send the `ETag` of a read as it came: `W/"<base64>"` or `"<base64>"`, or a list of them without `*`.'
  },
  'idempotency.key.invalid': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The idempotency key is invalid',
    meaning: '`Idempotency-Key` is not well-formed.',
    remedy: '1 to 255 visible ASCII characters, bare or as a quoted string, in one header line.'
  },
  'idempotency.key.missing': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The idempotency key is missing',
    meaning: 'This host requires an `Idempotency-Key`.',
    remedy: 'Send a key of your choice with every POST; a retry of the same request carries the same key.'
  },
  'version.unsupported': {
    grpc: status.INVALID_ARGUMENT,
    http: 400,
    title: 'The version is not supported',
    meaning: '`api-version` names a version that is not served.',
    remedy: 'Send `1` or `1.0`, or leave the header out. `api-supported-versions` lists what there is.'
  },
  'auth.required': {
    grpc: status.UNAUTHENTICATED,
    http: 401,
    title: 'Authentication is required',
    meaning: 'The resource needs an access token.',
    remedy:
      'Send `Authorization: Bearer <JWT>`. Cookies are no credential of the API. `POST /auth/password` needs the cookies of a session instead: log in first.'
  },
  'auth.invalid-token': {
    grpc: status.UNAUTHENTICATED,
    http: 401,
    title: 'The access token is invalid',
    meaning: 'The access token was not accepted.',
    remedy:
      'It has expired, is not valid yet, is signed by an unknown key or with another algorithm, or names another issuer or audience. Get a new one. Public resources refuse a bad token as well. Of a refresh token it means that the session is over: log in again.'
  },
  'auth.invalid-credentials': {
    grpc: status.UNAUTHENTICATED,
    http: 401,
    title: 'The credentials are invalid',
    meaning:
      'E-mail and password do not match an account, or the sign-in with an outside provider belongs to no account.',
    remedy:
      'The answer to a password, and the time it takes, are the same whether or not the account exists. A disabled account does not log in, and neither does a sample account while `SAMPLE_DATA` is off. After a sign-in with a provider the detail says whether to begin again or to have an account linked.'
  },
  'ownership.denied': {
    grpc: status.PERMISSION_DENIED,
    http: 403,
    title: 'The owner does not match',
    meaning: "The row or the owner parameter is another owner's.",
    remedy: "The caller's owner claim is absent, or differs from the owner that the request names."
  },
  'capability.denied': {
    grpc: status.PERMISSION_DENIED,
    http: 403,
    title: 'The permission is missing',
    meaning: 'The caller lacks the permission.',
    remedy: 'The detail names the permission, `customers:manage` for example.'
  },
  'request.cross-site': {
    grpc: status.PERMISSION_DENIED,
    http: 403,
    title: 'The request is cross-site',
    meaning:
      'A cookie endpoint was called from another site, or a page of another origin sent the renderer an unsafe request.',
    remedy:
      'Call it from a page of the same site, and send forms from a page of the same origin. Browsers that send no `Sec-Fetch-Site` send `Origin`, which must be that of `PUBLIC_BASE_URL`, or of the listener where that is not set: there `localhost` and `127.0.0.1` are two.'
  },
  'antiforgery.invalid': {
    grpc: status.PERMISSION_DENIED,
    http: 403,
    title: 'The antiforgery token is invalid',
    meaning: 'The antiforgery token is absent, not valid or of another session.',
    remedy:
      'Get one from `GET /auth/antiforgery`, anew after a log-in or log-out, and send it back as the header `X-CSRF-Token` or the form field `_csrf`.'
  },
  'not-found': {
    grpc: status.NOT_FOUND,
    http: 404,
    title: 'Not found',
    meaning: 'There is no such row.',
    remedy: 'It does not exist, or the caller may not see it: the two are answered alike.'
  },
  'route.not-found': {
    grpc: status.NOT_FOUND,
    http: 404,
    title: 'No such route',
    meaning: 'There is no such path.',
    remedy: 'The OpenAPI document lists every path. Over gRPC: there is no such resource.'
  },
  'method.not-allowed': {
    grpc: status.INVALID_ARGUMENT,
    http: 405,
    title: 'The method is not allowed',
    meaning: 'The path does not take this method.',
    remedy: '`Allow` lists those it takes.'
  },
  conflict: {
    grpc: status.ABORTED,
    http: 409,
    guarded: { grpc: status.FAILED_PRECONDITION, http: 412 },
    title: 'Conflict',
    meaning: 'The write collides with another one.',
    remedy:
      "On a guarded write (412) the row was changed since it was read, or a unique or referenced value collides: read it again, decide again, and send the new `ETag`. Elsewhere (409) a unique value is taken or the row is referenced. `Conflict-Reason` says which of these it is, and the service's log has the cause under the request id."
  },
  'idempotency.in-flight': {
    grpc: status.ALREADY_EXISTS,
    http: 409,
    title: 'The first request is still running',
    meaning: 'The first request with this key is still running.',
    remedy: 'Retry after the seconds of `Retry-After`.'
  },
  'body.too-large': {
    grpc: status.INVALID_ARGUMENT,
    http: 413,
    title: 'The body is too large',
    meaning: 'The body is over 1 MiB, or holds more than 50,000 values.',
    remedy: 'Send less: a batch in several parts, an object or an array in fewer values.'
  },
  'uri.too-long': {
    grpc: status.INVALID_ARGUMENT,
    http: 414,
    title: 'The request target is too long',
    meaning: 'The request target is over 64 KiB.',
    remedy: 'Use fewer or shorter filters.'
  },
  'media-type.unsupported': {
    grpc: status.INVALID_ARGUMENT,
    http: 415,
    title: 'The media type is not supported',
    meaning: 'The body is of another media type.',
    remedy:
      'Send `Content-Type: application/json` and no `Content-Encoding`. A PATCH is `application/merge-patch+json`, as the ' +
      'header `Accept-Patch` says.'
  },
  'idempotency.key.reused': {
    grpc: status.FAILED_PRECONDITION,
    http: 422,
    title: 'The idempotency key was used for another request',
    meaning: 'The key was used for another request.',
    remedy: 'A key belongs to one request: the same method, path and body. Take a new key for a new request.'
  },
  'state.invalid': {
    grpc: status.FAILED_PRECONDITION,
    http: 422,
    title: 'The state does not allow it',
    meaning: "The row's state, or that of a row it depends on, or a rule of the database does not allow the write.",
    remedy: 'The detail names the state. Read the row again to see what is possible now.'
  },
  'precondition.required': {
    grpc: status.FAILED_PRECONDITION,
    http: 428,
    title: 'A precondition is required',
    meaning: 'The write needs `If-Match`.',
    remedy: 'Read the row and send its `ETag` as `If-Match`. `*` does not count.'
  },
  'quota-exceeded': {
    grpc: status.RESOURCE_EXHAUSTED,
    http: 429,
    title: 'Too many attempts',
    meaning: 'Too many attempts, or too many requests of one address.',
    remedy:
      'Retry after the seconds of `Retry-After`. Log-ins are refused after 10 failures of one account from one address, and after 100 of one address, within 15 minutes; the password is not looked at then. Actions and creates that bound guesses are refused after so many rejected ones of one caller. Where `RATE_LIMIT` is set, any request beyond the limit of its address is refused, and the `RateLimit` field says what is left.'
  },
  'headers.too-large': {
    grpc: status.INVALID_ARGUMENT,
    http: 431,
    title: 'The headers are too large',
    meaning: "The request's headers are over 64 KiB.",
    remedy: 'Send fewer or shorter headers; often it is the cookies.'
  },
  internal: {
    grpc: status.INTERNAL,
    http: 500,
    detail: 'Something went wrong on our side. Its details are in the log under the request id.',
    title: 'Internal error',
    meaning: 'Something unforeseen happened.',
    remedy: "The answer tells nothing more on purpose. The service's log has the cause under the request id."
  },
  configuration: {
    grpc: status.INTERNAL,
    http: 500,
    detail: 'The service is not configured for this request. The details are in the log under the request id.',
    title: 'Configuration error',
    meaning: 'A setting that this request needs is missing.',
    remedy:
      "The service's log names the setting under the request id; `OWNER_BYPASS_ROLE` is one that may be left out at start."
  },
  'upstream.bad-gateway': {
    grpc: status.UNAVAILABLE,
    http: 502,
    title: 'The data service answered badly',
    meaning: 'The gateway could not make sense of an answer from behind it.',
    remedy: "The service's log has the cause under the request id."
  },
  'upstream.unavailable': {
    grpc: status.UNAVAILABLE,
    http: 503,
    title: 'The data service is unavailable',
    meaning:
      'The data service, a store it needs, or the provider of a sign-in does not answer, or refuses for a reason that passes: a full disk, a server that is read-only, a lock that was not free in time, a table that does not fit the service at the moment; or the gateway itself has too much to do.',
    remedy:
      'Retry after the seconds of `Retry-After`. A write may have happened: repeat it with the same `Idempotency-Key`, or read first.'
  },
  'upstream.timeout': {
    grpc: status.DEADLINE_EXCEEDED,
    http: 504,
    title: 'The data service took too long',
    meaning: 'The answer did not come in time.',
    remedy:
      'The work was stopped. Ask for less, or retry. A write may have happened: repeat it with the same `Idempotency-Key`, or read first.'
  }
} as const satisfies Readonly<Record<string, ErrorAnswer>>

/** In the order of the table. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERRORS).filter(isErrorCode)
