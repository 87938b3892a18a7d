import { DomainError } from '../../shared/domain-error.js'

/** One body for every conflict, whose cause is in the log alone (contract.md section 5). */
const DETAIL = 'A data conflict occurred. Please retry or contact support.'

/** A guarded write that came too late. The cause is for the log. */
export function stale(cause: string): DomainError {
  return new DomainError('conflict', DETAIL, { guarded: true, cause: new Error(cause) })
}

/** Runs a write; on a guarded one every conflict is the guarded kind, whatever it came of. */
export async function guardConflicts<Result>(guarded: boolean, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'conflict' || error.guarded === guarded) throw error
    const { message, title, members, cause } = error
    throw new DomainError('conflict', message, { guarded, members, cause, ...(title === undefined ? {} : { title }) })
  }
}
