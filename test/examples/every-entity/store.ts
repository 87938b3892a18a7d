import { join } from 'node:path'
import store from '../../../examples/store/uniform-rest.config.js'
import type { EntityValues } from '../../every-entity/made-values.js'
import type { EveryEntityOptions } from '../../every-entity/tested-application.js'
import { outputRoot } from '../../harness/package-root.js'
import { RULES } from './rules.js'

const COUPON = 'EVERY-DAY'

/** The stock is in these in turn; storekeepers have the first one. */
const WAREHOUSES = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const
const warehouseOf = (n: number) => ({ warehouseId: WAREHOUSES[n % 4 < 2 ? 0 : 1] })

/** Values without which made rows and bodies do not do: of rows for actions to succeed, of what the bodies refer to. */
const VALUES: Readonly<Record<string, EntityValues>> = {
  coupons: { firstRows: [{ code: COUPON, isActive: true }] },
  customers: { firstRows: [{ isSuspended: false }, { isSuspended: false }] },
  events: { references: { venueId: { isOpen: true } } },
  invoices: { references: { orderId: { status: 'placed' } } },
  'purchase-orders': { children: { lines: { receivedQuantity: 0 } } },
  returns: { references: { orderId: { status: 'delivered' } } },
  'shopping-carts': {
    rows: { orderNumber: null, couponCode: null },
    create: { couponCode: null },
    actions: { 'apply-coupon': { code: COUPON } }
  },
  speakers: { rows: { isConfirmed: false } },
  'stock-items': { rows: (n) => ({ onHand: 1000, reserved: 100, ...warehouseOf(n) }), create: warehouseOf },
  tickets: { references: { eventId: { status: 'scheduled' } } },
  warehouses: { firstRows: WAREHOUSES.map((id) => ({ id })) }
}

/** domain.md, roles and permissions: by hand, so that a role that gets more or less in roles.ts shows. */
const CLERK = [
  ...['products', 'coupons', 'customers', 'suppliers', 'warehouses', 'events'].map((one) => `${one}:manage`),
  'customers:contact'
]
const KEEPER = ['stock:read', 'stock:write']
const ROLES = {
  Admin: [...CLERK, ...KEEPER, 'orders:manage', 'returns:manage', 'invoices:manage', 'audit:read'],
  Clerk: CLERK,
  Storekeeper: KEEPER
}

/** The reference store, as the tests of every entity are told of it. */
export const everyEntityOfTheStore: EveryEntityOptions = {
  application: store,
  folder: join(outputRoot, 'examples/store'),
  rules: RULES,
  roles: ROLES,
  bypassRole: 'Admin',
  claims: ({ permissions }) => (permissions.has('stock:write') ? { warehouses: [WAREHOUSES[0]] } : {}),
  values: VALUES
}
