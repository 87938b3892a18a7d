import type { Field } from '../../data-service/entity/fields/field.js'
import type { Keyed } from '../../data-service/entity/key.js'
import { rangeOf } from '../../data-service/entity/fields/numbers.js'
import { type Caller, type Callers, OWNERS } from './callers.js'
import {
  type Guard,
  guardsOf,
  isPredicated,
  isWrite,
  type OwnerFilter,
  ownerColumn,
  type Predicated,
  type Rule
} from './rule.js'
import type { TestedApplication } from './tested-application.js'
import { type Call, READS, type Row } from './transports.js'

/** What must become of a call as far as who calls decides it. */
interface Verdict {
  /** `ok` or the code of the rejection. */
  readonly code: string
  /** Which rows of the resource the caller reaches. */
  readonly reaches: (row: Row) => boolean
}

/** Contract sections 2 and 6, in the order of rejections. A write's row is judged by `reaches`. */
export function verdict(rule: Rule, call: Call, caller: Caller): Verdict {
  const admitted = admission(rule, call, caller)
  if (admitted.code !== 'ok') return admitted
  const scopes = guardsOf(rule, call).map((guard) => ownRows(guard, caller))
  if (scopes.includes(undefined)) return rejected('ownership.denied')
  return { code: 'ok', reaches: (row) => admitted.reaches(row) && scopes.every((rows) => rows?.(row) === true) }
}

/** What is judged before a write's precondition: the token, the permissions and the owner filter. */
export function admission(rule: Rule, call: Call, caller: Caller): Verdict {
  const filter = filterOf(rule, call)
  if (caller.token === 'invalid') return rejected('auth.invalid-token')
  const guards = guardsOf(rule, call)
  const predicated = guards.filter((guard) => typeof guard === 'object' && 'rows' in guard)
  if (!isWrite(call.operation)) {
    if (guards.includes('everyone') && filter === undefined) return { code: 'ok', reaches: everyRow }
    const rejection = predicated.map((guard) => rejectionOf(guard, caller)).find((one) => one !== undefined)
    if (rejection !== undefined) return rejected(rejection)
  }
  if (caller.token === 'none') {
    const isPublic = !isWrite(call.operation) && predicated.length > 0 && filter === undefined
    return isPublic ? { code: 'ok', reaches: everyRow } : rejected('auth.required')
  }
  // That a write reaches no row is told after its precondition, but that a permission is missing before.
  if (predicated.some((guard) => rejectionOf(guard, caller) === 'capability.denied'))
    return rejected('capability.denied')
  if (neededFor(rule, call).some((one) => !caller.permissions.has(one))) return rejected('capability.denied')
  const narrowed = filter === undefined ? everyRow : judgeFilter(filter, call, caller)
  return typeof narrowed === 'string' ? rejected(narrowed) : { code: 'ok', reaches: narrowed }
}

function rejectionOf({ rejects = withoutToken }: Predicated, caller: Caller): string | undefined {
  return rejects(caller)
}

function withoutToken({ token }: Caller): string | undefined {
  return token === 'none' ? 'auth.required' : undefined
}

/** The permissions that a call needs. */
export function neededFor(rule: Rule, call: Call): string[] {
  const { operation, name } = call
  const besides = operation === 'act' && name !== undefined ? rule.actions[name] : undefined
  return [
    ...new Set([
      ...guardsOf(rule, call).flatMap((guard) =>
        typeof guard === 'object' && 'permission' in guard ? [guard.permission] : []
      ),
      ...(besides === undefined ? [] : [besides])
    ])
  ]
}

/** The owner filter that stands before a call. */
export function filterOf({ ownerFilter }: Rule, call: Call): OwnerFilter | undefined {
  return ownerFilter !== undefined && covers(ownerFilter.on, call) ? ownerFilter : undefined
}

/** Whether the call's route is one of these. */
function covers(routes: readonly string[], { operation, name }: Call): boolean {
  const route = operation === 'act' || operation === 'read' ? name : operation
  return routes.some((one) => one === '*' || one === route)
}

const everyRow = (): boolean => true

/** What is left of the rows behind the filter, or the code of its rejection. */
function judgeFilter(filter: OwnerFilter, call: Call, caller: Caller): string | ((row: Row) => boolean) {
  const sent = filter.parameter === 'id' && call.id !== undefined ? call.id : call.owner?.values.join(',')
  const owner = sent === undefined ? undefined : integer(sent)
  const collection = call.id === undefined && !isWrite(call.operation)
  const narrowed = (row: Row): boolean =>
    !collection || sent === undefined || String(row[filter.column]) === String(owner)
  if (caller.bypass) return collection && sent !== undefined && owner === undefined ? 'filter.value.invalid' : narrowed
  if (caller.owner === null) return 'ownership.denied'
  if (sent === undefined) return covers(filter.mayBeAbsent, call) ? narrowed : 'ownership.denied'
  return owner === BigInt(caller.owner) ? narrowed : 'ownership.denied'
}

/** Digits with an optional minus that fit 64 bits (contract section 6). */
export function integer(text: string): bigint | undefined {
  const value = /^-?\d{1,30}$/.test(text) ? BigInt(text) : undefined
  return value !== undefined && value === BigInt.asIntN(64, value) ? value : undefined
}

/** undefined for a caller whose owner cannot be told. */
function ownRows(guard: Guard, caller: Caller): ((row: Row) => boolean) | undefined {
  if (typeof guard === 'object' && 'rows' in guard)
    return rejectionOf(guard, caller) === undefined ? (row) => guard.rows(row, caller) : undefined
  if (guard === 'everyone' || 'permission' in guard || caller.bypass) return everyRow
  const { owner } = caller
  return owner === null ? undefined : (row) => String(row[guard.column]) === String(owner)
}

/**
 * Somebody who reaches the rows by the call and sees them: the bypass role where it does. undefined where it is for callers that
 * these tests do not have.
 */
export function whoReaches(callers: Callers, rule: Rule, call: Call, ...rows: readonly Row[]): Caller | undefined {
  const { bypass, permissions } = callers
  const everybody = [bypass, ...OWNERS.map((owner) => callers.owner(owner, permissions)), ...callers.of(permissions)]
  return everybody.find((caller) => {
    const { code, reaches } = verdict(rule, call, caller)
    return code === 'ok' && rows.every((row) => reaches(row) && isSeen(rule, caller, row))
  })
}

/** Whether the answer of a write shows the row: a read by id or the list would. */
export function isSeen(rule: Rule, caller: Caller, row: Row): boolean {
  return (['get', 'list'] as const).some((operation) => {
    const { code, reaches } = verdict({ ...rule, ownerFilter: undefined }, { resource: '', operation }, caller)
    return code === 'ok' && reaches(row)
  })
}

function rejected(code: string): Verdict {
  return { code, reaches: () => false }
}

/** Everybody that a call is tried by; `in turn` those whom its rule tells apart, and one of all others. */
export function callersOf(tested: TestedApplication, rule: Rule, call: Call): Caller[] {
  const needed = neededFor(rule, call)
  const all = tested.callers.of(needed)
  const guards = guardsOf(rule, call)
  // A predicate may tell anybody apart.
  if (guards.some(isPredicated)) return all
  const isOwned = filterOf(rule, call) !== undefined || guards.some((one) => typeof one === 'object' && 'column' in one)
  const apart = tested.callers.toldApart(needed, isOwned)
  const others = all.filter(({ name }) => apart.every((one) => one.name !== name))
  return [...apart, ...tested.some(`callers of ${call.operation}`, others, 1)]
}

/** The same where rows have owners with each kind of claim that names none. */
export function everyCaller(tested: TestedApplication, rule: Rule, call: Call): Caller[] {
  const owned = ownerColumn(rule) !== undefined
  const malformed = owned ? tested.some('malformed owners', tested.callers.malformedOwners(), 1) : []
  return [...callersOf(tested, rule, call), ...malformed]
}

/** A call without the owner parameter and, where a filter reads one from the query, with each owner's. */
export function withOwners(rule: Rule, call: Call): Call[] {
  const filter = filterOf(rule, call)
  if (filter === undefined || filter.parameter === 'id') return [call]
  return [
    call,
    ...OWNERS.map((owner) => ({ ...call, owner: { parameter: filter.parameter, values: [String(owner)] } }))
  ]
}

/** An id that no row has. */
export function absentId({ key }: Keyed): string {
  return key.map(({ field }) => absentValue(field)).join()
}

/** A value of a key, or of a unique text, that no row has, in the one spelling that a composite key takes. */
export function absentValue(field: Field): string {
  switch (field.type) {
    case 'guid':
      return 'ffffffff-0000-4000-8000-000000000000'
    case 'enum':
      return field.words[0] ?? ''
    case 'date':
      return '9999-12-31'
    case 'dateTime':
      // A TIMESTAMP ends in 2038, and a column may keep whole seconds alone.
      return `2037-12-31T23:59:58.${'0'.repeat(Math.max(3, field.precision))}Z`
    case 'decimal': {
      const digits = Math.min(9, field.precision - field.scale)
      return `${'9'.repeat(digits) || '0'}${field.scale === 0 ? '' : '.'.padEnd(field.scale + 1, '9')}`
    }
    case 'base64url':
      return Buffer.alloc(field.maxLength, 0x7e).toString('base64url')
    case 'string':
      return '~'.repeat(Math.min(3, field.maxLength))
    default:
      return String(field.maximum ?? greatNumber(field))
  }
}

/** A number that no row has as its key, within the range of the column. */
function greatNumber(field: Field): string {
  const { max } = rangeOf(field)
  return String(max < 999_999_999n ? max : 999_999_999n)
}

/** The reads that answer many rows. */
export function collections(rule: Rule): Pick<Call, 'operation' | 'name' | 'pageSize'>[] {
  return [
    ...READS.filter((operation) => operation !== 'get').map((operation) => ({
      operation,
      ...(operation === 'paged' ? { pageSize: '500' } : {})
    })),
    ...Object.entries(rule.customReads)
      .filter(([, { hasParameters }]) => hasParameters !== true)
      .map(([name]) => ({ operation: 'read' as const, name }))
  ]
}
