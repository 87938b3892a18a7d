import { isDeepStrictEqual } from 'node:util'
import { DomainError } from '../../shared/errors.js'
import type { Authenticated } from '../entity/caller.js'
import { type Account, accountKey, type AuthUnit, type StoredAccount } from './accounts/accounts.js'
import { whyOff, type WithSampleData } from './sessions.js'
import type { PermissionsOf } from './tokens/claims.js'

// What the permission to manage accounts allows. Managers give only rights that they hold, and change only accounts that
// hold no more than theirs (docs/decisions/091-who-manages-accounts.md).

export const MANAGE_ACCOUNTS = 'accounts:manage'

type Held = Pick<Account, 'roles' | 'owner' | 'claims'>

interface RightsOfRoles {
  readonly permissionsOf: PermissionsOf
  /** The role of the setting OWNER_BYPASS_ROLE; undefined without the setting. */
  readonly bypassRole: string | undefined
}

/** What a manager of accounts holds. */
export interface Powers extends Held {
  readonly permissions: ReadonlySet<string>
  /** Its own account; undefined for a caller of an outside issuer, who has none. */
  readonly account: StoredAccount | undefined
}

/**
 * What the caller holds now. A token of the service itself says what its account held when it was made, so the account is
 * read: one that was disabled or lost the permission since must not give itself back what it lost. Throws
 * `capability.denied`.
 */
export async function powersOf(
  caller: Authenticated,
  unit: Pick<AuthUnit, 'findAccount'>,
  {
    permissionsOf,
    ...deps
  }: RightsOfRoles & WithSampleData & { readonly issuers: readonly { readonly issuer: string }[] }
): Promise<Powers> {
  const { issuer, subject, roles, permissions, owner, claims } = caller
  const isOutside = issuer !== deps.issuers[0]?.issuer
  const account = isOutside ? undefined : await unit.findAccount(accountKey(subject))
  const held = isOutside ? permissions : permissionsOf(account?.roles ?? [])
  const isOff = !isOutside && (account === undefined || whyOff(account, deps) !== undefined)
  if (isOff || !held.has(MANAGE_ACCOUNTS)) {
    throw new DomainError('capability.denied', `Your account does not have the permission ${MANAGE_ACCOUNTS} now.`)
  }
  return { ...(account ?? { roles, owner, claims }), permissions: held, account }
}

/**
 * What of an account is more than a manager holds, in words; undefined if nothing is. A role decides by its permissions, and
 * in predicates and rules by its name too, so it has to be held itself. The bypass role is that of those who administrate
 * everything: they need the permissions alone, and owners and claims are free.
 */
export function whyBeyond(
  account: Held,
  powers: Powers,
  { permissionsOf, bypassRole }: RightsOfRoles
): string | undefined {
  const held = new Set(powers.roles.map((role) => role.toLowerCase()))
  if (bypassRole !== undefined && held.has(bypassRole.toLowerCase())) {
    const missing = [...permissionsOf(account.roles)].find((permission) => !powers.permissions.has(permission))
    return missing && `the permission ${missing}`
  }
  const role = account.roles.find((one) => !held.has(one.toLowerCase()))
  if (role !== undefined) return `the role ${role}`
  if (account.owner !== null && account.owner !== powers.owner) return 'another owner'
  const claim = Object.entries(account.claims).find(
    ([name, value]) => !Object.hasOwn(powers.claims, name) || !isDeepStrictEqual(value, powers.claims[name])
  )
  return claim && `the claim ${claim[0]}`
}
