import { DomainError } from '../shared/domain-error.js'

/** An answer of the data service that lacks what its contract promises. */
export function unintelligible(): DomainError {
  return new DomainError('upstream.bad-gateway', 'The data service gave an answer that could not be understood.')
}
