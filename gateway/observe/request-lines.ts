import { LRUCache } from 'lru-cache'
import { accountOfVerified, type LoggedAccount } from '../../shared/access-token.js'
import type { ErrorCode } from '../../shared/errors.js'
import { type Logger, unredacted } from '../../shared/logger.js'

/** A request that has ended. */
interface EndedRequest {
  readonly requestId: string
  /** undefined if it is in no trace. */
  readonly traceparent: string | undefined
  /** Its `Authorization`, if a data service has found the token valid; undefined for any other. */
  readonly acceptedAuthorization: string | undefined
  readonly method: string
  /** Without the query, since filter values are user data. */
  readonly path: string
  /** The template of the route, or another name from a bounded set. */
  readonly route: string
  /** Empty for none. */
  readonly resource: string
  readonly status: number
  /** Of the problem document that was sent; undefined for none. */
  readonly code: ErrorCode | undefined
  /** Milliseconds. */
  readonly duration: number
  /** Whether the client was gone before it had the whole answer. */
  readonly isAborted: boolean
}

/** Bytes of the tokens whose accounts are kept. */
const MAX_TOKEN_BYTES = 4 * 2 ** 20

/** The lines of the log for requests. The line of a data service for a call names the same things alike (docs/operations.md). */
export class RequestLines {
  readonly #log: Logger
  /** By the `Authorization`. */
  readonly #accounts = new LRUCache<string, LoggedAccount>({
    maxSize: MAX_TOKEN_BYTES,
    sizeCalculation: ({ account, machine = '' }, authorization) =>
      96 + account.length + machine.length + authorization.length
  })

  private constructor(log: Logger) {
    this.#log = unredacted(log)
  }

  /** undefined if the level of the log leaves the lines out. */
  static of(log: Logger): RequestLines | undefined {
    return log.isLevelEnabled('info') ? new RequestLines(log) : undefined
  }

  write(request: EndedRequest): void {
    const { requestId, traceparent, acceptedAuthorization, method, path, route, resource, status, code } = request
    const { duration, isAborted } = request
    // Members that are undefined are not written.
    this.#log.info(
      {
        requestId,
        traceparent,
        ...(acceptedAuthorization === undefined ? {} : this.#accountOf(acceptedAuthorization)),
        method,
        path,
        route,
        resource: resource === '' ? undefined : resource,
        status,
        code,
        durationMs: Math.round(duration * 1000) / 1000,
        aborted: isAborted ? true : undefined
      },
      'request'
    )
  }

  #accountOf(authorization: string): LoggedAccount | undefined {
    const known = this.#accounts.get(authorization)
    if (known !== undefined) return known
    const account = accountOfVerified(authorization.slice(authorization.indexOf(' ')).trim())
    if (account !== undefined) this.#accounts.set(authorization, account)
    return account
  }
}
