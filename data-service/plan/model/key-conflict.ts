import { type ConflictReason, DomainError } from '../../../shared/errors.js'
import type { Column } from '../../entity/entity.js'

/** The detail of every conflict that no rule of an entity reports. The cause is in the log, and in the reason (contract.md section 5). */
export const CONFLICT_DETAIL = 'A data conflict occurred. Please retry or contact support.'

/** A column of a table that was written, of a resource or of its children. */
export interface WrittenColumn {
  readonly table: string
  readonly column: Column
}

/** A unique or foreign key does not allow the write. */
export class KeyConflict extends DomainError {
  readonly kind: ConflictReason['kind']
  /** The column whose value is the reason. undefined where that is not known, and for a key of several columns. */
  readonly at: WrittenColumn | undefined

  /** The reason names the key for the log. */
  constructor(
    kind: ConflictReason['kind'],
    at: WrittenColumn | undefined,
    { reason, cause }: { readonly reason: string; readonly cause: unknown }
  ) {
    // The property is named where it is known who asks.
    super('conflict', CONFLICT_DETAIL, { reason, cause, conflict: { kind } })
    this.kind = kind
    this.at = at
  }
}
