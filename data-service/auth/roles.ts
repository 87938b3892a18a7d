import type { Permission } from '../entity/access.js'

/** Every permission there is; an entity that asks for any other does not start. */
export const PERMISSIONS = [
  'audit:read',
  'coupons:manage',
  'customers:manage',
  'events:manage',
  'invoices:manage',
  'orders:manage',
  'products:manage',
  'returns:manage',
  'suppliers:manage',
  'warehouses:manage'
] as const satisfies readonly Permission[]

type KnownPermission = (typeof PERMISSIONS)[number]

/** What each role may do. Role names are matched in any letter case. */
const ROLES: Readonly<Record<string, readonly KnownPermission[]>> = {
  admin: PERMISSIONS,
  clerk: [
    'products:manage',
    'coupons:manage',
    'customers:manage',
    'suppliers:manage',
    'warehouses:manage',
    'events:manage'
  ],
  customer: []
}

const byRole = new Map(Object.entries(ROLES))

/** The permissions of all the roles together; an unknown role has none. */
export function permissionsOf(roles: readonly string[]): ReadonlySet<string> {
  return new Set(roles.flatMap((role) => byRole.get(role.toLowerCase()) ?? []))
}
