import { StartError } from '../../shared/start-error.js'
import type { Column } from './fields/columns.js'
import { checkPermission, type Permission } from './fields/names.js'
import type { ReadName } from '../../shared/read-parameters.js'
import type { WriteOperation } from './operations.js'
import type { Rows, TokenRows } from './row-predicate.js'

/**
 * Who may read a resource, and which of its rows. There is no default: an entity file without read access does not
 * compile.
 */
export type ReadAccess<Name extends string = string, F = never> =
  | Everyone
  | Permitted
  | OwnRows<Name>
  | Rows<F>
  | AnyOf<ReadAccess<Name, F>>
  | AllOf<ReadAccess<Name, F>>

/** Any caller, no token needed; every row. */
interface Everyone {
  readonly kind: 'everyone'
}

/** Callers with the permission, `customers:manage`; every row. Others: 403 `capability.denied`. */
interface Permitted {
  readonly kind: 'permission'
  readonly permission: Permission
}

/**
 * The row scope of the source document: the bypass role sees every row, an owner the rows whose `property` is the owner
 * claim, a caller with neither is rejected by the resolvable-owner gate (403 `ownership.denied`).
 */
export interface OwnRows<Name extends string = string> {
  readonly kind: 'ownRows'
  readonly property: Name
  /** The kind of owner, one of `owners` of the application; undefined for the owner claim without a name. */
  readonly owner?: string
}

/** The rows that any part lets the caller reach; rejected only if every part rejects the caller. */
interface AnyOf<Part> {
  readonly kind: 'anyOf'
  readonly parts: readonly Part[]
}

/** The rows that every part lets the caller reach; rejected if any part rejects the caller. */
interface AllOf<Part> {
  readonly kind: 'allOf'
  readonly parts: readonly Part[]
}

/** Callers with a valid token, whatever they may do. */
interface WithToken {
  readonly kind: 'authenticated'
}

/** Who may call an operation (define-operation.ts) that takes a token. */
export type TokenAccess = WithToken | Permitted

/** Who may call an operation. */
export type OperationAccess = Everyone | TokenAccess

export const everyone: Everyone = { kind: 'everyone' }
export const authenticated: WithToken = { kind: 'authenticated' }
export const permission = (name: Permission, ...more: readonly never[]): Permitted => {
  checkPermission('permission', name)
  if (more.length > 0) throw new TypeError(`permission('${name}', …) takes one permission: allOf(…) takes several.`)
  return { kind: 'permission', permission: name }
}
export const ownRows = <Name extends string>(
  property: Name,
  ...given: readonly [of?: Pick<OwnRows, 'owner'>]
): OwnRows<Name> => {
  // A kind that is lost would give the rows to the owners of another kind whose claim has the same number.
  if (given.length > 0 && !isKindOfOwner(given[0])) {
    throw new StartError(`ownRows('${property}', …) takes the kind of owner as { owner: 'patient' }.`)
  }
  return { kind: 'ownRows', property, ...given[0] }
}

function isKindOfOwner(of: unknown): boolean {
  if (typeof of !== 'object' || of === null || Array.isArray(of)) return false
  return Object.entries(of).every(([word, kind]) => word === 'owner' && typeof kind === 'string')
}

/** Of parts that a write takes it is an access of writes too. What a part may be is checked where the access is used. */
export const anyOf = <const Parts extends readonly AccessWord[]>(...parts: Parts): AnyOf<Parts[number]> => ({
  kind: 'anyOf',
  parts
})
export const allOf = <const Parts extends readonly AccessWord[]>(...parts: Parts): AllOf<Parts[number]> => ({
  kind: 'allOf',
  parts
})

interface AccessWord {
  readonly kind: ReadAccess['kind']
}

/** Whether callers without a token can read. */
export function needsNoToken(access: ReadAccess): boolean {
  switch (access.kind) {
    case 'everyone':
      return true
    case 'permission':
    case 'ownRows':
      return false
    case 'rows':
      return access.anonymous
    case 'anyOf':
      return access.parts.some(needsNoToken)
    case 'allOf':
      return access.parts.every(needsNoToken)
  }
}

/** The properties in which an access finds the owner. */
export function ownersIn(access: ReadAccess): string[] {
  if (access.kind === 'anyOf' || access.kind === 'allOf') return access.parts.flatMap(ownersIn)
  return access.kind === 'ownRows' ? [access.property] : []
}

type Reads<Name extends string, F> = Readonly<Partial<Record<ReadName, ReadAccess<Name, F>>>>

/**
 * The read access in an entity file: `read` is that of all reads, `reads` that of single reads which differ. Without
 * `read`, the access of the export is that of every read which `reads` does not name (source.md, read-scope hook).
 */
export type ReadsDefinition<Name extends string, F> =
  | { readonly read: ReadAccess<Name, F>; readonly reads?: Reads<Name, F> }
  | { readonly read?: never; readonly reads: Reads<Name, F> & { readonly export: ReadAccess<Name, F> } }

/**
 * Who may write a resource, and which of its rows: the words of reads, but that a write always takes a token. A row outside
 * is answered as one that does not exist; a write that would leave a row outside is 403 `ownership.denied`.
 */
export type WriteAccess<Name extends string = string, F = never> =
  | Permitted
  | OwnRows<Name>
  | TokenRows<F>
  | AnyOf<WriteAccess<Name, F>>
  | AllOf<WriteAccess<Name, F>>

/** The write access of an entity file. */
export interface WritesDefinition<Name extends string, F> {
  /** That of all writes and actions. Needed with `writes` or `actions`, unless `writes` names each of them. */
  readonly write?: WriteAccess<Name, F>
  /** That of single writes and actions, in place of `write`. */
  readonly writes?: SingleWrites<WriteAccess<Name, F>>
  /**
   * Whether callers write rows that their reads by id do not show them. Otherwise what a caller cannot read, that caller
   * can neither create, change nor delete.
   */
  readonly writesUnseen?: true
}

interface SingleWrites<Access> {
  readonly create?: Access
  readonly update?: Access
  readonly delete?: Access
  readonly [action: string]: Access | undefined
}

/**
 * What protects a route when a request leaves out the owner parameter and may do so: the row scope of `ownRows(…)`, or
 * a permission.
 */
export type Guard = 'rowScope' | 'permission'

/** A route of a resource: a read or write that every resource may have, an action or a custom read. */
type RouteName = ReadName | WriteOperation | (string & Record<never, never>)

/**
 * The owner filter of source.md: on these routes the owner parameter of the request must equal the owner claim of the
 * caller. The bypass role may name any owner. A collection answers the rows of the named owner alone.
 */
export interface OwnerFilterDefinition<Name extends string = string> {
  /** The column that holds the owner. */
  readonly property: Name
  /** Default: the setting OWNER_PARAMETER_NAME. `id` is the id in the path of routes that have one, else in the query. */
  readonly parameter?: string
  /** Default: every route of the resource. */
  readonly on?: readonly RouteName[]
  /**
   * Routes that a request may call without the parameter, each with what protects it instead; a single guard is that of
   * all routes in `on`. A parameter that is sent is still checked.
   */
  readonly allowMissingOwner?: Guard | Readonly<Record<string, Guard>>
}

/** An owner filter as the service works with it. */
export interface OwnerFilter {
  readonly owner: Column
  /** undefined: the name in the setting OWNER_PARAMETER_NAME. */
  readonly parameter: string | undefined
  /** The filtered routes, each with what protects it without the parameter; undefined: the parameter is required. */
  readonly routes: ReadonlyMap<string, Guard | undefined>
}

/** The filter of an entity file with its names resolved. `routes` are all routes of the resource. */
export function resolveOwnerFilter(
  { property, parameter, on, allowMissingOwner }: OwnerFilterDefinition,
  routes: readonly string[],
  names: {
    readonly column: (name: string) => Column
    readonly route: (name: string) => void
    readonly mistakes: string[]
  }
): OwnerFilter {
  const named = on ?? routes
  named.forEach(names.route)
  // Totals tell of the rows that a list shows, and are filtered as it is.
  const filtered = named.includes('list') && routes.includes('totals') ? [...new Set([...named, 'totals'])] : named
  const guards = typeof allowMissingOwner === 'string' ? {} : (allowMissingOwner ?? {})
  for (const route of Object.keys(guards)) {
    names.route(route)
    if (!filtered.includes(route))
      names.mistakes.push(`allowMissingOwner names \`${route}\`, which the filter is not on.`)
  }
  const guardOf = (route: string): Guard | undefined =>
    typeof allowMissingOwner === 'string'
      ? allowMissingOwner
      : (guards[route] ?? (route === 'totals' ? guards['list'] : undefined))
  return {
    owner: names.column(property),
    parameter,
    routes: new Map(filtered.map((route) => [route, guardOf(route)]))
  }
}
