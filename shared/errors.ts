import { status } from '@grpc/grpc-js'

/** The codes of the error catalogue, public in problem documents and in google.rpc.ErrorInfo (docs/errors.md). */
export const ERROR_CODES = [
  'request.malformed',
  'body.malformed',
  'body.invalid',
  'id.invalid',
  'id.mismatch',
  'paging.invalid',
  'filter.property.unknown',
  'filter.operator.unsupported',
  'filter.value.invalid',
  'filter.too-many',
  'fields.invalid',
  'sort.property.unknown',
  'sort.direction.invalid',
  'include.invalid',
  'parameter.unknown',
  'precondition.malformed',
  'idempotency.key.invalid',
  'idempotency.key.missing',
  'version.unsupported',
  'auth.required',
  'auth.invalid-token',
  'auth.invalid-credentials',
  'ownership.denied',
  'capability.denied',
  'request.cross-site',
  'antiforgery.invalid',
  'not-found',
  'route.not-found',
  'method.not-allowed',
  'conflict',
  'idempotency.in-flight',
  'body.too-large',
  'uri.too-long',
  'media-type.unsupported',
  'idempotency.key.reused',
  'state.invalid',
  'precondition.required',
  'quota-exceeded',
  'headers.too-large',
  'internal',
  'configuration',
  'upstream.bad-gateway',
  'upstream.unavailable',
  'upstream.timeout'
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

const known: ReadonlySet<string> = new Set(ERROR_CODES)

export function isErrorCode(text: string): text is ErrorCode {
  return known.has(text)
}

/** Where in the request a violation lies: a query or path parameter, a JSON pointer into the body, or a header. */
export type ViolationPlace =
  | { readonly in: 'parameter'; readonly name: string }
  | { readonly in: 'pointer'; readonly name: string }
  | { readonly in: 'header'; readonly name: string }

/** One thing wrong with a request, in words that say what would be right. */
export interface Violation {
  readonly code: ErrorCode
  readonly detail: string
  readonly place: ViolationPlace
}

export interface DomainErrorOptions {
  readonly violations?: readonly Violation[]
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number
  /** Of a `conflict`: whether the write was guarded by a precondition, which makes it 412 in place of 409. */
  readonly guarded?: boolean
  /** What an action says of a conflict that it built itself: kept in the problem document. */
  readonly title?: string
  readonly members?: ProblemMembers
  /** The distinct reason, for the log alone. */
  readonly cause?: unknown
}

/** Further members of a problem document (RFC 9457 section 3.2). */
export type ProblemMembers = Readonly<Record<string, string | number | boolean>>

/**
 * The one error type inside. It crosses gRPC intact (shared/rpc-status.ts) and becomes a problem document at the
 * gateway alone. Everything thrown that is no DomainError is an opaque `internal`.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly violations: readonly Violation[]
  readonly retryAfter: number | undefined
  readonly guarded: boolean
  readonly title: string | undefined
  readonly members: ProblemMembers

  constructor(code: ErrorCode, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.violations = options.violations ?? []
    this.retryAfter = options.retryAfter
    this.guarded = options.guarded ?? false
    this.title = options.title
    this.members = options.members ?? {}
  }
}

/** All violations of a request in one error: it takes the code of the first, and lists them all where there are several. */
export function rejection(violations: readonly [Violation, ...Violation[]]): DomainError {
  const [first] = violations
  const others = violations.length - 1
  const detail =
    others === 0 ? first.detail : `${first.detail} ${others} more fault${others === 1 ? '' : 's'} in errors.`
  return new DomainError(first.code, detail, { violations })
}

/** The canonical gRPC status of every error code. A code without one does not compile. */
export const GRPC_STATUS: Readonly<Record<ErrorCode, status>> = {
  'request.malformed': status.INVALID_ARGUMENT,
  'body.malformed': status.INVALID_ARGUMENT,
  'body.invalid': status.INVALID_ARGUMENT,
  'id.invalid': status.INVALID_ARGUMENT,
  'id.mismatch': status.INVALID_ARGUMENT,
  'paging.invalid': status.INVALID_ARGUMENT,
  'filter.property.unknown': status.INVALID_ARGUMENT,
  'filter.operator.unsupported': status.INVALID_ARGUMENT,
  'filter.value.invalid': status.INVALID_ARGUMENT,
  'filter.too-many': status.INVALID_ARGUMENT,
  'fields.invalid': status.INVALID_ARGUMENT,
  'sort.property.unknown': status.INVALID_ARGUMENT,
  'sort.direction.invalid': status.INVALID_ARGUMENT,
  'include.invalid': status.INVALID_ARGUMENT,
  'parameter.unknown': status.INVALID_ARGUMENT,
  'precondition.malformed': status.INVALID_ARGUMENT,
  'idempotency.key.invalid': status.INVALID_ARGUMENT,
  'idempotency.key.missing': status.INVALID_ARGUMENT,
  'version.unsupported': status.INVALID_ARGUMENT,
  'auth.required': status.UNAUTHENTICATED,
  'auth.invalid-token': status.UNAUTHENTICATED,
  'auth.invalid-credentials': status.UNAUTHENTICATED,
  'ownership.denied': status.PERMISSION_DENIED,
  'capability.denied': status.PERMISSION_DENIED,
  'request.cross-site': status.PERMISSION_DENIED,
  'antiforgery.invalid': status.PERMISSION_DENIED,
  'not-found': status.NOT_FOUND,
  'route.not-found': status.NOT_FOUND,
  'method.not-allowed': status.INVALID_ARGUMENT,
  conflict: status.ABORTED,
  'idempotency.in-flight': status.ALREADY_EXISTS,
  'body.too-large': status.INVALID_ARGUMENT,
  'uri.too-long': status.INVALID_ARGUMENT,
  'media-type.unsupported': status.INVALID_ARGUMENT,
  'idempotency.key.reused': status.FAILED_PRECONDITION,
  'state.invalid': status.FAILED_PRECONDITION,
  'precondition.required': status.FAILED_PRECONDITION,
  'quota-exceeded': status.RESOURCE_EXHAUSTED,
  'headers.too-large': status.INVALID_ARGUMENT,
  internal: status.INTERNAL,
  configuration: status.INTERNAL,
  'upstream.bad-gateway': status.UNAVAILABLE,
  'upstream.unavailable': status.UNAVAILABLE,
  'upstream.timeout': status.DEADLINE_EXCEEDED
}

/** A conflict of a guarded write is a failed precondition: the three causes of it are not told apart (contract.md section 5). */
export function grpcStatusOf({ code, guarded }: DomainError): status {
  return code === 'conflict' && guarded ? status.FAILED_PRECONDITION : GRPC_STATUS[code]
}

/** At most `length` characters and an ellipsis. Characters are code points: half a surrogate pair is no text. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // A code point has two UTF-16 units at most, and one unit more tells whether anything is left out.
  const characters = Array.from(text.slice(0, 2 * length + 1))
  return characters.length <= length ? text : `${characters.slice(0, length).join('')}…`
}
