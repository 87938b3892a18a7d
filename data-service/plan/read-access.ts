import type { Authenticated, Caller } from '../auth/caller.js'
import type { ReadAccess, ReadOperation } from '../entity/access.js'
import type { Column } from '../entity/entity.js'
import type { Operand } from '../entity/value.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import { allRows, type RowScope } from './scope.js'

export interface OwnershipPolicy {
  /** undefined: every use of an ownership rule is a configuration error. */
  readonly bypassRole: string | undefined
}

/** What a caller may read of a resource. `id` is the id to use, where the owner filter settled it. */
export interface Granted {
  readonly scope: RowScope
  readonly id?: string
}

const INT_MAX = 2n ** 31n - 1n

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
  if (caller.owner === null) throw new DomainError('ownership.denied', 'The access token names no owner.')
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

function bypasses(caller: Authenticated, { bypassRole }: OwnershipPolicy): boolean {
  if (bypassRole === undefined) {
    throw new DomainError('configuration', 'The service is not configured for this request.', {
      cause: new Error('OWNER_BYPASS_ROLE is not set, and an ownership rule was used.')
    })
  }
  const wanted = bypassRole.toLowerCase()
  return caller.roles.some((role) => role.toLowerCase() === wanted)
}

/** The owner filter of source.md, where the owner parameter is the id of the route; absent or no integer is refused. */
function requireOwn(parameter: string | undefined, owner: bigint): void {
  if (parameter === undefined || !/^-?\d{1,100}$/.test(parameter) || BigInt(parameter) !== owner) {
    throw new DomainError('ownership.denied', 'This belongs to another owner.')
  }
}

function ownedRows(
  resource: Resource,
  access: Extract<ReadAccess, { kind: 'ownRows' | 'ownedById' }>,
  owner: bigint
): RowScope {
  const name = access.kind === 'ownedById' ? resource.id.name : access.property
  const column = resource.entity.columns.find((one) => one.name === name)
  if (column === undefined) throw new TypeError(`${resource.entity.name} has no ${name}`)
  const condition = {
    path: { through: null, column },
    comparison: 'equals',
    operands: [asOperand(owner, column)]
  } as const
  return { kind: 'rows-where', conditions: [condition] }
}

/** An owner beyond the column's 32 bits owns nothing there: one above the greatest int equals none. */
function asOperand(owner: bigint, { field }: Column): Operand {
  if (field.type !== 'int') return owner.toString()
  return Number(owner > INT_MAX || owner < -INT_MAX - 1n ? INT_MAX + 1n : owner)
}
