import type { WireValue } from '../oracle/wire-value.js'
import type { Call, Row } from './call.js'
import type { Caller } from './caller.js'

/** Who may use an operation, and which rows it reaches. */
export type Guard = 'everyone' | Permitted | Owned | Predicated

interface Permitted {
  readonly permission: string
}

/** The bypass role reaches every row, an owner those whose `column` is the claim. */
interface Owned {
  readonly column: string
}

/** Rows by a predicate, of reads alone. */
export interface Predicated {
  /** Whether the caller sees the row: the predicate a second time and by hand. Bypass roles have no more than it says. */
  readonly rows: (row: Row, caller: Caller) => boolean
  /** The code that a caller is rejected with, undefined for nobody's. Without it whoever has a token is answered. */
  readonly rejects?: (caller: Caller) => string | undefined
  /** Whether the answer to the caller depends on the bypass role, which then must be set; never without it. */
  readonly asksForBypass?: (caller: Caller) => boolean
}

/** source.md's owner filter: a parameter that must equal the claim. */
export interface OwnerFilter {
  readonly column: string
  /** In the query, unless it is `id` and the route has one. */
  readonly parameter: string
  /** Operations, custom reads and actions by name; `*` for all. */
  readonly on: readonly string[]
  /** Those of `on` whose requests may go without the parameter (AllowMissingOwner). */
  readonly mayBeAbsent: readonly string[]
}

/** A read of a resource's own. */
export interface CustomReadRule {
  /** What tells its items apart: each is the value itself where `bare`, else an object that has it. */
  readonly property: string
  readonly bare: boolean
  /** Values of the rows that it is about. */
  readonly where: Readonly<Record<string, unknown>>
}

/** What domain.md says of a resource, as a test uses it. */
export interface Rule {
  readonly kind: 'root' | 'CRUD' | 'read'
  /** What every reader sees of the DTO but `rowVersion`, computed and joined ones included. */
  readonly properties: readonly string[]
  /** Whether the DTO has a `rowVersion`. */
  readonly versioned: boolean
  /** What takes permissions to be seen, `lines.unitCost` of children: name to the permissions, all of which it takes. */
  readonly byPermission: Readonly<Record<string, readonly string[]>>
  /** What `search` looks into. */
  readonly searchable: readonly string[]
  readonly read: Guard
  /** By-id reads where they differ. */
  readonly get: Guard
  /** undefined for a resource without writes. */
  readonly write: Guard | undefined
  /** States in which a row may be deleted, by property; of no property where it may be in any. */
  readonly deletable: Readonly<Record<string, readonly WireValue[]>>
  /** Name to the permission it needs besides. */
  readonly actions: Readonly<Record<string, string | undefined>>
  readonly customReads: Readonly<Record<string, CustomReadRule>>
  readonly ownerFilter: OwnerFilter | undefined
}

/** Whether the permissions suffice to see the property. */
export function mayRead({ byPermission }: Rule, name: string, permissions: ReadonlySet<string>): boolean {
  return (byPermission[name] ?? []).every((one) => permissions.has(one))
}

/** The properties of the root that the permissions show, without `rowVersion`. */
export function propertiesFor(rule: Rule, permissions: ReadonlySet<string>): string[] {
  const more = Object.keys(rule.byPermission).filter((name) => !name.includes('.') && mayRead(rule, name, permissions))
  return [...rule.properties, ...more]
}

/** The guard of an operation, of a custom read by its route. */
export function guardOf(rule: Rule, operation: string): Guard {
  if (operation === 'get') return rule.get
  if (!isWrite(operation)) return rule.read
  if (rule.write === undefined) throw new TypeError('The resource has no writes')
  return rule.write
}

/** Whether a read is about a row at all, whoever calls: a custom one has its own condition. */
export function isAbout(rule: Rule, { name }: Pick<Call, 'name'>, row: Row): boolean {
  const where = name === undefined ? undefined : rule.customReads[name]?.where
  return Object.entries(where ?? {}).every(([property, value]) => row[property] === value)
}

export function isWrite(operation: string): boolean {
  return ['create', 'update', 'delete', 'act'].includes(operation)
}

/** The column that holds the owner of a row; undefined where no rule asks for one. */
export function ownerColumn(rule: Rule): string | undefined {
  const owned = [rule.read, rule.get, rule.write].find((guard) => typeof guard === 'object' && 'column' in guard)
  return typeof owned === 'object' && 'column' in owned ? owned.column : undefined
}
