import type { ErrorCode } from './error-code.js'

/** Where in the request a fault lies: a query or path parameter, a JSON pointer into the body, or a header. */
export type FaultPlace =
  | { readonly in: 'parameter'; readonly name: string }
  | { readonly in: 'pointer'; readonly name: string }
  | { readonly in: 'header'; readonly name: string }

/** One thing wrong with a request, in words that say what would be right. */
export interface Fault {
  readonly code: ErrorCode
  readonly detail: string
  readonly place: FaultPlace
}

export interface DomainErrorOptions {
  readonly faults?: readonly Fault[]
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
  readonly faults: readonly Fault[]
  readonly retryAfter: number | undefined
  readonly guarded: boolean
  readonly title: string | undefined
  readonly members: ProblemMembers

  constructor(code: ErrorCode, detail: string, options: DomainErrorOptions = {}) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.faults = options.faults ?? []
    this.retryAfter = options.retryAfter
    this.guarded = options.guarded ?? false
    this.title = options.title
    this.members = options.members ?? {}
  }
}

/** All faults of a request in one error: it takes the code of the first, and lists them all where there are several. */
export function refusal(faults: readonly [Fault, ...Fault[]]): DomainError {
  const [first] = faults
  const others = faults.length - 1
  const detail =
    others === 0 ? first.detail : `${first.detail} ${others} more fault${others === 1 ? '' : 's'} in errors.`
  return new DomainError(first.code, detail, { faults })
}
