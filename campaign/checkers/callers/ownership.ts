import type { Exchange } from '../../history.js'
import { pathOf } from '../chains.js'

/** Sees everybody's. */
export const ADMIN = 'admin@example.com'

/** The customer numbers of the accounts that own rows. Accounts that are not here own none, and may see none. */
export const NUMBERS: Readonly<Record<string, string>> = { 'ada@example.com': '1', 'ben@example.com': '2' }

/** What the roles of domain.md permit; the administrator has all. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  'clerk@example.com': ['products', 'coupons', 'customers', 'suppliers', 'warehouses', 'events'].map(
    (one) => `${one}:manage`
  )
}

/** Machines have the role of a clerk; their names begin with that of their workload. */
function permissionsOf(account: string): readonly string[] {
  return PERMISSIONS[/^machines-\d/.test(account) ? 'clerk@example.com' : account] ?? []
}

/** Rows of customers, and the member that says whose they are. */
export const OWNED: Readonly<Record<string, string>> = {
  orders: 'customerId',
  'shopping-carts': 'customerId',
  subscriptions: 'customerId',
  returns: 'customerId',
  invoices: 'customerId',
  tickets: 'customerId',
  bookmarks: 'userId'
}

/** What it takes to write, and to read what is not public. */
const MANAGED: Readonly<Record<string, string>> = {
  'audit-entries': 'audit:read',
  customers: 'customers:manage',
  suppliers: 'suppliers:manage',
  'purchase-orders': 'suppliers:manage',
  coupons: 'coupons:manage',
  warehouses: 'warehouses:manage',
  'stock-items': 'warehouses:manage'
}
const PUBLIC: Readonly<Record<string, string>> = {
  products: 'products:manage',
  categories: 'products:manage',
  events: 'events:manage',
  venues: 'events:manage',
  speakers: 'events:manage'
}
/** Actions on rows of customers that are not for them. */
const STAFF_ACTIONS: Readonly<Record<string, readonly string[]>> = {
  orders: ['ship', 'update-shipment', 'deliver'],
  returns: ['approve', 'reject', 'receive', 'refund']
}

/** The rejection that a request must get. */
export interface Denial {
  readonly status: 401 | 403 | 404
  readonly code: string
}

const UNKNOWN: Denial = { status: 401, code: 'auth.required' }
const INCAPABLE: Denial = { status: 403, code: 'capability.denied' }
const FOREIGN: Denial = { status: 403, code: 'ownership.denied' }
const HIDDEN: Denial = { status: 404, code: 'not-found' }

/**
 * How a well-formed request must be rejected for who sends it (contract.md section 6, the ownership of source.md and the
 * permissions of domain.md): undefined where it must not be, `'unjudged'` for a path that is no resource.
 * `owner` is the account that the row of the path belongs to, if that is known.
 */
export function denialOf(exchange: Exchange, owner: string | undefined): Denial | undefined | 'unjudged' {
  const { account, request } = exchange
  const [resource = '', second] = pathOf(exchange)
  const isRead = request.method === 'GET'
  if (OWNED[resource] === undefined && MANAGED[resource] === undefined && PUBLIC[resource] === undefined)
    return 'unjudged'
  if (PUBLIC[resource] !== undefined && isRead) return undefined
  if (account === undefined) return UNKNOWN
  const isCustomer = resource === 'customers' && isRead && /^\d+$/.test(second ?? '')
  const permission = isCustomer ? undefined : permissionOf(exchange)
  if (account === ADMIN) return undefined
  if (permission !== undefined && !permissionsOf(account).includes(permission)) return INCAPABLE
  if (!isCustomer && OWNED[resource] === undefined) return undefined
  const number = NUMBERS[account]
  if (number === undefined) return FOREIGN
  if (isCustomer) return second === number ? undefined : FOREIGN
  if (namedOwners(exchange).some((one) => one !== number)) return FOREIGN
  return owner !== undefined && owner !== account ? HIDDEN : undefined
}

function permissionOf(exchange: Exchange): string | undefined {
  const [resource = '', , action = ''] = pathOf(exchange)
  const isRead = exchange.request.method === 'GET'
  if (STAFF_ACTIONS[resource]?.includes(action) === true) return `${resource}:manage`
  if (resource === 'invoices' && !isRead) return 'invoices:manage'
  return MANAGED[resource] ?? (isRead ? undefined : PUBLIC[resource])
}

/** The owners that a request names where its route takes one; the empty text where it has to name one and does not. */
function namedOwners(exchange: Exchange): readonly string[] {
  const { method, target, body } = exchange.request
  const [resource = '', second] = pathOf(exchange)
  const { searchParams } = new URL(target, 'http://gateway')
  const named: string[] = []
  if (resource === 'shopping-carts') named.push(...searchParams.getAll('customerId'))
  if (resource === 'bookmarks' && method === 'GET' && (second === undefined || second === 'session-ids'))
    named.push(searchParams.get('userId') ?? '')
  if (method !== 'POST' || body === undefined) return named
  for (const one of [JSON.parse(body) as unknown].flat()) {
    const owner = (one as Readonly<Record<string, unknown>>)[OWNED[resource] ?? '']
    if (owner !== undefined) named.push(typeof owner === 'string' ? owner : JSON.stringify(owner))
  }
  return named
}
