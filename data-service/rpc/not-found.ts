import { DomainError } from '../../shared/domain-error.js'

/** The same words for an absent row and for one outside of the scope: which it is must not show. */
export function notFound(): DomainError {
  return new DomainError('not-found', 'There is no such row.')
}
