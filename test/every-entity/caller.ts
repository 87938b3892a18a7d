import { permissionsOf } from '../../data-service/auth/claims.js'
import { roles } from '../../examples/store/roles.js'

/** Somebody who calls, as the token says it. */
export interface Caller {
  /** For messages. */
  readonly name: string
  /** `none` sends no token, `invalid` one that must be rejected. */
  readonly token: 'none' | 'invalid' | 'good'
  readonly claims: Readonly<Record<string, unknown>>
  /** The owner that the claims name. */
  readonly owner: number | null
  readonly bypass: boolean
  readonly permissions: ReadonlySet<string>
}

/** Two owners, each with rows in every owned resource. */
export const OWNERS = [1, 2] as const
const [OWNER, OTHER] = OWNERS

/** What the bypass role is called; see test/harness/stack.ts. */
const BYPASS = 'Admin'

/** domain.md, roles and permissions: by hand, so that a role that gets more or less in roles.ts shows. */
const CLERK = ['products', 'coupons', 'customers', 'suppliers', 'warehouses', 'events'].map((one) => `${one}:manage`)
const DOMAIN: readonly string[] = [...CLERK, 'orders:manage', 'returns:manage', 'invoices:manage', 'audit:read']

/** What domain.md gives to a role, and those of its permissions in roles.ts that domain.md does not know at all. */
function permissionsOfRole(role: string, given: readonly string[]): readonly string[] {
  return [...given, ...[...permissionsOf(roles)([role])].filter((one) => !DOMAIN.includes(one))]
}

/** Every permission there is: the bypass role has them all. */
export const PERMISSIONS = permissionsOfRole(BYPASS, DOMAIN)

/** Contract section 6: these count as no claim at all. */
export const MALFORMED_OWNERS: readonly unknown[] = [
  '',
  'abc',
  1.5,
  [OWNER],
  { a: 1 },
  null,
  true,
  ' 1',
  '1.0',
  2 ** 53
]

const past = Math.floor(Date.now() / 1000) - 3600

export const ANONYMOUS = caller('no token', { token: 'none' })
const EXPIRED = caller('an expired token', { token: 'invalid', role: BYPASS, claims: { exp: past } })
const OWNERLESS = caller('no owner claim', {})
export const ADMIN = caller('the bypass role', { role: BYPASS, bypass: true, permissions: DOMAIN })
const CLERK_CALLER = caller('the clerk', { role: 'Clerk', permissions: CLERK })

export function ownerCaller(owner: number, permissions: readonly string[] = []): Caller {
  const which = permissions === PERMISSIONS ? 'every permission' : permissions.join(' and ')
  const more = permissions.length === 0 ? '' : ` with ${which}`
  return caller(`owner ${owner}${more}`, { claims: { customer_id: owner, permissions }, owner, permissions })
}

/** A claim that names no owner. */
export function malformedOwner(claim: unknown): Caller {
  return caller(`the owner claim ${JSON.stringify(claim)}`, { claims: { customer_id: claim } })
}

/** Exactly these permissions, and no owner claim. */
export function permitted(permissions: readonly string[]): Caller {
  return caller(`a token with ${permissions.join(' and ') || 'no permission'}`, {
    claims: { permissions },
    permissions
  })
}

/** Every permission but this one. */
function lacking(permission: string): Caller {
  const others = PERMISSIONS.filter((one) => one !== permission)
  return caller(`owner ${OWNER} with all but ${permission}`, {
    claims: { permissions: others, customer_id: OWNER },
    owner: OWNER,
    permissions: others
  })
}

/** Everybody that an operation is tried by: `needed` are the permissions that it asks for. */
export function callersOf(needed: readonly string[]): Caller[] {
  const permissive =
    needed.length === 0 ? [] : [permitted(needed), ownerCaller(OWNER, needed), ownerCaller(OTHER, needed)]
  return [
    ANONYMOUS,
    EXPIRED,
    OWNERLESS,
    malformedOwner('abc'),
    ownerCaller(OWNER),
    ownerCaller(OTHER),
    CLERK_CALLER,
    ADMIN,
    permitted(PERMISSIONS),
    ...permissive,
    ...needed.map(lacking)
  ]
}

function caller(
  name: string,
  said: Partial<Omit<Caller, 'permissions' | 'name'>> & {
    readonly role?: string
    readonly permissions?: readonly string[]
  }
): Caller {
  const { role = 'Customer', token = 'good', claims = {}, owner = null, bypass = false, permissions = [] } = said
  return {
    name,
    token,
    claims: { role, ...claims },
    owner,
    bypass,
    permissions: new Set(permissionsOfRole(role, permissions))
  }
}
