import { type ConflictReason, DomainError, httpStatusOf } from '../../../shared/errors.js'
import { MAX_MEMBERS_BYTES } from '../../../shared/transport/rpc-status.js'
import type { Rejection } from '../../entity/action.js'
import type { Resource } from '../../plan/model/catalogue.js'
import { CONFLICT_DETAIL, KeyConflict } from '../../plan/model/key-conflict.js'
import { UnshownValue } from '../../entity/fields/unshown.js'
import { noSuchRow } from '../../plan/row-scopes.js'

// The errors of writes that rules, other writes or keys of the database prevent.

/** The error for a rejection by a rule of the entity. */
export function rejectionError(rejection: Rejection): DomainError {
  switch (rejection.rejection) {
    case 'forbidden':
      return new DomainError('ownership.denied', rejection.detail)
    case 'notFound':
      return noSuchRow()
    case 'state':
      return new DomainError('state.invalid', rejection.detail)
    case 'input': {
      const { detail, pointer } = rejection
      return new DomainError('body.invalid', detail, {
        violations: [{ code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }]
      })
    }
    case 'conflict':
      if (Buffer.byteLength(JSON.stringify(rejection.members)) > MAX_MEMBERS_BYTES) {
        throw new TypeError(`the members of a conflict have more than ${MAX_MEMBERS_BYTES} bytes`)
      }
      return new DomainError('conflict', rejection.detail, { title: rejection.title, members: rejection.members })
  }
}

/** Throws the error of one row of a batch, with the row's place in the body. */
export function throwAt(index: number, thrown: unknown): never {
  const error = unshownRejection(thrown)
  if (!(error instanceof DomainError) || error.code === 'conflict') throw error
  const { code, message, cause, violations } = error
  const moved = violations.map((one) =>
    one.place.in === 'pointer' ? { ...one, place: { in: 'pointer', name: `/${index}${one.place.name}` } as const } : one
  )
  throw new DomainError(code, `Row ${index}, counted from 0: ${message}`, { violations: moved, cause })
}

/** Whether an error is about a row that was to be written, and not about the caller or a database that is busy. */
export function isOfRow(error: unknown): error is DomainError {
  if (!(error instanceof DomainError) || error.retryAfter !== undefined) return false
  const status = httpStatusOf(error)
  return status < 500 && status !== 401 && !error.code.startsWith('idempotency.')
}

/**
 * The error of an item of a batch of changes, or of a row of an import: that of its single write, with the place of the item
 * in the body. `said` comes before its sentence, which a conflict has none of. Errors that are about no row stay as they are.
 */
export function errorOfItem<Thrown>(index: number, thrown: Thrown, said = ''): Thrown | DomainError {
  const error = unshownRejection(thrown)
  if (!isOfRow(error)) return error
  const { code, message, title, members, cause, reason, guarded, conflict, violations } = error
  const at = `/${index}`
  const moved = violations.map((one) =>
    one.place.in === 'pointer' ? { ...one, place: { in: 'pointer', name: `${at}${one.place.name}` } as const } : one
  )
  const whole = { code, detail: `${said}${message}`, place: { in: 'pointer', name: at } } as const
  return new DomainError(code, code === 'conflict' ? message : `${said}${message}`, {
    violations: moved.length === 0 ? [whole] : moved,
    guarded,
    members,
    cause,
    reason,
    ...(conflict === undefined ? {} : { conflict }),
    ...(title === undefined ? {} : { title })
  })
}

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
  } catch (thrown) {
    const error = unshownRejection(thrown)
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

/**
 * The error of a write that reads a stored value which is not of its property's type. Without the value nobody knows what the
 * write would change. The answer names no property, since the caller may not be allowed to read it; the log gets the cause.
 */
function unshownRejection<Thrown>(error: Thrown): Thrown | DomainError {
  if (!(error instanceof UnshownValue)) return error
  return new DomainError('state.invalid', UNSHOWN_DETAIL, { cause: error })
}

const UNSHOWN_DETAIL =
  'A row that this write reads has a stored value that is none of its type. Correct the value in the database; where no rule ' +
  'reads the row, a PUT replaces it too.'

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
