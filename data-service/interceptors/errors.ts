import type { Logger } from 'pino'
import { DomainError } from '../../shared/domain-error.js'
import type { Caller } from '../auth/caller.js'
import { trail } from '../auth/trail.js'
import type { ErrorCode } from '../../shared/error-code.js'
import { messageOf } from '../start-error.js'

/** What the service has to mend, not the caller. */
const OURS: readonly ErrorCode[] = ['internal', 'configuration', 'upstream.unavailable', 'upstream.bad-gateway']

/** What a call is about, for the log. */
export interface Target {
  readonly resource: string
  /** As in a path; absent where the call names no row. */
  readonly id?: string
}

/** Refusals that depend on what others do at the same time: whoever looks into one asks which row it was. */
const CONFLICTS: readonly ErrorCode[] = ['conflict', 'idempotency.in-flight']

interface FailedCall {
  readonly signal: AbortSignal
  readonly log: Logger
  readonly caller: Caller
  readonly clientAddress: string | undefined
  readonly target?: Target | undefined
}

/**
 * A DomainError as it is; anything else, stopped work aside, is `internal` with fixed words, and the log has the rest
 * under the request's id. A distinct cause is logged once, here, a conflict with the row that it is about.
 */
export function toDomainError(error: unknown, call: FailedCall): DomainError {
  const { signal, log, caller, target } = call
  const reason: unknown = signal.aborted ? signal.reason : undefined
  if (reason instanceof DomainError) {
    log.debug({ code: reason.code }, 'call stopped')
    return reason
  }
  if (!(error instanceof DomainError)) {
    log.error({ err: error }, 'call failed unforeseen')
    return new DomainError(
      'internal',
      'Something went wrong in the data service. Its log says more under the request id.'
    )
  }
  const { code, cause } = error
  // A caller who was only told to come back later, with nothing broken behind it, is no fault.
  if (code === 'upstream.unavailable' && cause === undefined) log.warn({ code, detail: error.message }, 'call refused')
  else if (OURS.includes(code)) log.error({ code, err: cause ?? error }, 'call failed')
  else if (code === 'ownership.denied') {
    const account = caller.kind === 'authenticated' ? caller : undefined
    const { clientAddress } = call
    trail(log, {
      event: 'ownership',
      outcome: 'refused',
      account,
      clientAddress,
      code,
      reason: error.message,
      ...target
    })
  } else if (CONFLICTS.includes(code)) log.info({ code, reason: messageOf(cause ?? error), ...target }, 'call refused')
  // What is throttled has its line in the trail of log-ins already.
  else if (cause !== undefined && code !== 'quota-exceeded')
    log.info({ code, reason: messageOf(cause) }, 'call refused')
  // Its words repeat what the caller sent, names and values, which no log line may.
  else log.debug({ code, faults: error.faults.length }, 'call refused')
  return error
}
