import type { Claims } from '../../shared/access-token/verify-token.js'
import type { Authenticated } from './caller.js'
import { permissionsOf } from './roles.js'

/** Leading zeros change nothing; more digits than these fit no 64 bits. */
const OWNER_DIGITS = /^-?0*\d{1,19}$/
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** Who a verified token speaks for (contract.md section 6). */
export function callerOfClaims(claims: Claims, ownerClaimType: string): Authenticated {
  const roles = texts(claims['role'])
  const own: unknown = claims['permissions']
  return {
    kind: 'authenticated',
    issuer: claims.iss,
    subject: claims.sub,
    roles,
    permissions: new Set([...permissionsOf(roles), ...(Array.isArray(own) ? texts(own) : [])]),
    owner: parseOwner(claims[ownerClaimType])
  }
}

/**
 * A JSON integer that a double holds exactly, or digits that fit 64 bits; anything else counts as missing. A larger
 * JSON number has become its neighbour in parsing already.
 */
function parseOwner(claim: unknown): bigint | null {
  if (typeof claim === 'number') return Number.isSafeInteger(claim) ? BigInt(claim) : null
  if (typeof claim !== 'string' || !OWNER_DIGITS.test(claim)) return null
  const owner = BigInt(claim)
  return owner >= INT64.min && owner <= INT64.max ? owner : null
}

function texts(claim: unknown): string[] {
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim]
  return values.filter((value) => typeof value === 'string')
}
