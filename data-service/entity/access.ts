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

/** The reads of every resource. */
export const READ_OPERATIONS = ['list', 'paged', 'export', 'lookup', 'get'] as const
export type ReadOperation = (typeof READ_OPERATIONS)[number]

type Reads<Name extends string> = Readonly<Partial<Record<ReadOperation, ReadAccess<Name>>>>

/**
 * Who reads, in an entity file: one word for all reads, single reads that differ besides. Without the one word the
 * export's stands for those that say nothing (source.md, read-scope hook).
 */
export type ReadsDefinition<Name extends string> =
  | { readonly read: ReadAccess<Name>; readonly reads?: Reads<Name> }
  | { readonly read?: never; readonly reads: Reads<Name> & { readonly export: ReadAccess<Name> } }
