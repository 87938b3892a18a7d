import { type ConflictReason, DomainError } from '../../../shared/errors.js'
import type { Resource } from '../../plan/model/catalogue.js'
import { CONFLICT_DETAIL, KeyConflict } from '../../plan/model/key-conflict.js'

/** For a guarded write whose row was changed by another write before. The cause is for the log. */
export function stale(cause: string): DomainError {
  return new DomainError('conflict', CONFLICT_DETAIL, {
    guarded: true,
    conflict: { kind: 'stale' },
    cause: new Error(cause)
  })
}

/** A write as its conflicts are reported. */
interface ReportedWrite {
  /** Every conflict of a guarded write becomes the guarded kind, whatever its cause. */
  readonly guarded: boolean
  /** As the caller sees it. undefined for an operation of the application, which has none. */
  readonly resource: Pick<Resource, 'entity' | 'properties'> | undefined
}

/** Runs a write, and reports its conflicts. */
export async function guardConflicts<Result>(
  { guarded, resource }: ReportedWrite,
  work: Promise<Result>
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'conflict') throw error
    const { message, title, members, cause, reason } = error
    const conflict = error instanceof KeyConflict ? keyReason(error, resource) : error.conflict
    throw new DomainError('conflict', message, {
      guarded,
      members,
      cause,
      reason,
      ...(conflict === undefined ? {} : { conflict }),
      ...(title === undefined ? {} : { title })
    })
  }
}

/** The property is named if the caller may read it as one of the resource or of its children. */
function keyReason({ kind, at }: KeyConflict, resource: ReportedWrite['resource']): ConflictReason {
  if (at === undefined || resource === undefined) return { kind }
  const { table, column } = at
  const { entity, properties } = resource
  const shown = [...properties.values()]
  const isShown =
    table === entity.table
      ? shown.some((one) => one.kind === 'column' && one.column.name === column.name)
      : shown.some(
          (one) =>
            one.kind === 'children' &&
            one.children.table === table &&
            one.shown.some(({ name }) => name === column.name)
        )
  return isShown ? { kind, property: column.name } : { kind }
}
