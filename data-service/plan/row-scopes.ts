import { AUTHORIZATION, DomainError, rejectionAt, type ViolationPlace } from '../../shared/errors.js'
import type { OwnRows, ReadAccess } from '../entity/access.js'
import type { Authenticated, Caller } from '../entity/caller.js'
import type { Column, Entity } from '../entity/entity.js'
import type { Field, Operand } from '../entity/fields/field.js'
import type { Permission } from '../entity/fields/names.js'
import { type Compared, isOfParts, operatorNamed, type Rounding } from '../entity/fields/operators.js'
import {
  type AnonymousCaller,
  ROWS_WORDS,
  type Rows,
  type RowsCall,
  type RowsWanted,
  type RowTest,
  type TokenCaller
} from '../entity/row-predicate.js'
import type { OwnershipPolicy } from './planning.js'
import { allRows, type Condition, intersectScopes, ownPath, type RowScope } from './model/plans.js'
import { parseCustom } from '../entity/types/type-rules.js'
import { fieldOfParts, TYPES } from '../entity/types/types.js'
import { integerOperand } from '../entity/types/int.js'

// What the words of read access in an entity file let one caller see.

interface Deciding {
  readonly entity: Entity
  readonly caller: Caller
  readonly ownership: OwnershipPolicy
}

/**
 * The rows that an access lets a caller see, or why the caller is rejected: `auth.required`, `capability.denied` or
 * `ownership.denied`. Throws `configuration`, and whatever the predicate of an entity file throws.
 */
export function decideRows(access: ReadAccess, of: Deciding): RowScope | DomainError {
  const { entity, caller, ownership } = of
  switch (access.kind) {
    case 'everyone':
      return allRows
    case 'permission':
      if (caller.kind === 'anonymous') return tokenRequired()
      return caller.permissions.has(access.permission) ? allRows : lacks(access.permission)
    case 'ownRows':
      if (caller.kind === 'anonymous') return tokenRequired()
      if (bypassesOwnership(caller, ownership)) return allRows
      return ownRowsOf(caller, access, entity)
    case 'rows':
      if (caller.kind === 'anonymous' && !access.anonymous) return tokenRequired()
      return scopeOf(runPredicate(access, of), entity)
    case 'allOf':
      return intersect(access.parts.map((part) => decideRows(part, of)))
    case 'anyOf':
      return unite(access.parts, of)
  }
}

/**
 * The same without the permissions of the access: a caller who lacks one is bound to the rows that the access names besides.
 * undefined where it names no rows.
 */
export function decideRowPart(access: ReadAccess, of: Deciding): RowScope | DomainError | undefined {
  const decided = decideRows(access, of)
  if (!(decided instanceof DomainError) || decided.code !== 'capability.denied') return decided
  if (access.kind !== 'allOf' && access.kind !== 'anyOf') return undefined
  const parts = access.parts.map((part) => decideRowPart(part, of)).filter((one) => one !== undefined)
  if (parts.length === 0) return undefined
  return access.kind === 'allOf' ? intersect(parts) : (uniteScopes(parts) ?? firstRejection(parts))
}

function ownRowsOf(caller: Authenticated, access: OwnRows, entity: Entity): RowScope | DomainError {
  const owner = claimedBy(caller, access)
  return owner === null ? noOwnerClaim(caller, access) : ownedRows(ownerColumn(entity, access), owner)
}

/** The owner of the kind that the access is about, as the caller's token names it. */
export function claimedBy(
  { owner, owners = {} }: Authenticated,
  { owner: kind }: Pick<OwnRows, 'owner'>
): bigint | null {
  return kind === undefined ? owner : (owners[kind] ?? null)
}

/** The order in which rejections are told (contract.md section 2). */
const REJECTIONS: readonly string[] = ['auth.required', 'capability.denied', 'ownership.denied']

export function firstRejection(decisions: readonly (RowScope | DomainError)[]): DomainError | undefined {
  return decisions
    .filter((one) => one instanceof DomainError)
    .toSorted((a, b) => REJECTIONS.indexOf(a.code) - REJECTIONS.indexOf(b.code))[0]
}

function intersect(decisions: readonly (RowScope | DomainError)[]): RowScope | DomainError {
  const scopes = decisions.flatMap((one) => (one instanceof DomainError ? [] : [one]))
  return firstRejection(decisions) ?? scopes.reduce(intersectScopes, allRows)
}

function unite(parts: readonly ReadAccess[], of: Deciding): RowScope | DomainError {
  // All parts are asked, so that the order of an entity file decides nothing: a part that is not configured always fails.
  const decisions = parts.map((part) => decideRows(part, of))
  return uniteScopes(decisions) ?? firstRejection(decisions) ?? tokenRequired()
}

/** The rows that are in any of the scopes; undefined without a scope. */
export function uniteScopes(decisions: readonly (RowScope | DomainError)[]): RowScope | undefined {
  if (decisions.some((one) => !(one instanceof DomainError) && one.kind === 'all-rows')) return allRows
  const [first, ...others] = decisions.flatMap((one): Condition[] =>
    one instanceof DomainError || one.kind === 'all-rows' ? [] : [{ allOf: one.conditions }]
  )
  return first && { kind: 'rows-where', conditions: [{ anyOf: [first, ...others] }] }
}

/** The scope without conditions that it says twice, as where a row is written by whom it is read. */
export function withoutRepeats(scope: RowScope): RowScope {
  if (scope.kind === 'all-rows') return scope
  const [first, ...others] = scope.conditions
  const texts = scope.conditions.map(textOfCondition)
  const rest = others.filter((_one, at) => !texts.slice(0, at + 1).includes(texts[at + 1] ?? ''))
  return { kind: 'rows-where', conditions: [first, ...rest] }
}

/** A text of the scope, the same for scopes of the same rows whose conditions and listed values stand in another order. */
export function scopeText(scope: RowScope): string {
  return scope.kind === 'all-rows' ? scope.kind : textOfAll('allOf', scope.conditions)
}

function textOfAll(kind: 'anyOf' | 'allOf', conditions: readonly Condition[]): string {
  return `${kind} [${conditions.map(textOfCondition).toSorted().join()}]`
}

function textOfCondition(one: Condition): string {
  if ('anyOf' in one) return textOfAll('anyOf', one.anyOf)
  if ('allOf' in one) return textOfAll('allOf', one.allOf)
  const { path, comparison, operands } = one
  const listed: readonly Operand[] = comparison === 'in' ? operands.map(String).toSorted() : operands
  return JSON.stringify([path.through?.name ?? null, path.column.name, path.exact ?? false, comparison, listed])
}

/**
 * The words of predicates. The types of an entity file tie `where` to its fields; scopeOf checks the names and operands
 * again.
 */
export const PREDICATE_WORDS = {
  where: (property: string, operator: string, ...operands: readonly unknown[]): RowTest => ({
    property,
    operator,
    operands
  }),
  ...ROWS_WORDS
} as const

function runPredicate({ predicate }: Rows, { caller, ownership }: Deciding): RowsWanted {
  const call: RowsCall<never, TokenCaller | AnonymousCaller> = {
    caller: callerInRules(caller, ownership),
    ...PREDICATE_WORDS
  }
  return predicate(call as Parameters<typeof predicate>[0])
}

/** Who calls, as rules of an application see it. */
export function callerInRules(caller: Caller, ownership: OwnershipPolicy): TokenCaller | AnonymousCaller {
  return caller.kind === 'anonymous' ? caller : tokenCaller(caller, ownership)
}

/** The same for a caller who has a token. */
export function tokenCaller(
  { issuer, subject, subjectInRules = subject, roles, permissions, owner, owners = {}, claims }: Authenticated,
  ownership: OwnershipPolicy
): TokenCaller {
  const seen: TokenCaller = {
    kind: 'authenticated',
    issuer,
    subject: subjectInRules,
    roles,
    permissions,
    owner,
    owners: freeze(owners),
    claims: freeze(claims),
    get hasBypassRole() {
      return bypassesOwnership({ roles }, ownership)
    }
  }
  return Object.freeze(seen)
}

/** Claims come out of JSON, so they are trees. Those of a token that was seen before are frozen already. */
function freeze<Json>(value: Json): Json {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(freeze)
  return Object.freeze(value)
}

/**
 * What a predicate answered as a scope. Its text is compared exactly: callers are different persons whose names differ in
 * letter case alone. Throws TypeError for names and operands that the entity does not have.
 */
export function scopeOf(wanted: RowsWanted, entity: Entity): RowScope {
  return rowsWhere(wanted, { entity, comparesExactly: true })
}

/** The same for rows that are asked for and that no caller is kept from: their text is compared as filters compare it. */
export function rowsAskedFor(wanted: RowsWanted, entity: Entity): RowScope {
  return rowsWhere(wanted, { entity, comparesExactly: false })
}

interface Comparing {
  readonly entity: Entity
  readonly comparesExactly: boolean
}

function rowsWhere(wanted: RowsWanted, of: Comparing): RowScope {
  if (wanted === 'all') return allRows
  if (wanted === 'none') return noRows(of.entity)
  return { kind: 'rows-where', conditions: [conditionOf(wanted, of)] }
}

export function noRows(entity: Entity): RowScope {
  return { kind: 'rows-where', conditions: [ofNoRow(entity)] }
}

/** A list without members, which no value is in. */
function ofNoRow({ columns: [first], name }: Entity): Condition {
  if (first === undefined) throw new TypeError(`${name} has no columns`)
  return { path: ownPath(first), comparison: 'in', operands: [] }
}

function conditionOf(test: RowTest, of: Comparing): Condition {
  if ('property' in test) return comparisonOf(test, of)
  const parts = 'anyOf' in test ? test.anyOf : test.allOf
  const [first, ...others] = parts.map((part) => conditionOf(part, of))
  if (first === undefined) throw new TypeError(`The row scope of ${of.entity.name} joins no tests`)
  return 'anyOf' in test ? { anyOf: [first, ...others] } : { allOf: [first, ...others] }
}

type ComparisonTest = Extract<RowTest, { readonly property: string }>

function comparisonOf(
  { property, operator: word, operands }: ComparisonTest,
  { entity, comparesExactly }: Comparing
): Condition {
  const column = entity.columns.find(({ name }) => name === property)
  if (column === undefined) throw new TypeError(`${entity.name} has no ${property}`)
  const { field } = column
  if (field.readableBy !== undefined) throw new TypeError(`${entity.name}.${property} takes a permission to read`)
  const operator = operatorNamed(word, field.type)
  if (operator === undefined) throw new TypeError(`${word} is no operator of ${entity.name}.${property}`)
  const operand = (value: unknown, rounding: Rounding): Operand | undefined => {
    const parsed = operandOf(value, isOfParts(operator) ? fieldOfParts(field) : field, rounding)
    if (parsed === undefined && !(comparesExactly && hasComparableType(value, field)))
      throw new TypeError(`${entity.name}.${property} is compared with no ${field.type}`)
    return parsed
  }
  const most = operator.arity === 'none' ? 0 : operator.arity === 'two' ? 2 : 1
  if (operands.length > most) {
    throw new TypeError(`${word} of ${entity.name}.${property} compares with ${most}, and not with ${operands.length}`)
  }
  const [first, second] = operands
  const compared = (): Compared | undefined => {
    switch (operator.arity) {
      case 'none':
        return { comparison: operator.comparison, operands: [] }
      case 'one': {
        const one = operand(first, operator.rounding)
        return one === undefined ? undefined : { comparison: operator.comparison, operands: [one] }
      }
      case 'two': {
        const [from, to] = [operand(first, operator.rounding[0]), operand(second, operator.rounding[1])]
        if (from === undefined || to === undefined) return undefined
        return { comparison: operator.comparison, operands: [from, to] }
      }
      case 'list': {
        const list: readonly unknown[] | undefined = Array.isArray(first) ? first : undefined
        if (list === undefined) throw new TypeError(`${word} of ${entity.name}.${property} takes a list`)
        const operands = list.map((one) => operand(one, operator.rounding)).filter((one) => one !== undefined)
        return { comparison: operator.comparison, operands }
      }
    }
  }
  const isExact = comparesExactly && (field.type === 'string' || field.type === 'enum')
  const comparison = compared()
  if (comparison === undefined) return ofNoRow(entity)
  return { path: isExact ? { ...ownPath(column), exact: true } : ownPath(column), ...comparison }
}

/**
 * Whether the value passes the types of a predicate, though the column can hold none like it: the claims of a caller may
 * have any. A comparison with such a value lets no row through, whatever its operator.
 */
function hasComparableType(value: unknown, { type }: Field): boolean {
  return TYPES[type].comparable.some((one) => one === typeof value)
}

/** A value of an entity file as an operand; undefined for one that is not of the column's type. */
function operandOf(value: unknown, field: Field, rounding: Rounding): Operand | undefined {
  const operand = TYPES[field.type].operandOf(value, field, rounding)
  return operand === undefined ? undefined : parseCustom(operand, field)
}

/** Whether the caller sees and writes every owner's rows (source.md, bypass predicate). */
export function bypassesOwnership({ roles }: Pick<Authenticated, 'roles'>, { bypassRole }: OwnershipPolicy): boolean {
  if (bypassRole === undefined) {
    throw new DomainError('configuration', 'The service is not configured for this request.', {
      cause: new Error('OWNER_BYPASS_ROLE is not set, and an ownership rule was used.')
    })
  }
  const wanted = bypassRole.toLowerCase()
  return roles.some((role) => role.toLowerCase() === wanted)
}

/** The rows of one owner. */
export function ownedRows(column: Column, owner: bigint): RowScope {
  return {
    kind: 'rows-where',
    conditions: [{ path: ownPath(column), comparison: 'equals', operands: [ownerOperand(column, owner)] }]
  }
}

/**
 * The owner claim, which has 64 bits, as an operand of the owner column. An owner that a column of fewer bits cannot hold
 * becomes the number just beyond it, which equals no value of the column; so does a negative one of an unsigned column.
 */
export function ownerOperand({ field }: Column, owner: bigint): Operand {
  return integerOperand(owner, field) ?? owner.toString()
}

export function ownerColumn(entity: Entity, { property }: OwnRows): Column {
  const column = entity.columns.find((one) => one.name === property)
  if (column === undefined) throw new TypeError(`${entity.name} has no ${property}`)
  return column
}

export function tokenRequired(): DomainError {
  return rejectionAt('auth.required', 'This needs an access token.', { place: AUTHORIZATION })
}

export function lacks(permission: Permission): DomainError {
  return new DomainError('capability.denied', `This needs the permission ${permission}.`)
}

/** Says that the kind is the matter where the token names an owner of another one. */
export function noOwnerClaim(
  { owner, owners = {} }: Authenticated,
  { owner: kind }: Pick<OwnRows, 'owner'> = {}
): DomainError {
  const namesOwner = [owner, ...Object.values(owners)].some((one) => one !== null)
  const which = kind === undefined ? 'the kind that this needs' : `the kind ${kind}`
  return new DomainError('ownership.denied', `The access token names no owner${namesOwner ? ` of ${which}` : ''}.`)
}

/** `place` is where the request names the owner. */
export function anotherOwner(place?: ViolationPlace): DomainError {
  const detail = 'This belongs to another owner.'
  return place === undefined
    ? new DomainError('ownership.denied', detail)
    : rejectionAt('ownership.denied', detail, { place })
}

/** The same error for a row that does not exist and for one outside of the caller's scope, so that nobody learns which it is. */
export function noSuchRow(): DomainError {
  return new DomainError('not-found', 'There is no such row.')
}
