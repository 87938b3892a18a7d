import { hasRowVersion } from '../entity/fields/row-version.js'
import { DomainError, rejectionAt, type ViolationPlace } from '../../shared/errors.js'
import type { OwnerFilter, OwnRows, ReadAccess, WriteAccess } from '../entity/access.js'
import type { Authenticated, Caller } from '../entity/caller.js'
import type { CustomRead } from '../entity/custom-read.js'
import type { Column, Entity } from '../entity/entity.js'
import type { Value } from '../entity/fields/field.js'
import type { Permission } from '../entity/fields/names.js'
import { INT32_RANGE, INT64_RANGE, isWithin, parseInteger } from '../entity/fields/numbers.js'
import type { ReadName } from '../../shared/read-parameters.js'
import { BATCHES, type BatchOperation, readsOf, WRITE_OPERATIONS, type WriteOperation } from '../entity/operations.js'
import type { Resource } from './model/catalogue.js'
import type { OwnershipPolicy, PlanningContext } from './planning.js'
import { allRows, intersectScopes, type RowScope, type WriteScope } from './model/plans.js'
import {
  anotherOwner,
  bypassesOwnership,
  claimedBy,
  decideRowPart,
  decideRows,
  firstRejection,
  lacks,
  noOwnerClaim,
  noRows,
  ownedRows,
  ownerColumn,
  ownerOperand,
  tokenRequired,
  uniteScopes,
  withoutRepeats
} from './row-scopes.js'
import type { Violations } from './parsing/violations.js'

/** Where a request may name an owner. A member of its body does not count. */
export interface OwnerParams {
  /** The id of the route, where it has one. */
  readonly id?: string
  /** The owner parameter of the query. Several are their values joined by commas. */
  readonly ownerParameter?: string
  /** The column by whose value the path names the row, in place of the id. */
  readonly by?: Column
}

/**
 * The rows that a read may return; no other function decides this. Throws `auth.required`, `capability.denied` or
 * `ownership.denied`. An owner parameter that is no integer becomes a violation where the caller has the bypass role;
 * from any other caller it is `ownership.denied`.
 */
export function readableRows(
  request: { readonly resource: Resource; readonly read: ReadName | CustomRead; readonly params: OwnerParams },
  { planning: { ownership }, caller }: PlanningContext,
  violations: Violations
): RowScope {
  const { resource, read, params } = request
  const [route, access] = typeof read === 'string' ? [read, resource.entity.access[read]] : [read.name, read.access]
  const filter = resource.entity.ownerFilter
  const filtered = filter?.routes.has(route) === true
  if (access.kind === 'everyone' && !filtered) return allRows
  const scope = decideRows(access, { entity: resource.entity, caller, ownership })
  // The owner filter comes after tokens and permissions, and before the resolvable-owner gate.
  if (scope instanceof DomainError && scope.code !== 'ownership.denied') throw scope
  // The path of a collection holds no id.
  const { id: named, ownerParameter: sent, by } = params
  const id = read === 'get' ? named : undefined
  const owner = filtered ? checkOwnerFilter({ resource, route, id, sent, by }, withToken(caller), ownership) : undefined
  if (scope instanceof DomainError) throw scope
  if (filter === undefined || owner === undefined) return scope
  const parameter = ownerParameter(filter, ownership)
  if (read === 'get' && !judgesRow(filter, by, ownership)) {
    // The id of the path is the row's own, and the bypass role may name any owner.
    if (isRouteId(parameter) || owner === 'malformed' || bypassesOwnership(withToken(caller), ownership)) return scope
    return withoutRepeats(intersectScopes(scope, ownedRows(filter.owner, owner)))
  }
  if (owner !== 'malformed') return intersectScopes(scope, ownedRows(filter.owner, owner))
  violations.add('filter.value.invalid', parameter, `${parameter} must be the id of an owner, in digits.`)
  return scope
}

/** The rows of a referenced resource that the caller could read by id; null for none. */
export function referenceableRows(target: Resource, context: PlanningContext): RowScope | null {
  const scope = readableByReference(target, context)
  return scope instanceof DomainError ? null : scope
}

/** The rows that the caller could read by id, whose ids it did not name itself; or why it could read none. */
export function readableByReference(
  target: Resource,
  { planning: { ownership }, caller }: PlanningContext
): RowScope | DomainError {
  return rowsReadableBy('get', target.entity, { caller, ownership })
}

/** The rows that a caller could read by a read, with the owner parameter of that caller where it needs one. */
function rowsReadableBy(
  read: ReadName,
  entity: Entity,
  { caller, ownership, decide = decideRows }: OfCaller & { readonly decide?: typeof decideRows }
): RowScope | DomainError {
  const { access, ownerFilter } = entity
  const filtered = ownerFilter?.routes.has(read) === true && ownerFilter.routes.get(read) === undefined
  if (access[read].kind === 'everyone' && !filtered) return allRows
  const scope = decide(access[read], { entity, caller, ownership })
  if (scope instanceof DomainError || !filtered) return scope
  if (caller.kind === 'anonymous') return tokenRequired()
  if (bypassesOwnership(caller, ownership)) return scope
  return caller.owner === null
    ? noOwnerClaim(caller)
    : intersectScopes(scope, ownedRows(ownerFilter.owner, caller.owner))
}

interface OfCaller {
  readonly caller: Caller
  readonly ownership: OwnershipPolicy
}

/** A caller who may write, and which rows. */
export interface Writer {
  readonly caller: Authenticated
  readonly ownership: OwnershipPolicy
  /** Or why it is none: that is told in the transaction, after a replay (writeScope). */
  readonly decided: WriteScope | DomainError
}

/** The spelled-out word for every row: what rules and hooks of an application write besides, they write for every caller. */
export const everyRowOfRules: WriteScope = scopedTo({ before: allRows, after: allRows, shown: allRows })

/**
 * The rows that a caller may write by a route: those of the write access that the caller could also read by id, before and
 * after the write. Or why there are none. No other function decides this.
 */
function decideWrite({ entity }: Pick<Resource, 'entity'>, route: string, of: OfCaller): WriteScope | DomainError {
  const written = decideRows(writeAccess(entity, route), { entity, ...of })
  const read = entity.writesUnseen ? allRows : rowsReadableBy('get', entity, of)
  const rejection = firstRejection([written, read])
  if (rejection !== undefined || written instanceof DomainError || read instanceof DomainError)
    return rejection ?? tokenRequired()
  const before = withoutRepeats(intersectScopes(written, read))
  const after = entity.actions.get(route)?.handsOver === true ? allRows : before
  const seen = after === before && !entity.writesUnseen ? allRows : seenRows(entity, of)
  const shown = seen.kind === 'all-rows' ? after : withoutRepeats(intersectScopes(after, seen))
  return scopedTo({ before, after, shown })
}

/** The rows that the caller sees by id or in lists. */
function seenRows(entity: Entity, of: OfCaller): RowScope {
  const list = rowsReadableBy('list', entity, of)
  if (!(list instanceof DomainError) && list.kind === 'all-rows') return list
  return uniteScopes([list, rowsReadableBy('get', entity, of)]) ?? noRows(entity)
}

function scopedTo(scope: Pick<WriteScope, 'before' | 'after' | 'shown'>): WriteScope {
  // The brand exists in the types only.
  return scope as WriteScope
}

/** Rejects an operation that the resource does not have. The gateway has no route for it; gRPC callers reach this. */
export function requireOperation({ entity }: Resource, operation: WriteOperation): void {
  if (!entity.writes.has(operation)) {
    throw new DomainError('method.not-allowed', `${entity.name} cannot be written this way.`)
  }
}

/** Rejects a batch that the entity does not have. */
export function requireBatch({ entity }: Resource, batch: BatchOperation): void {
  if (!batchesOf(entity).includes(batch)) {
    throw new DomainError('method.not-allowed', `${entity.name} cannot be written this way.`)
  }
}

/** Rejects an update that names its row by a unique property where the entity has none. */
export function requireUpdateBy(entity: Entity): void {
  if (!updatesBy(entity)) throw new DomainError('method.not-allowed', `${entity.name} is updated by id alone.`)
}

/**
 * Whether an update may name its row by a unique property: not where the entity file has replaced the update, which knows
 * ids alone.
 */
export function updatesBy({ writes, overrides }: Entity): boolean {
  return writes.has('update') && overrides.update === undefined
}

/**
 * The batches of a resource: those of its single writes, unless the entity file has replaced the write and not its batch as
 * well. A batch would go past what the replacement does. Changes and deletes need versions to be guarded by.
 */
export function batchesOf(entity: Entity): BatchOperation[] {
  const { writes, overrides } = entity
  return (Object.keys(BATCHES) as BatchOperation[]).filter((batch) => {
    const write = BATCHES[batch]
    if (write !== 'create' && !hasRowVersion(entity)) return false
    return writes.has(write) && (overrides[write] === undefined || overrides[batch] !== undefined)
  })
}

/** Whether rows come in out of files: not where the entity file has replaced the create or its batch, which an import would go past. */
export function takesImports({ writes, overrides }: Entity): boolean {
  return writes.has('create') && overrides.create === undefined && overrides.batch === undefined
}

/** Rejects an import of a resource that takes none. */
export function requireImports({ entity }: Resource): void {
  if (!takesImports(entity)) throw new DomainError('method.not-allowed', `${entity.name} cannot be written this way.`)
}

/**
 * Whether the caller may write at all. Throws `auth.required`, then `capability.denied`, then `ownership.denied` of the
 * owner filter.
 */
export function authorizeWrite(
  write: {
    readonly resource: Resource
    /** The operation, or the action's name. */
    readonly route: string
    readonly params: OwnerParams
    /** The permission that an action needs besides the resource's own. */
    readonly permission?: Permission | undefined
    /** Whether each row of a batch names itself in the body: then `checkItemOwners` comes for them. */
    readonly isBatch?: boolean
  },
  { planning: { ownership }, caller }: PlanningContext
): Writer {
  if (caller.kind === 'anonymous') throw tokenRequired()
  const { resource, route, params, permission, isBatch = false } = write
  const decided = decideWrite(resource, route, { caller, ownership })
  if (decided instanceof DomainError && decided.code !== 'ownership.denied') throw decided
  if (permission !== undefined && !caller.permissions.has(permission)) throw lacks(permission)
  if (isBatch && filtersById(resource, ownership)) return { caller, ownership, decided }
  const { id, ownerParameter: sent, by } = params
  const owner = checkOwnerFilter({ resource, route, id, sent, by }, caller, ownership)
  const filter = resource.entity.ownerFilter
  const isOfRow = filter !== undefined && typeof owner === 'bigint' && judgesRow(filter, by, ownership)
  if (!isOfRow || decided instanceof DomainError) return { caller, ownership, decided }
  const before = withoutRepeats(intersectScopes(decided.before, ownedRows(filter.owner, owner)))
  return { caller, ownership, decided: scopedTo({ ...decided, before }) }
}

/**
 * Why there is no row with the value of a unique column that the caller may read or write by a route, where the owner filter
 * compares the id of the path: by id every row that is not the caller's own is rejected, whether it exists or not, and a
 * value must tell no more. undefined where the row is absent as any other.
 */
export function foreignRow(
  { resource: { entity }, route, by }: { readonly resource: Resource; readonly route: string; readonly by: Column },
  { planning: { ownership }, caller }: PlanningContext
): DomainError | undefined {
  const { ownerFilter } = entity
  if (ownerFilter?.routes.has(route) !== true || !judgesRow(ownerFilter, by, ownership)) return undefined
  return ownsEverything(caller, ownership) ? undefined : anotherOwner({ in: 'parameter', name: by.name })
}

/** Whether the owner filter compares the id of the path, and the path has another column's value in its place. Then the row is compared. */
function judgesRow(filter: OwnerFilter, by: Column | undefined, ownership: OwnershipPolicy): boolean {
  return by !== undefined && isRouteId(ownerParameter(filter, ownership))
}

/**
 * The owner filter of a single write, for the rows of a batch by their ids as they were sent. Throws `ownership.denied` at the
 * id of the first row that is not the caller's.
 */
export function checkItemOwners(
  {
    resource,
    route,
    ids
  }: { readonly resource: Resource; readonly route: WriteOperation; readonly ids: readonly string[] },
  { caller, ownership }: Writer
): void {
  if (!filtersById(resource, ownership)) return
  for (const [index, id] of ids.entries()) {
    const place = { in: 'pointer', name: `/${index}/id` } as const
    checkOwnerFilter({ resource, route, id, sent: undefined, place }, caller, ownership)
  }
}

function filtersById({ entity: { ownerFilter } }: Resource, ownership: OwnershipPolicy): boolean {
  return ownerFilter !== undefined && isRouteId(ownerParameter(ownerFilter, ownership))
}

/** The rows that the caller may write; any other row answers like one that does not exist. Throws `ownership.denied`. */
export function writeScope({ decided }: Writer): WriteScope {
  if (decided instanceof DomainError) throw decided
  return decided
}

/** For a row that the write would leave outside of the scope. */
export function outsideScope(): DomainError {
  return new DomainError('ownership.denied', 'The row would be outside of those that the caller may write.')
}

/** The owner column of a new row, and the kind of owner whose claim fills it. */
export interface ClaimedColumn extends Pick<OwnRows, 'owner'> {
  readonly column: Column
}

/**
 * The owner column of a new row where the caller's owner claim fills it, so that the body may leave it out; undefined
 * where the body says whose row it is. Of a resource without a create of its own the read by id tells the owner.
 */
export function claimedColumn({ entity }: Pick<Resource, 'entity'>, writer: OfCaller): ClaimedColumn | undefined {
  const { access: reads, writeAccess: writes, writesUnseen } = entity
  const creating = writes.get('create') ?? (writesUnseen ? undefined : reads.get)
  const access = creating && claimedRows(creating, entity, writer)
  return access && { ...access, column: ownerColumn(entity, access) }
}

/** Of several ways to create a row the claim fills the column that all of those which are open to the caller agree on. */
function claimedRows(access: ReadAccess, entity: Entity, of: OfCaller): OwnRows | undefined {
  switch (access.kind) {
    case 'everyone':
    case 'permission':
    case 'rows':
      return undefined
    case 'ownRows':
      return of.caller.kind === 'anonymous' || bypassesOwnership(of.caller, of.ownership) ? undefined : access
    case 'allOf':
      return access.parts.map((part) => claimedRows(part, entity, of)).find((one) => one !== undefined)
    case 'anyOf': {
      const [first, ...others] = openParts(access.parts, entity, of).map((part) => claimedRows(part, entity, of))
      const isSame = (one: OwnRows | undefined): boolean =>
        one?.property === first?.property && one?.owner === first?.owner
      return others.every(isSame) ? first : undefined
    }
  }
}

/** Where the caller lacks a permission for every part, they are those that name rows besides it. */
function openParts(parts: readonly ReadAccess[], entity: Entity, of: OfCaller): readonly ReadAccess[] {
  const isOpen = (decided: RowScope | DomainError | undefined): boolean =>
    decided !== undefined && !(decided instanceof DomainError)
  const open = parts.filter((part) => isOpen(decideRows(part, { entity, ...of })))
  return open.length > 0 ? open : parts.filter((part) => isOpen(decideRowPart(part, { entity, ...of })))
}

/** What a row of a resource is bound to that a create brings along as a child. */
export interface BroughtAlong {
  readonly claimed: ClaimedColumn | undefined
  /** Where the row may be. */
  readonly scope: WriteScope
}

/**
 * A caller who may create the root needs no permission of the resource whose rows it brings along. The owner and the rows
 * that the create and the read by id of that resource name hold all the same: without them a create of the root would put
 * rows before callers whom they do not belong to. A resource without a create of its own has that read alone. Throws
 * `ownership.denied`.
 */
export function broughtAlong(entity: Entity, writer: Writer): BroughtAlong {
  const { caller, ownership } = writer
  const decide: typeof decideRows = (access, of) => decideRowPart(access, of) ?? allRows
  const creating = entity.writeAccess.get('create')
  const written = creating === undefined ? allRows : decide(creating, { entity, caller, ownership })
  const read = entity.writesUnseen ? allRows : rowsReadableBy('get', entity, { caller, ownership, decide })
  if (written instanceof DomainError) throw written
  if (read instanceof DomainError) throw read
  const rows = withoutRepeats(intersectScopes(written, read))
  return { claimed: claimedColumn({ entity }, writer), scope: scopedTo({ before: rows, after: rows, shown: rows }) }
}

/**
 * The owner of a new row: the caller's claim, which a body may repeat but not contradict (`ownership.denied`). `at` is the
 * JSON pointer of the row in the body.
 */
export function claimedOwner(
  claimed: ClaimedColumn,
  caller: Authenticated,
  { named, at }: { readonly named: Value | undefined; readonly at: string }
): Value {
  const { column } = claimed
  const claim = claimedBy(caller, claimed)
  if (claim === null) throw noOwnerClaim(caller, claimed)
  const fits = column.field.type !== 'int' || isWithin(claim, INT32_RANGE)
  if (!fits) throw anotherOwner()
  const owner = ownerOperand(column, claim)
  if (named !== undefined && named !== owner) throw anotherOwner({ in: 'pointer', name: `${at}/${column.name}` })
  return owner
}

/**
 * The operations, own reads and actions of a resource that are not rejected for every row, by name: the caller has a token
 * where one is needed, the permissions, and an owner claim where rows have owners. It decides nothing: each call is judged
 * by itself. A rule of an entity file that fails here counts as one that rejects.
 */
export function allowedCalls(
  resource: Resource,
  { caller, ownership }: { readonly caller: Caller; readonly ownership: OwnershipPolicy }
): string[] {
  const { entity, withheld } = resource
  const passesFilter = (route: string): boolean =>
    entity.ownerFilter?.routes.has(route) !== true ||
    (caller.kind === 'authenticated' && (caller.owner !== null || bypassesOwnership(caller, ownership)))
  const mayRead = (route: string, access: ReadAccess): boolean =>
    !(decideRows(access, { entity, caller, ownership }) instanceof DomainError) && passesFilter(route)
  const mayWrite = (route: string, permission?: Permission): boolean => {
    if (caller.kind === 'anonymous') return false
    if (permission !== undefined && !caller.permissions.has(permission)) return false
    return !(decideWrite(resource, route, { caller, ownership }) instanceof DomainError) && passesFilter(route)
  }
  const writes = WRITE_OPERATIONS.filter((one) => entity.writes.has(one) && passes(() => mayWrite(one)))
  const reads = readsOf(entity).filter((one) => passes(() => mayRead(one, entity.access[one])))
  return [
    ...reads,
    ...(entity.history && reads.includes('get') ? ['history'] : []),
    ...writes,
    ...batchesOf(entity).filter((batch) => writes.includes(BATCHES[batch])),
    ...(writes.includes('create') && takesImports(entity) ? ['import'] : []),
    ...Array.from(entity.customReads.values())
      .filter((read) => !read.items.some((item) => withheld.has(item.name)))
      .filter((read) => passes(() => mayRead(read.name, read.access)))
      .map(({ name }) => name),
    ...Array.from(entity.actions.values())
      .filter(({ name, permission }) => passes(() => mayWrite(name, permission)))
      .map(({ name }) => name)
  ]
}

/** Whether the caller has the bypass role. Without a setting for that role nobody has. */
export function ownsEverything(caller: Caller, ownership: OwnershipPolicy): boolean {
  return caller.kind === 'authenticated' && passes(() => bypassesOwnership(caller, ownership))
}

function passes(rule: () => boolean): boolean {
  try {
    return rule()
  } catch {
    return false
  }
}

/** An owner that a request named. `malformed`: it is no 64-bit integer, and the caller has the bypass role. */
type NamedOwner = bigint | 'malformed' | undefined

/**
 * The owner filter of source.md, which stands before routes of a resource: the owner parameter has to equal the owner
 * claim, except for the bypass role. Throws `ownership.denied` and `configuration`.
 */
export function checkOwnerFilter(
  request: {
    readonly resource: Resource
    readonly route: string
    /** The id of the route, where it has one. */
    readonly id: string | undefined
    /** The owner parameter of the query. */
    readonly sent: string | undefined
    readonly by?: Column | undefined
    /** Where the owner stands that an error names: the owner parameter unless it says so. */
    readonly place?: ViolationPlace
  },
  caller: Authenticated,
  ownership: OwnershipPolicy
): NamedOwner {
  const { resource, route, id, sent, by } = request
  const filter = resource.entity.ownerFilter
  if (filter === undefined || !filter.routes.has(route)) return undefined
  const parameter = ownerParameter(filter, ownership)
  const isOfRow = judgesRow(filter, by, ownership)
  const text = isOfRow ? undefined : isRouteId(parameter) ? (id ?? sent) : sent
  const owner = text === undefined ? undefined : parseOwnerParameter(text)
  if (bypassesOwnership(caller, ownership)) return owner
  if (caller.owner === null) throw noOwnerClaim(caller)
  // The id is not known yet, so the row is looked up within the rows of the caller.
  if (isOfRow) return caller.owner
  // Another guard of the route stands in for a parameter that is missing.
  if (owner === undefined && filter.routes.get(route) !== undefined) return undefined
  const { place = { in: 'parameter', name: parameter } } = request
  if (owner === undefined || owner === 'malformed') {
    throw rejectionAt(
      'ownership.denied',
      `This needs ${parameter}, the owner that the access token names, in digits.`,
      { place }
    )
  }
  if (owner !== caller.owner) throw anotherOwner(place)
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

/** No owner id has so many digits, and to parse longer texts takes more than linear time. */
const OWNER = /^-?\d{1,100}$/

function parseOwnerParameter(text: string): bigint | 'malformed' {
  return (OWNER.test(text) ? parseInteger(text, INT64_RANGE) : undefined) ?? 'malformed'
}

function writeAccess({ name, writeAccess }: Entity, route: string): WriteAccess {
  const access = writeAccess.get(route)
  if (access === undefined) throw new TypeError(`${name} does not say who may ${route}`)
  return access
}

/** Throws `auth.required` for a caller without a token. */
function withToken(caller: Caller): Authenticated {
  if (caller.kind === 'anonymous') throw tokenRequired()
  return caller
}
