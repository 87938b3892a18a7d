import { DomainError } from '../../shared/errors.js'
import type { OwnerFilter, OwnRows, Permission, ReadAccess, WriteAccess } from '../entity/access.js'
import type { Authenticated, Caller } from '../entity/caller.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/field.js'
import { INT32, INT64, isWithin, parseInteger } from '../entity/numbers.js'
import type { ReadOperation, WriteOperation } from '../entity/operations.js'
import type { Resource } from './catalogue.js'
import { allRows, bothScopes, type RowScope } from './plans.js'
import type { Violations } from './violations.js'

export interface OwnershipPolicy {
  /** undefined: every use of an ownership rule is a configuration error. */
  readonly bypassRole: string | undefined
  /** Of owner filters that name none of their own. `id` is the id of the route where it has one. */
  readonly parameterName: string
}

/** Whether the caller sees and touches every row (source.md, bypass predicate). */
export function bypasses(caller: Authenticated, { bypassRole }: Pick<OwnershipPolicy, 'bypassRole'>): boolean {
  if (bypassRole === undefined) {
    throw new DomainError('configuration', 'The service is not configured for this request.', {
      cause: new Error('OWNER_BYPASS_ROLE is not set, and an ownership rule was used.')
    })
  }
  const wanted = bypassRole.toLowerCase()
  return caller.roles.some((role) => role.toLowerCase() === wanted)
}

/** The rows of one owner. */
export function ownedRows(column: Column, owner: bigint): RowScope {
  const condition = {
    path: { through: null, column },
    comparison: 'equals',
    operands: [asOperand(owner, column)]
  } as const
  return { kind: 'rows-where', conditions: [condition] }
}

/** The column that holds the owner. */
export function ownerColumn({ entity }: Resource, { property }: OwnRows): Column {
  const column = entity.columns.find((one) => one.name === property)
  if (column === undefined) throw new TypeError(`${entity.name} has no ${property}`)
  return column
}

export function noOwner(): DomainError {
  return new DomainError('ownership.denied', 'The access token names no owner.')
}

export function anotherOwner(): DomainError {
  return new DomainError('ownership.denied', 'This belongs to another owner.')
}

/** An owner beyond the column's 32 bits owns nothing there: one above the greatest int equals none. */
function asOperand(owner: bigint, { field }: Column): Operand {
  if (field.type !== 'int') return owner.toString()
  return Number(isWithin(owner, INT32) ? owner : INT32.max + 1n)
}

/** The owner claim as a value of the owner column; undefined where no row of the table can be theirs. */
export function ownerValue(owner: bigint, { field }: Column): Operand | undefined {
  if (field.type !== 'int') return owner.toString()
  return isWithin(owner, INT32) ? Number(owner) : undefined
}

/** Where a request may name an owner, besides the id of its route; a member of its body does not count. */
export interface OwnerTexts {
  /** Of the query; several are their values joined by commas. */
  readonly ownerParameter?: string
}

/** The owner that a request named; `malformed` is no integer, and only the bypass role gets that far. */
export type NamedOwner = bigint | 'malformed' | undefined

/** Longer texts are not worth parsing: only zeros could precede an id of so many digits. */
const OWNER = /^-?\d{1,100}$/

/** The owner filter of source.md before a route of the resource. Throws `ownership.denied` and `configuration`. */
export function passOwnerFilter(
  request: {
    readonly resource: Resource
    readonly route: string
    readonly texts: OwnerTexts
    /** Of the route, where it has one. */
    readonly id: string | undefined
  },
  caller: Authenticated,
  policy: OwnershipPolicy
): NamedOwner {
  const { resource, route, texts, id } = request
  const filter = resource.entity.ownerFilter
  if (filter === undefined || !filter.routes.has(route)) return undefined
  const parameter = ownerParameter(filter, policy)
  const owner = namedOwner(isRouteId(parameter) ? (id ?? texts.ownerParameter) : texts.ownerParameter)
  if (bypasses(caller, policy)) return owner
  if (caller.owner === null) throw noOwner()
  if (owner === undefined && filter.routes.get(route) !== undefined) return undefined
  if (owner === undefined || owner === 'malformed') throw unresolved(parameter)
  if (owner !== caller.owner) throw anotherOwner()
  return owner
}

/** Name of the parameter that a filter compares to the owner claim. */
export function ownerParameter({ parameter }: OwnerFilter, { parameterName }: OwnershipPolicy): string {
  return parameter ?? parameterName
}

/** Whether the parameter is the id of the route, where the route has one. */
export function isRouteId(parameter: string): boolean {
  return parameter.toLowerCase() === 'id'
}

function namedOwner(text: string | undefined): NamedOwner {
  if (text === undefined) return undefined
  return (OWNER.test(text) ? parseInteger(text, INT64) : undefined) ?? 'malformed'
}

function unresolved(parameter: string): DomainError {
  return new DomainError(
    'ownership.denied',
    `This needs ${parameter}, the owner that the access token names, in digits.`
  )
}

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
  violations: Violations
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
  violations.add('filter.value.invalid', parameter, `${parameter} must be the id of an owner, in digits.`)
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
