import { type Claims, type Issuer, TokenRejected, verifyToken } from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import type { Permission } from '../entity/access.js'
import { anonymous, type Authenticated, type Caller } from '../entity/caller.js'
import { INT64, parseInteger } from '../entity/numbers.js'

/** What each role may do. Role names are matched in any letter case. */
export type Roles = Readonly<Record<string, readonly Permission[]>>

/** Every permission that some role has, in the order in which the roles name them. */
export function permissionsIn(roles: Roles): readonly Permission[] {
  return [...new Set(Object.values(roles).flat())]
}

/** The permissions of all the named roles together; an unknown role has none. */
export type PermissionsOf = (names: readonly string[]) => ReadonlySet<string>

export function permissionsOf(roles: Roles): PermissionsOf {
  const byName = new Map(Object.entries(roles).map(([name, permissions]) => [name.toLowerCase(), permissions]))
  return (names) => new Set(names.flatMap((name) => byName.get(name.toLowerCase()) ?? []))
}

/** What an issuer's tokens say of a caller, each from the claims of one that was verified. */
export interface ClaimReading {
  roles(claims: Claims): readonly string[]
  /** Beside those of the roles. */
  permissions(claims: Claims): readonly string[]
  owner(claims: Claims): unknown
}

/** Our own tokens are believed in all that they say. */
export function ownClaims(ownerClaimType: string): ClaimReading {
  return {
    roles: (claims) => texts(claims['role']),
    permissions: (claims) => {
      const own: unknown = claims['permissions']
      return Array.isArray(own) ? texts(own) : []
    },
    owner: (claims) => {
      const owner: unknown = claims[ownerClaimType]
      return owner
    }
  }
}

/** Which claims of an outside issuer's tokens are read, and which of our roles and permissions its own stand for. */
export interface OutsideClaims {
  readonly roleClaim: string
  /** Its roles, each with the role of ours that it stands for; those that are not here count for nothing. */
  readonly roles: ReadonlyMap<string, string>
  readonly permissionClaim: string
  /** The same of its permissions. */
  readonly permissions: ReadonlyMap<string, string>
  /** undefined: the claim of OWNER_CLAIM_TYPE. */
  readonly ownerClaim: string | undefined
}

/** An outside issuer's roles and permissions count for nothing unless a setting says what of ours they stand for. */
export function outsideClaims(of: OutsideClaims, ownerClaimType: string): ClaimReading {
  const ownerClaim = of.ownerClaim ?? ownerClaimType
  return {
    roles: (claims) => mapped(texts(claimAt(claims, of.roleClaim)), of.roles),
    permissions: (claims) => mapped(texts(claimAt(claims, of.permissionClaim)), of.permissions),
    owner: (claims) => claimAt(claims, ownerClaim)
  }
}

/** Who a verified token speaks for (contract.md section 6). */
export function callerOfClaims(claims: Claims, read: ClaimReading, permissionsOf: PermissionsOf): Authenticated {
  const roles = read.roles(claims)
  return {
    kind: 'authenticated',
    issuer: claims.iss,
    subject: claims.sub,
    roles,
    permissions: new Set([...permissionsOf(roles), ...read.permissions(claims)]),
    owner: parseOwner(read.owner(claims))
  }
}

/** A claim of that name or, where there is none, what the dots of the name lead to: `realm_access.roles`, say. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const member of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, member)) return undefined
    found = Object.entries(found).find(([own]) => own === member)?.[1]
  }
  return found
}

function mapped(theirs: readonly string[], ours: ReadonlyMap<string, string>): string[] {
  return [...new Set(theirs.flatMap((one) => ours.get(one) ?? []))]
}

/**
 * A JSON integer that a double holds exactly, or digits that fit 64 bits; anything else counts as missing. A larger
 * JSON number has become its neighbour in parsing already.
 */
function parseOwner(claim: unknown): bigint | null {
  if (typeof claim === 'number') return Number.isSafeInteger(claim) ? BigInt(claim) : null
  return (typeof claim === 'string' ? parseInteger(claim, INT64) : undefined) ?? null
}

function texts(claim: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}

/** Finds out who calls from the values of `authorization` metadata; throws `auth.invalid-token`. */
export type Identify = (authorization: readonly string[]) => Promise<Caller>

/** `bearer` in any letter case (RFC 9110 section 11.1), then token68 (RFC 6750 section 2.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** A token that was sent has to hold, on public reads too; with none sent the caller is anonymous. */
export function identifyBy(
  issuers: readonly Issuer[],
  how: {
    readonly ownerClaimType: string
    readonly permissionsOf: PermissionsOf
    /** How tokens of other issuers than the service itself are read, by issuer. */
    readonly outside?: ReadonlyMap<string, ClaimReading>
    readonly now: () => number
  }
): Identify {
  const own = ownClaims(how.ownerClaimType)
  return async (authorization) => {
    const [value, ...others] = authorization
    if (value === undefined) return anonymous
    const token = others.length === 0 ? BEARER.exec(value)?.[1] : undefined
    if (token === undefined) throw rejected(new TokenRejected('authorization is not one bearer token'))
    try {
      const claims = await verifyToken(token, issuers, how)
      return callerOfClaims(claims, how.outside?.get(claims.iss) ?? own, how.permissionsOf)
    } catch (error) {
      throw error instanceof TokenRejected ? rejected(error) : error
    }
  }
}

function rejected(reason: TokenRejected): DomainError {
  return new DomainError('auth.invalid-token', 'The access token is not valid, or not any more.', { cause: reason })
}
