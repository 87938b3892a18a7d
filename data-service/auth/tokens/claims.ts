import { LRUCache } from 'lru-cache'
import {
  type Claims,
  isStillValid,
  type Issuer,
  loggedAccount,
  TokenRejected,
  verifiedToken
} from '../../../shared/access-token.js'
import { AUTHORIZATION, type DomainError, rejectionAt } from '../../../shared/errors.js'
import type { Permission } from '../../entity/fields/names.js'
import { anonymous, type Authenticated, type Caller } from '../../entity/caller.js'
import { INT64_RANGE, parseInteger } from '../../entity/fields/numbers.js'

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

/** The kinds of owners that an application names, and the claim of each. */
export type OwnerClaims = Readonly<Record<string, string>>

/** Reads roles, permissions and owners from the claims of a verified token; each issuer has its own mapping. */
export interface ClaimMapping {
  roles(claims: Claims): readonly string[]
  /** Permissions in addition to those of the roles. */
  permissions(claims: Claims): readonly string[]
  owner(claims: Claims): unknown
  /** Those of the kinds that the application names. */
  owners(claims: Claims): Readonly<Record<string, unknown>>
  /** Who calls, in rules, row scopes and presets. No subject of one issuer may equal one of another. */
  subjectInRules(claims: Claims): string
  /** The claims that rules, row scopes and presets see. */
  claimsInRules(claims: Claims): Readonly<Record<string, unknown>>
}

/** The service's own tokens: roles and permissions count as they stand in the token. */
export function ownClaimMapping(ownerClaimType: string, owners: OwnerClaims = {}): ClaimMapping {
  return {
    roles: (claims) => strings(claims['role']),
    permissions: (claims) => {
      const own: unknown = claims['permissions']
      return Array.isArray(own) ? strings(own) : []
    },
    owner: (claims) => {
      const owner: unknown = claims[ownerClaimType]
      return owner
    },
    owners: (claims) => Object.fromEntries(Object.entries(owners).map(([kind, claim]) => [kind, claims[claim]])),
    subjectInRules: ({ sub }) => sub,
    claimsInRules: (claims) => {
      // That of a machine is its name. A rule that looks for a claim `client_id` of accounts must not take it for one.
      const { client_id: clientId, ...others } = claims
      return clientId === claims.sub ? others : claims
    }
  }
}

/**
 * Claims that the service itself makes or reads, in addition to the owner claim. An account cannot have further claims of
 * these names: those of RFC 7519 section 4.1, the session, and what decides about rights.
 */
const RESERVED_CLAIMS: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'nonce',
  'sid',
  'name',
  'role',
  'roles',
  'permissions'
])

export function isReservedClaim(name: string, ownerClaimType: string): boolean {
  return RESERVED_CLAIMS.has(name) || name === ownerClaimType
}

/** The further claims of an account. A stored one may have become the owner claim by a change of OWNER_CLAIM_TYPE. */
export function unreservedClaims(
  claims: Readonly<Record<string, unknown>>,
  ownerClaimType: string
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !isReservedClaim(name, ownerClaimType)))
}

/** Which claims of an outside issuer's tokens are read, and how its names become ours. */
export interface OutsideClaims {
  readonly roleClaim: string
  /** From a role of the issuer to a role of ours. Other roles of the issuer are ignored. */
  readonly roles: ReadonlyMap<string, string>
  readonly permissionClaim: string
  /** From a permission of the issuer to one of ours. Other permissions of the issuer are ignored. */
  readonly permissions: ReadonlyMap<string, string>
  /** undefined: the claim of OWNER_CLAIM_TYPE, unless that is `sub`. */
  readonly ownerClaim: string | undefined
  /** From a claim of the issuer to a kind of owner of ours. Its tokens name no other owners of these kinds. */
  readonly owners: ReadonlyMap<string, string>
  /** Names of the claims that rules, row scopes and presets see. */
  readonly inRules: readonly string[]
}

/**
 * The tokens of an outside issuer: roles and permissions count only if a setting maps them to ours, and further claims only
 * if a setting names them. Rules see the issuer and the subject with a space between, as the trail of writes does: no
 * subject of an account of ours has a space.
 */
export function outsideClaimMapping(of: OutsideClaims, ownerClaimType: string): ClaimMapping {
  // Their subjects are not ours, so that a subject of theirs owns rows of ours only if a setting says so by name.
  const ownerClaim = of.ownerClaim ?? (ownerClaimType === 'sub' ? undefined : ownerClaimType)
  return {
    roles: (claims) => mapNames(strings(claimAt(claims, of.roleClaim)), of.roles),
    permissions: (claims) => mapNames(strings(claimAt(claims, of.permissionClaim)), of.permissions),
    owner: (claims) => (ownerClaim === undefined ? undefined : claimAt(claims, ownerClaim)),
    owners: (claims) => Object.fromEntries(Array.from(of.owners, ([claim, kind]) => [kind, claimAt(claims, claim)])),
    subjectInRules: ({ iss, sub }) => `${iss} ${sub}`,
    claimsInRules: (claims) => Object.fromEntries(Object.entries(claims).filter(([name]) => of.inRules.includes(name)))
  }
}

/** The caller that a verified token names (contract.md section 6). */
export function callerOfClaims(claims: Claims, mapping: ClaimMapping, permissionsOf: PermissionsOf): Authenticated {
  const roles = mapping.roles(claims)
  return {
    kind: 'authenticated',
    issuer: claims.iss,
    subject: claims.sub,
    ...loggedAccount(claims),
    roles,
    permissions: new Set([...permissionsOf(roles), ...mapping.permissions(claims)]),
    owner: ownerOfClaim(mapping.owner(claims)),
    owners: Object.fromEntries(
      Object.entries(mapping.owners(claims)).map(([kind, claim]) => [kind, ownerOfClaim(claim)])
    ),
    subjectInRules: mapping.subjectInRules(claims),
    claims: mapping.claimsInRules(claims),
    expiresAt: claims.exp * 1000
  }
}

/**
 * The claim of that name. If there is none, the dots of the name are a path: `realm_access.roles` is the member `roles` of
 * the claim `realm_access`.
 */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const member of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, member)) return undefined
    found = Object.entries(found).find(([own]) => own === member)?.[1]
  }
  return found
}

function mapNames(theirs: readonly string[], ours: ReadonlyMap<string, string>): string[] {
  return [...new Set(theirs.flatMap((one) => ours.get(one) ?? []))]
}

/**
 * The owner as a 64-bit integer, from a JSON integer or from decimal digits; null for any other value. A JSON number beyond
 * 2^53 is not accepted, because JSON.parse has rounded it already.
 */
export function ownerOfClaim(claim: unknown): bigint | null {
  if (typeof claim === 'number') return Number.isSafeInteger(claim) ? BigInt(claim) : null
  return (typeof claim === 'string' ? parseInteger(claim, INT64_RANGE) : undefined) ?? null
}

function strings(claim: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}

/** The caller by the values of the `authorization` metadata. Rejects with `auth.invalid-token`. */
export type Identify = (authorization: readonly string[]) => Promise<Caller>

/** `bearer` in any letter case (RFC 9110 section 11.1), then token68 (RFC 6750 section 2.1). */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i

/** Bytes of the valid tokens that are kept, with what they say. Checking a signature takes longer than reading a row. */
const MAX_VERIFIED_BYTES = 16 * 2 ** 20

/** The claims of an outside issuer that rules do not see are not kept. */
interface KeptCaller {
  readonly token: Parameters<typeof isStillValid>[0]
  readonly caller: Authenticated
}

/** About what it takes on the heap: some claims take more than their text in the token. */
function heapBytesOf({ caller }: KeptCaller, authorization: string): number {
  const values: unknown[] = [authorization, caller]
  let bytes = 0
  for (const value of values) {
    bytes += typeof value === 'string' ? 32 + value.length : 64
    const isTree = typeof value === 'object' && value !== null
    const parts: Iterable<unknown> = value instanceof Set ? value : isTree ? Object.entries(value).flat() : []
    values.push(...parts)
  }
  return bytes
}

/**
 * A call without a token is anonymous. A token that is sent must be valid, even for reads that need none. Valid ones are
 * kept until they expire, or their issuer gives their key up.
 */
export function identifyBy(
  issuers: readonly Issuer[],
  how: {
    readonly ownerClaimType: string
    readonly owners?: OwnerClaims
    readonly permissionsOf: PermissionsOf
    /** The mappings of outside issuers, by `iss`. */
    readonly outside?: ReadonlyMap<string, ClaimMapping>
    readonly now: () => number
  }
): Identify {
  const own = ownClaimMapping(how.ownerClaimType, how.owners)
  const kept = new LRUCache<string, KeptCaller>({ maxSize: MAX_VERIFIED_BYTES, sizeCalculation: heapBytesOf })
  return async (authorization) => {
    const [value] = authorization
    if (value === undefined) return anonymous
    const known = authorization.length === 1 ? kept.get(value) : undefined
    if (known !== undefined) {
      if (await isStillValid(known.token, how.now())) return known.caller
      kept.delete(value)
    }
    const text = authorization.length === 1 ? BEARER.exec(value)?.[1] : undefined
    if (text === undefined) throw rejected(new TokenRejected('authorization is not one bearer token'))
    try {
      const { claims, issuer, key } = await verifiedToken(text, issuers, how)
      const caller = callerOfClaims(claims, how.outside?.get(claims.iss) ?? own, how.permissionsOf)
      kept.set(value, { token: { claims: { exp: claims.exp }, issuer, key }, caller })
      return caller
    } catch (error) {
      throw error instanceof TokenRejected ? rejected(error) : error
    }
  }
}

function rejected(reason: TokenRejected): DomainError {
  return rejectionAt('auth.invalid-token', 'The access token is not valid, or not any more.', {
    place: AUTHORIZATION,
    cause: reason
  })
}
