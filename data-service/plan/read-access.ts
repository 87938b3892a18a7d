import type { Caller } from '../auth/caller.js'
import type { ReadOperation } from '../entity/access.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import { anotherOwner, bypasses, noOwner, ownedRows, type OwnershipPolicy } from './ownership.js'
import { allRows, type RowScope } from './scope.js'

/** What a caller may read of a resource. `id` is the id to use, where the owner filter settled it. */
export interface Granted {
  readonly scope: RowScope
  readonly id?: string
}

/**
 * Who may read which rows: the one place that says so. Refuses with `auth.required`, `capability.denied` or
 * `ownership.denied`. `id` is the route's, for reads by id.
 */
export function readAccess(
  call: { readonly resource: Resource; readonly operation: ReadOperation; readonly id?: string },
  caller: Caller,
  policy: OwnershipPolicy
): Granted {
  const { resource, operation } = call
  const access = resource.entity.access[operation]
  if (access.kind === 'everyone') return { scope: allRows }
  if (caller.kind === 'anonymous') throw new DomainError('auth.required', 'This needs an access token.')
  if (access.kind === 'permission') {
    if (caller.permissions.has(access.permission)) return { scope: allRows }
    throw new DomainError('capability.denied', `This needs the permission ${access.permission}.`)
  }
  if (bypasses(caller, policy)) return { scope: allRows }
  if (caller.owner === null) throw noOwner()
  if (access.kind === 'ownedById') requireOwn(call.id, caller.owner)
  const scope = ownedRows(resource, access, caller.owner)
  return access.kind === 'ownedById' ? { scope, id: caller.owner.toString() } : { scope }
}

/** The rows of a referenced resource that the caller could read by id; null for none. */
export function referenceScope(target: Resource, caller: Caller, policy: OwnershipPolicy): RowScope | null {
  const access = target.entity.access.get
  if (access.kind === 'everyone') return allRows
  if (caller.kind === 'anonymous') return null
  if (access.kind === 'permission') return caller.permissions.has(access.permission) ? allRows : null
  if (bypasses(caller, policy)) return allRows
  return caller.owner === null ? null : ownedRows(target, access, caller.owner)
}

/** The owner filter of source.md, where the owner parameter is the id of the route; absent or no integer is refused. */
function requireOwn(parameter: string | undefined, owner: bigint): void {
  if (parameter === undefined || !/^-?\d{1,100}$/.test(parameter) || BigInt(parameter) !== owner) throw anotherOwner()
}
