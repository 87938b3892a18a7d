import type { Guard, OwnerFilter, Predicated, Rule } from '../../every-entity/rule.js'

const WRITES = { root: ['create', 'delete'], CRUD: ['create', 'update', 'delete'], read: [] } as const

/**
 * Who may do what with the resources of domain.md, and in which states their rows may be deleted (docs/store-rules.md),
 * written down a second time and by hand: nothing here comes from the entity files, so that a scope, a permission or a
 * state that goes missing there shows. A resource that is not here is judged by what its entity file declares.
 */
export const RULES: Readonly<Record<string, StoreRule>> = {
  products: rule(
    'CRUD',
    'id name sku categoryId price weightGrams barcode isActive releasedAt externalId description displayName',
    {
      searchable: 'name sku description'.split(' '),
      ...publicRead('products:manage'),
      byPermission: byPermission('products:manage', 'costPrice reorderLevel margin'),
      actions: actions(
        'publish unpublish change-category add-variant remove-variant change-variant-price adjust-variant-stock'
      )
    }
  ),
  categories: rule('CRUD', 'id name parentId slug parentName', {
    searchable: 'name slug'.split(' '),
    ...publicRead('products:manage'),
    actions: actions('move')
  }),
  customers: rule('CRUD', 'id name email phone isSuspended createdAt', {
    searchable: 'name email phone'.split(' '),
    ...managed('customers:manage'),
    byPermission: byPermission('invoices:manage', 'creditLimit'),
    reads: { get: own('id') },
    writesUnseen: true,
    ownerFilter: { column: 'id', parameter: 'id', on: ['get'], mayBeAbsent: [] },
    actions: actions('change-address suspend reinstate')
  }),
  orders: rule('root', 'id number customerId status total placedAt paidAt deliveredAt trackingCode', {
    searchable: 'number trackingCode'.split(' '),
    ...owned('customerId'),
    byPermission: byPermission('orders:manage', 'lines.unitCost'),
    deletable: { status: ['placed', 'cancelled'] },
    actions: { ...actions('pay cancel'), ...actions('ship update-shipment deliver', 'orders:manage') },
    states: {
      pay: { status: ['placed'] },
      ship: { status: ['paid'] },
      'update-shipment': { status: ['shipped'] },
      deliver: { status: ['shipped'] },
      cancel: { status: ['placed', 'paid'] }
    }
  }),
  'shopping-carts': rule('root', 'id customerId currency couponCode updatedAt', {
    ...owned('customerId'),
    ownerFilter: { column: 'customerId', parameter: 'customerId', on: ['*'], mayBeAbsent: ['*'] },
    actions: actions('add-item change-item-quantity remove-item clear apply-coupon checkout')
  }),
  coupons: rule('CRUD', 'id code percent startsAt endsAt isActive', {
    searchable: 'code'.split(' '),
    ...managed('coupons:manage'),
    actions: actions('activate deactivate extend')
  }),
  returns: rule('root', 'id orderId customerId reason status requestedAt', {
    searchable: 'reason'.split(' '),
    ...owned('customerId'),
    deletable: { status: ['requested', 'rejected'] },
    actions: actions('approve reject receive refund', 'returns:manage')
  }),
  invoices: rule('root', 'id orderId customerId number total status issuedAt', {
    searchable: 'number'.split(' '),
    ...owned('customerId'),
    write: { permission: 'invoices:manage' },
    deletable: { status: ['draft'] },
    actions: actions('issue void')
  }),
  suppliers: rule('CRUD', 'id name country isActive', {
    searchable: 'name country'.split(' '),
    ...managed('suppliers:manage'),
    actions: actions('activate deactivate')
  }),
  'purchase-orders': rule('root', 'id supplierId status expectedAt requestedBy', {
    ...managed('suppliers:manage'),
    deletable: { status: ['draft', 'cancelled'] },
    actions: actions('submit receive-line cancel')
  }),
  warehouses: rule('CRUD', 'id name city isOpen', {
    searchable: 'name city'.split(' '),
    ...managed('warehouses:manage'),
    actions: actions('open close')
  }),
  'stock-items': rule('root', 'id warehouseId productId onHand reserved', {
    read: { rows: () => true, rejects: lacksBoth('warehouses:manage', 'stock:read') },
    write: {
      rows: (row, { permissions, claims }) =>
        permissions.has('warehouses:manage') || [claims['warehouses']].flat().includes(row['warehouseId']),
      rejects: lacksBoth('warehouses:manage', 'stock:write')
    },
    deletable: { reserved: [0] },
    actions: actions('adjust reserve release')
  }),
  events: rule('CRUD', 'id title startsAt endsAt venueId status', {
    searchable: 'title'.split(' '),
    fullText: true,
    ...publicRead('events:manage'),
    deletable: { status: ['draft', 'cancelled'] },
    customReads: { 'in-period': { property: 'id', bare: false, where: {} } },
    actions: actions('schedule cancel change-venue')
  }),
  venues: rule('CRUD', 'id name city capacity isOpen', {
    searchable: 'name city'.split(' '),
    ...publicRead('events:manage'),
    actions: actions('close')
  }),
  speakers: rule('CRUD', 'id name bio eventId', {
    searchable: 'name bio'.split(' '),
    ...publicRead('events:manage'),
    actions: actions('confirm')
  }),
  tickets: rule('root', 'id eventId customerId seat status price', {
    ...owned('customerId'),
    deletable: { status: ['valid'] },
    actions: actions('transfer check-in')
  }),
  bookmarks: rule('root', 'id userId sessionId note createdAt', {
    searchable: 'note'.split(' '),
    ...owned('userId'),
    ownerFilter: { column: 'userId', parameter: 'userId', on: ['list', 'session-ids'], mayBeAbsent: [] },
    customReads: { 'session-ids': { property: 'sessionId', bare: true, where: {} } },
    actions: actions('annotate')
  }),
  subscriptions: rule('root', 'id customerId plan renewsAt status', {
    ...owned('customerId'),
    actions: actions('pause resume change-plan')
  }),
  'audit-entries': rule('read', 'id at subject resource rowId action requestId', {
    versioned: false,
    searchable: 'subject resource rowId action'.split(' '),
    read: { permission: 'audit:read' },
    write: undefined,
    actions: {}
  })
}

/** Every part has to be said but the states of actions, which are those of the entity file where domain.md is silent. */
type StoreRule = Omit<Rule, 'states'> & Partial<Pick<Rule, 'states'>>
type Said = Pick<StoreRule, 'read' | 'write' | 'actions'> & Partial<StoreRule>

function rule(kind: keyof typeof WRITES, names: string, said: Said): StoreRule {
  const ownerFilter: OwnerFilter | undefined = undefined
  return {
    writes: WRITES[kind],
    properties: names.split(' '),
    byPermission: {},
    deletable: {},
    versioned: true,
    searchable: [],
    fullText: false,
    reads: {},
    singleWrites: {},
    writesUnseen: false,
    customReads: {},
    ownerFilter,
    ...said
  }
}

function byPermission(permission: string, names: string): Rule['byPermission'] {
  return Object.fromEntries(names.split(' ').map((name) => [name, [permission]]))
}

function publicRead(permission: string): Pick<Rule, 'read' | 'write'> {
  return { read: 'everyone', write: { permission } }
}

function managed(permission: string): Pick<Rule, 'read' | 'write'> {
  return { read: { permission }, write: { permission } }
}

/** Why a caller is rejected who needs one of two permissions. */
function lacksBoth(...permissions: readonly [string, string]): NonNullable<Predicated['rejects']> {
  return (caller) => {
    if (caller.token === 'none') return 'auth.required'
    return permissions.some((one) => caller.permissions.has(one)) ? undefined : 'capability.denied'
  }
}

function own(column: string): Guard {
  return { column }
}

function owned(column: string): Pick<Rule, 'read' | 'write'> {
  return { read: own(column), write: own(column) }
}

function actions(names: string, permission?: string): Rule['actions'] {
  return Object.fromEntries(names.split(' ').map((name) => [name, permission]))
}
