import { permissionsIn, permissionsOf, type Roles } from '../../data-service/auth/tokens/claims.js'

/** Somebody who calls, as the token says it. */
export interface Caller {
  /** For messages. */
  readonly name: string
  /** `none` sends no token, `invalid` one that must be rejected. */
  readonly token: 'none' | 'invalid' | 'good'
  /** The claims of the token, without those that every token has. */
  readonly claims: Readonly<Record<string, unknown>>
  /** The owner that the claims name. */
  readonly owner: number | null
  /** The owner of each further kind that the claims name. */
  readonly owners: Readonly<Record<string, number | null>>
  readonly bypass: boolean
  readonly permissions: ReadonlySet<string>
}

/** Two owners, each with rows in every owned resource. */
export const OWNERS = [1, 2] as const
const [OWNER, OTHER] = OWNERS

/** Contract section 6: these count as no claim at all. */
const MALFORMED_OWNERS: readonly unknown[] = ['', 'abc', 1.5, [OWNER], { a: 1 }, null, true, ' 1', '1.0', 2 ** 53]

export const ANONYMOUS = caller('no token', { token: 'none' })

/** What an application says of those who call it. */
interface CallersOptions {
  readonly roles: Roles
  /** The claim that names the owner of rows. */
  readonly ownerClaimType: string
  /** Further kinds of owners and the claims that name them. */
  readonly owners?: Readonly<Record<string, string>> | undefined
  /** The role of OWNER_BYPASS_ROLE. */
  readonly bypassRole: string
  /** Claims that each token has besides those that tell the callers apart, which overwrite them. Without it an owner is one of every kind. */
  readonly claimsOf?: ((caller: KnownCaller) => Readonly<Record<string, unknown>>) | undefined
  /** What each role may do, written down a second time; permissions that none of these has are those of `roles`. */
  readonly rolesByHand?: Readonly<Record<string, readonly string[]>>
}

/** What the claims of a caller may depend on. */
export type KnownCaller = Pick<Caller, 'name' | 'owner' | 'bypass' | 'permissions'>

/** Everybody that the operations of an application are tried by. */
export class Callers {
  /** Every permission that some role has. */
  readonly permissions: readonly string[]
  /** Somebody with the bypass role and every permission. */
  readonly bypass: Caller
  readonly #ownerClaimType: string
  readonly #owners: Readonly<Record<string, string>>
  readonly #expired: Caller
  readonly #claimsOf: NonNullable<CallersOptions['claimsOf']>
  readonly #roles: readonly Caller[]

  constructor({ roles, ownerClaimType, owners = {}, bypassRole, claimsOf, rolesByHand = {} }: CallersOptions) {
    this.#owners = owners
    this.#claimsOf =
      claimsOf ??
      (({ owner }) => (owner === null ? {} : Object.fromEntries(Object.values(owners).map((claim) => [claim, owner]))))
    this.#ownerClaimType = ownerClaimType
    const stated = new Set(Object.values(rolesByHand).flat())
    const served = permissionsOf(roles)
    const permissionsOfRole = (role: string): string[] => [
      ...(rolesByHand[role] ?? []),
      ...[...served([role])].filter((one) => !stated.has(one))
    ]
    this.permissions = [...new Set([...stated, ...permissionsIn(roles)])]
    const held = permissionsOfRole(bypassRole)
    // The bypass role of these tests sees everything: what the role itself lacks stands in the token.
    const lacking = this.permissions.filter((one) => !held.includes(one))
    this.bypass = this.#caller('the bypass role', {
      role: bypassRole,
      claims: lacking.length === 0 ? {} : { permissions: lacking },
      bypass: true,
      permissions: this.permissions
    })
    const past = Math.floor(Date.now() / 1000) - 3600
    this.#expired = caller('an expired token', { token: 'invalid', role: bypassRole, claims: { exp: past } })
    this.#roles = [...new Set([...Object.keys(rolesByHand), ...(stated.size === 0 ? Object.keys(roles) : [])])]
      .filter((role) => role.toLowerCase() !== bypassRole.toLowerCase() && permissionsOfRole(role).length > 0)
      .map((role) => this.#caller(`the role ${role}`, { role, permissions: permissionsOfRole(role) }))
  }

  #caller(...said: Parameters<typeof caller>): Caller {
    const made = caller(...said)
    const claims = { ...this.#claimsOf(made), ...made.claims }
    const owners = Object.entries(this.#owners).map(([kind, claim]) => [kind, integerOf(claims[claim])] as const)
    return { ...made, claims, owners: Object.fromEntries(owners) }
  }

  owner(owner: number, permissions: readonly string[] = []): Caller {
    const which = permissions === this.permissions ? 'every permission' : permissions.join(' and ')
    const more = permissions.length === 0 ? '' : ` with ${which}`
    const held = carried(permissions)
    return this.#caller(`owner ${owner}${more}`, {
      claims: { [this.#ownerClaimType]: owner, permissions: held },
      owner,
      permissions: held
    })
  }

  /** Each kind of claim that names no owner. */
  malformedOwners(): Caller[] {
    return MALFORMED_OWNERS.map((claim) => this.#malformedOwner(claim))
  }

  /** Exactly these permissions, and no owner claim. */
  permitted(permissions: readonly string[]): Caller {
    const held = carried(permissions)
    // The name is the subject of the token. With all permissions of a hundred resources in it the token would be too large.
    const which = permissions === this.permissions ? 'every permission' : held.join(' and ') || 'no permission'
    return this.#caller(`a token with ${which}`, {
      claims: { permissions: held },
      permissions: held
    })
  }

  /** Everybody that an operation is tried by: `needed` are the permissions that it asks for. */
  of(needed: readonly string[]): Caller[] {
    const permissive =
      needed.length === 0 ? [] : [this.permitted(needed), this.owner(OWNER, needed), this.owner(OTHER, needed)]
    return [
      ANONYMOUS,
      this.#expired,
      this.#caller('no owner claim', {}),
      this.#malformedOwner('abc'),
      this.owner(OWNER),
      this.owner(OTHER),
      ...this.#roles,
      this.bypass,
      this.permitted(this.permissions),
      ...permissive,
      ...needed.map((one) => this.#lacking(one))
    ]
  }

  /**
   * Those of them whom a rule tells apart. A rule that is missing, or is another one, shows by them: no token, exactly the
   * permissions, all but one of them, the bypass role and, where rows have owners, two owners.
   */
  toldApart(needed: readonly string[], isOwned: boolean): Caller[] {
    return [
      ANONYMOUS,
      needed.length === 0 ? this.#caller('no owner claim', {}) : this.permitted(needed),
      ...(isOwned ? OWNERS.map((owner) => this.owner(owner, needed)) : []),
      this.bypass,
      ...needed.map((one) => this.#lacking(one))
    ]
  }

  /** Every permission but this one. */
  #lacking(permission: string): Caller {
    const others = carried(this.permissions.filter((one) => one !== permission))
    return this.#caller(`owner ${OWNER} with all but ${permission}`, {
      claims: { permissions: others, [this.#ownerClaimType]: OWNER },
      owner: OWNER,
      permissions: others
    })
  }

  #malformedOwner(claim: unknown): Caller {
    return this.#caller(`the owner claim ${JSON.stringify(claim)}`, { claims: { [this.#ownerClaimType]: claim } })
  }
}

/** Characters of permissions in a token: a request carries 8 KiB of it, in base64. */
const MAX_CARRIED = 4096

/** The first of them, as many as a token may list. A role stands for any number. */
function carried(permissions: readonly string[]): readonly string[] {
  let length = 0
  return permissions.filter((one) => (length += one.length + 3) <= MAX_CARRIED)
}

function integerOf(claim: unknown): number | null {
  return typeof claim === 'number' && Number.isSafeInteger(claim) ? claim : null
}

function caller(
  name: string,
  said: Partial<Omit<Caller, 'permissions' | 'name'>> & {
    readonly role?: string
    readonly permissions?: readonly string[]
  }
): Caller {
  const { role, token = 'good', claims = {}, owner = null, bypass = false, permissions = [] } = said
  return {
    name,
    token,
    claims: { ...(role === undefined ? {} : { role }), ...claims },
    owner,
    owners: {},
    bypass,
    permissions: new Set(permissions)
  }
}
