import type { Caller } from '../auth/caller.js'
import type { ReadAccess, ReadOperation } from '../entity/access.js'
import type { CustomRead } from '../entity/custom-read.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Resource } from './catalogue.js'
import type { FaultList } from './fault-list.js'
import { ownerParameter, passOwnerFilter, type OwnerTexts } from './owner-filter.js'
import { bypasses, noOwner, ownedRows, ownerColumn, type OwnershipPolicy } from './ownership.js'
import { allRows, bothScopes, type RowScope } from './scope.js'

/**
 * The rows that a read is about: the one place that says so. Throws `auth.required`, `capability.denied` or
 * `ownership.denied`; an owner parameter that a bypass caller sent and that names no owner goes on the list.
 */
export function readableRows(
  call: {
    readonly resource: Resource
    readonly read: ReadOperation | CustomRead
    readonly texts: OwnerTexts & { readonly id?: string }
  },
  { caller, ownership }: { readonly caller: Caller; readonly ownership: OwnershipPolicy },
  faults: FaultList
): RowScope {
  const { resource, read, texts } = call
  const [route, access] = typeof read === 'string' ? [read, resource.entity.access[read]] : [read.name, read.access]
  const filter = resource.entity.ownerFilter
  const filtered = filter?.routes.has(route) === true
  if (access.kind === 'everyone' && !filtered) return allRows
  if (caller.kind === 'anonymous') throw new DomainError('auth.required', 'This needs an access token.')
  if (access.kind === 'permission' && !caller.permissions.has(access.permission)) {
    throw new DomainError('capability.denied', `This needs the permission ${access.permission}.`)
  }
  const owner = passOwnerFilter(
    { resource, route, texts, id: read === 'get' ? texts.id : undefined },
    caller,
    ownership
  )
  const scope = scopeOf(access, { resource, caller, ownership })
  if (scope === null) throw noOwner()
  if (filter === undefined || owner === undefined || read === 'get') return scope
  if (owner !== 'malformed') return bothScopes(scope, ownedRows(filter.owner, owner))
  const parameter = ownerParameter(filter, ownership)
  faults.add('filter.value.invalid', parameter, `${parameter} must be the id of an owner, in digits.`)
  return scope
}

/** The rows of a referenced resource that the caller could read by id; null for none. */
export function referenceScope(target: Resource, caller: Caller, ownership: OwnershipPolicy): RowScope | null {
  const { access, ownerFilter } = target.entity
  const filtered = ownerFilter?.routes.has('get') === true && ownerFilter.routes.get('get') === undefined
  if (access.get.kind === 'everyone' && !filtered) return allRows
  if (caller.kind === 'anonymous') return null
  if (access.get.kind === 'permission' && !caller.permissions.has(access.get.permission)) return null
  const scope = scopeOf(access.get, { resource: target, caller, ownership })
  if (scope === null || !filtered || bypasses(caller, ownership)) return scope
  return caller.owner === null ? null : bothScopes(scope, ownedRows(ownerFilter.owner, caller.owner))
}

/** null: the resolvable-owner gate is shut. */
function scopeOf(
  access: ReadAccess,
  of: {
    readonly resource: Resource
    readonly caller: Exclude<Caller, { kind: 'anonymous' }>
    readonly ownership: OwnershipPolicy
  }
): RowScope | null {
  const { resource, caller, ownership } = of
  if (access.kind !== 'ownRows' || bypasses(caller, ownership)) return allRows
  return caller.owner === null ? null : ownedRows(ownerColumn(resource, access), caller.owner)
}
