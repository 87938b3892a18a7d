import type { Authenticated, Caller } from '../auth/caller.js'
import type { Permission } from '../entity/access.js'
import type { Column } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import type { WriteAccess, WriteOperation } from '../entity/write-access.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import { passOwnerFilter, type OwnerTexts } from './owner-filter.js'
import {
  anotherOwner,
  bypasses,
  noOwner,
  ownedRows,
  ownerColumn,
  ownerValue,
  type OwnershipPolicy
} from './ownership.js'
import { allRows, type RowScope } from './scope.js'

/** A caller and the rules that judge what is theirs. */
export interface Writer {
  readonly caller: Authenticated
  readonly ownership: OwnershipPolicy
}

/** Refuses an operation that the resource does not have; the gateway answers so by itself. */
export function requireOperation({ entity }: Resource, operation: WriteOperation): void {
  if (!entity.writes.has(operation)) {
    throw new DomainError('method.not-allowed', `${entity.name} cannot be written this way.`)
  }
}

/**
 * Who may write at all: `auth.required`, then `capability.denied`, then the owner filter's `ownership.denied`. Whose
 * rows they are is judged with the rows.
 */
export function admitWriter(
  write: {
    readonly resource: Resource
    /** The operation, or the action's name. */
    readonly route: string
    readonly texts: OwnerTexts & { readonly id?: string }
    readonly permission?: Permission | undefined
  },
  caller: Caller,
  ownership: OwnershipPolicy
): Authenticated {
  const access = accessOf(write.resource)
  if (caller.kind === 'anonymous') throw new DomainError('auth.required', 'This needs an access token.')
  const needed = [access.kind === 'permission' ? access.permission : undefined, write.permission]
  const missing = needed.find((one) => one !== undefined && !caller.permissions.has(one))
  if (missing !== undefined) throw new DomainError('capability.denied', `This needs the permission ${missing}.`)
  passOwnerFilter({ ...write, id: write.texts.id }, caller, ownership)
  return caller
}

/** The rows that the caller may write: another's answer as if they did not exist. Throws `ownership.denied`. */
export function writableRows(resource: Resource, { caller, ownership }: Writer): RowScope {
  const access = accessOf(resource)
  if (access.kind === 'permission' || bypasses(caller, ownership)) return allRows
  if (caller.owner === null) throw noOwner()
  return ownedRows(ownerColumn(resource, access), caller.owner)
}

/** The owner column of a new row, where the caller's claim fills it and the body may leave it out. */
export function claimedColumn(resource: Resource, { caller, ownership }: Writer): Column | undefined {
  const access = accessOf(resource)
  if (access.kind === 'permission' || bypasses(caller, ownership)) return undefined
  return ownerColumn(resource, access)
}

/** The owner of a new row: the caller's claim, which a body may repeat but not contradict (`ownership.denied`). */
export function claimedOwner(column: Column, caller: Authenticated, named: Value | undefined): Value {
  if (caller.owner === null) throw noOwner()
  const owner = ownerValue(caller.owner, column)
  if (owner === undefined || (named !== undefined && named !== owner)) throw anotherOwner()
  return owner
}

function accessOf({ entity }: Resource): WriteAccess {
  if (entity.writeAccess === undefined) throw new TypeError(`${entity.name} says nothing of who may write`)
  return entity.writeAccess
}
