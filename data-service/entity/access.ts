import type { Column } from './field.js'
import type { ReadOperation, WriteOperation } from './operations.js'

/**
 * Who may read a resource, and which of its rows. There is no default: a resource that says none of these does not
 * compile, and 'everyone' is spelled out.
 */
export type ReadAccess<Name extends string = string> = Everyone | Permitted | OwnRows<Name>

/** Any caller, no token needed; every row. */
export interface Everyone {
  readonly kind: 'everyone'
}

/** Callers with the permission, `customers:manage`; every row. Others: 403 `capability.denied`. */
export interface Permitted {
  readonly kind: 'permission'
  readonly permission: Permission
}

/**
 * The row scope of the source document: the bypass role sees every row, an owner the rows whose `property` is the owner
 * claim, a caller with neither is refused by the resolvable-owner gate (403 `ownership.denied`).
 */
export interface OwnRows<Name extends string = string> {
  readonly kind: 'ownRows'
  readonly property: Name
}

export type Permission = `${string}:${string}`

export const everyone: Everyone = { kind: 'everyone' }
export const permission = (name: Permission): Permitted => ({ kind: 'permission', permission: name })
export const ownRows = <Name extends string>(property: Name): OwnRows<Name> => ({ kind: 'ownRows', property })

type Reads<Name extends string> = Readonly<Partial<Record<ReadOperation, ReadAccess<Name>>>>

/**
 * Who reads, in an entity file: one word for all reads, single reads that differ besides. Without the one word the
 * export's stands for those that say nothing (source.md, read-scope hook).
 */
export type ReadsDefinition<Name extends string> =
  | { readonly read: ReadAccess<Name>; readonly reads?: Reads<Name> }
  | { readonly read?: never; readonly reads: Reads<Name> & { readonly export: ReadAccess<Name> } }

/**
 * Who may write a resource. `permission`: callers who have it, every row. `ownRows`: the bypass role every row, an
 * owner the rows that are theirs, where another's answers as one that does not exist.
 */
export type WriteAccess<Name extends string = string> = Permitted | OwnRows<Name>

/**
 * What guards a route in place of the owner parameter, where a request may go without one: the row scope of
 * `ownRows(…)`, or a permission.
 */
export type Guard = 'rowScope' | 'permission'

/** A route of a resource: a read or write that every resource may have, an action or a custom read. */
export type RouteName = ReadOperation | WriteOperation | (string & Record<never, never>)

/**
 * The owner filter of the source document: before these routes the owner parameter of the request must equal the owner
 * claim, whatever the rows hold; the bypass role passes. A collection is narrowed to the owner that was named.
 */
export interface OwnerFilterDefinition<Name extends string = string> {
  /** The column that holds the owner. */
  readonly property: Name
  /** Default: the setting OWNER_PARAMETER_NAME. `id` is the id of the route where it has one; all else is in the query. */
  readonly parameter?: string
  /** Default: every route of the resource. */
  readonly on?: readonly RouteName[]
  /**
   * Routes that a request may call without the parameter, each with the guard that stands there instead; one word for
   * all of `on`. It excuses nothing but the missing parameter.
   */
  readonly allowMissingOwner?: Guard | Readonly<Record<string, Guard>>
}

/** An owner filter as the service works with it. */
export interface OwnerFilter {
  readonly owner: Column
  /** undefined: the setting's. */
  readonly parameter: string | undefined
  /** The routes it stands before, each with what guards it where the parameter is missing; undefined: it may not be. */
  readonly routes: ReadonlyMap<string, Guard | undefined>
}

/** `routes` are all that the resource has. */
export function resolveOwnerFilter(
  { property, parameter, on, allowMissingOwner }: OwnerFilterDefinition,
  routes: readonly string[],
  names: {
    readonly column: (name: string) => Column
    readonly route: (name: string) => void
    readonly mistakes: string[]
  }
): OwnerFilter {
  const filtered = on ?? routes
  filtered.forEach(names.route)
  const guards = typeof allowMissingOwner === 'string' ? {} : (allowMissingOwner ?? {})
  for (const route of Object.keys(guards)) {
    names.route(route)
    if (!filtered.includes(route))
      names.mistakes.push(`allowMissingOwner names \`${route}\`, which the filter is not on.`)
  }
  const guardOf = (route: string): Guard | undefined =>
    typeof allowMissingOwner === 'string' ? allowMissingOwner : guards[route]
  return {
    owner: names.column(property),
    parameter,
    routes: new Map(filtered.map((route) => [route, guardOf(route)]))
  }
}
