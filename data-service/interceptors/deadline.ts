import { DomainError } from '../../shared/domain-error.js'
import type { IncomingCall } from './incoming-call.js'

/** A call without a deadline could hold a connection and a statement for ever. */
export function requireDeadline({ deadline }: IncomingCall): void {
  if (deadline === Infinity) throw new DomainError('request.malformed', 'Every call needs a deadline.')
}

export function timeOut(): DomainError {
  return new DomainError('upstream.timeout', 'The data service did not answer in time.')
}

/** For a caller that hears no answer any more: it only stops the work. */
export function callerGone(): DomainError {
  return new DomainError('upstream.unavailable', 'The caller went away.')
}
