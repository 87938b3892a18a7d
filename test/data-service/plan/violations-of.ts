import { DomainError } from '../../../shared/errors.js'

/** The DomainError that the work throws; anything else, or nothing, fails the test. */
export function errorOf(work: () => unknown): DomainError {
  try {
    work()
  } catch (error) {
    if (error instanceof DomainError) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** `code place` of every fault. */
export function violationsOf(work: () => unknown): string[] {
  return errorOf(work).violations.map(({ code, place }) => `${code} ${place.name}`)
}
