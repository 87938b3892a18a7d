import type { WireValue } from '../oracle/wire-value.js'
import type { Caller } from './callers.js'
import type { Call, Row } from './transports.js'

/** Who may use an operation, and which rows it reaches. */
export type Guard = 'everyone' | Permitted | Owned | Predicated

/** Callers who have the permission; every row. */
interface Permitted {
  readonly permission: string
}

/** Owners reach the rows whose `column`, a property, is their owner claim. The bypass role reaches every row. */
interface Owned {
  readonly column: string
}

/** Rows by a predicate. */
export interface Predicated {
  /** Whether the caller sees the row. It also decides what the bypass role sees. */
  readonly rows: (row: Row, caller: Caller) => boolean
  /**
   * The code that the caller is rejected with, such as `ownership.denied`; undefined for a caller who is answered. Without
   * this function whoever has a token is answered, and others are rejected with `auth.required`.
   */
  readonly rejects?: (caller: Caller) => string | undefined
  /** Whether the answer to the caller depends on the bypass role, which then must be set; false without this function. */
  readonly asksForBypass?: (caller: Caller) => boolean
  /** The property in which it finds an owner, where it does. */
  readonly owner?: string | undefined
  /** Whether the owner claim of the caller fills that property of a new row; false without this function. */
  readonly claims?: (caller: Caller) => boolean
}

/** The owner filter of an entity: a parameter that must equal the owner claim. */
export interface OwnerFilter {
  /** The property that holds the owner. */
  readonly column: string
  /** The name of the query parameter. `id` is the id of the path where the route has one. */
  readonly parameter: string
  /** Operations, custom reads and actions by name; `*` for all. */
  readonly on: readonly string[]
  /** Those of `on` whose requests may leave the parameter out (`allowMissingOwner`). */
  readonly mayBeAbsent: readonly string[]
}

/** A custom read, `GET /{resource}/{name}`. */
export interface CustomReadRule {
  /** The first property of each item. */
  readonly property: string
  /** Whether an item is the value of the property itself, and not an object that has it. */
  readonly bare: boolean
  /** The values of the rows that it shows. */
  readonly where: Readonly<Record<string, unknown>>
  /** Whether the tests leave its rows to a test of the project's own, because they depend on parameters. */
  readonly hasParameters?: boolean
}

/** Property to the values that it may have. */
export type States = Readonly<Record<string, readonly WireValue[]>>

/** Who may do what with an entity, and what a caller sees of it. */
export interface Rule {
  /** The writes that every resource may have, `create`, `update` and `delete`; `batch` comes with `create`. */
  readonly writes: readonly string[]
  /** What every reader sees of a row except `rowVersion`, computed and joined properties included. */
  readonly properties: readonly string[]
  /** Whether rows have a `rowVersion`. */
  readonly versioned: boolean
  /** Properties that take permissions, all of those named; of children by `lines.unitCost`. */
  readonly byPermission: Readonly<Record<string, readonly string[]>>
  /** The properties that `search` looks into. */
  readonly searchable: readonly string[]
  /** Whether `search` finds words by their beginnings on MySQL and MariaDB. */
  readonly fullText: boolean
  readonly read: Guard
  /** Reads that differ: `get`, `lookup`, or a custom read by its name. */
  readonly reads: Readonly<Record<string, Guard>>
  /** undefined for an entity without writes and actions. */
  readonly write: Guard | undefined
  /** Writes that differ: `create`, `update`, `delete`, or an action by its name. */
  readonly singleWrites: Readonly<Record<string, Guard>>
  /** Whether callers write rows that they could not read by id. */
  readonly writesUnseen: boolean
  /** The states in which a row may be deleted; of no property if it may be in any. */
  readonly deletable: States
  /** Action to the permission that it needs besides that of `write`, or undefined. */
  readonly actions: Readonly<Record<string, string | undefined>>
  /** Action to the states in which it can be done; an action that is left out can be done in any. */
  readonly states: Readonly<Record<string, States>>
  readonly customReads: Readonly<Record<string, CustomReadRule>>
  readonly ownerFilter: OwnerFilter | undefined
}

/**
 * A rule that a project writes down a second time, by hand. What it leaves out is taken from the entity file, except
 * `reads`: with `read` and without `reads`, all reads are held to `read`; so it is with `write` and `singleWrites`.
 */
export type EntityRule = Partial<Rule>

/** Whether the permissions suffice to see the property. */
export function mayRead({ byPermission }: Rule, name: string, permissions: ReadonlySet<string>): boolean {
  return (byPermission[name] ?? []).every((one) => permissions.has(one))
}

/** The properties of the root that the permissions show, without `rowVersion`. */
export function propertiesFor(rule: Rule, permissions: ReadonlySet<string>): string[] {
  const more = Object.keys(rule.byPermission).filter((name) => !name.includes('.') && mayRead(rule, name, permissions))
  return [...rule.properties, ...more]
}

/** The guard of an operation; of a custom read by its name. */
export function guardOf(rule: Rule, { operation, name }: Pick<Call, 'operation' | 'name'>): Guard {
  if (!isWrite(operation)) return rule.reads[operation === 'read' && name !== undefined ? name : operation] ?? rule.read
  const guard = rule.singleWrites[operation === 'act' && name !== undefined ? name : operation] ?? rule.write
  if (guard === undefined) throw new TypeError('The resource has no writes')
  return guard
}

/** All guards of a call: a write takes what it takes to read the row by id besides (contract section 6, write scope). */
export function guardsOf(rule: Rule, call: Pick<Call, 'operation' | 'name'>): readonly Guard[] {
  const own = guardOf(rule, call)
  if (!isWrite(call.operation) || rule.writesUnseen) return [own]
  const { ownerFilter: filter } = rule
  const isNamed = (routes: readonly string[]): boolean => routes.some((one) => one === '*' || one === 'get')
  const filtered = filter !== undefined && isNamed(filter.on) && !isNamed(filter.mayBeAbsent)
  return [own, rule.reads['get'] ?? rule.read, ...(filtered ? [{ column: filter.column }] : [])]
}

/** Whether a read is about a row at all, whoever calls: a custom read has its own condition. */
export function isAbout(rule: Rule, { name }: Pick<Call, 'name'>, row: Row): boolean {
  const where = name === undefined ? undefined : rule.customReads[name]?.where
  return Object.entries(where ?? {}).every(([property, value]) => row[property] === value)
}

export function isWrite(operation: string): boolean {
  return ['create', 'update', 'delete', 'act'].includes(operation)
}

/** The property that holds the owner of a row; undefined if no guard asks for one. */
export function ownerColumn({ read, reads, write, singleWrites }: Rule): string | undefined {
  const guards = [read, ...Object.values(reads), write, ...Object.values(singleWrites)]
  const owned = guards.find((guard): guard is Owned => isOwned(guard))?.column
  return owned ?? guards.flatMap((guard) => (isPredicated(guard) ? (guard.owner ?? []) : []))[0]
}

export function isPredicated(guard: Guard | undefined): guard is Predicated {
  return typeof guard === 'object' && 'rows' in guard
}

function isOwned(guard: Guard | undefined): guard is Owned {
  return typeof guard === 'object' && 'column' in guard
}
