import type { Permission } from 'uniform-rest'

const PERMISSIONS = [
  'audit:read',
  'coupons:manage',
  'customers:contact',
  'customers:manage',
  'events:manage',
  'invoices:manage',
  'orders:manage',
  'products:manage',
  'returns:manage',
  'stock:read',
  'stock:write',
  'suppliers:manage',
  'warehouses:manage'
] as const satisfies readonly Permission[]

type KnownPermission = (typeof PERMISSIONS)[number]

/** What each role may do. An entity that asks for a permission that no role has does not start. */
export const roles: Readonly<Record<string, readonly KnownPermission[]>> = {
  Admin: PERMISSIONS,
  Clerk: [
    'products:manage',
    'coupons:manage',
    'customers:manage',
    'customers:contact',
    'suppliers:manage',
    'warehouses:manage',
    'events:manage'
  ],
  Storekeeper: ['stock:read', 'stock:write'],
  Customer: []
}
