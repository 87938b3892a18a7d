import type { StoredAccount } from './account.js'
import type { AuthUnit, Family, NewToken } from './auth-store.js'
import type { Authenticating } from './authenticating.js'
import { hashOfToken, NONCE_BYTES, sealSuccessor, TOKEN_BYTES, writeRefreshToken } from './refresh-token.js'

/** An open session as rpcs answer it. */
export interface Session {
  readonly accessToken: string
  readonly accessTokenExpiry: string
  readonly refreshToken: string
  readonly refreshTokenExpiry: string
}

/** A refresh token in the clear, which is never kept. */
export interface LiveToken {
  readonly token: Buffer
  readonly familyId: Buffer
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Contract section 1: refresh is sliding, with an absolute end. */
const ABSOLUTE_LIFE = 30 * 24 * 60 * 60_000

const FAMILY_ID_BYTES = 16

/** Opens a refresh family of its own and answers its first token. */
export async function openFamily(unit: AuthUnit, accountId: string, by: Authenticating): Promise<LiveToken> {
  const now = by.now()
  const id = by.randomBytes(FAMILY_ID_BYTES)
  const family = { id, accountId, createdAt: now, endsAt: now + ABSOLUTE_LIFE, revokedAt: null }
  const live = newToken(family, now, by)
  await unit.addFamily(family, stored(live, now))
  return live
}

/** Puts a new token in the place of a live one of a locked family. */
export async function rotate(
  unit: AuthUnit,
  { token, family }: { readonly token: Buffer; readonly family: Family },
  by: Authenticating
): Promise<LiveToken> {
  const now = by.now()
  const live = newToken(family, now, by)
  await unit.rotate(hashOfToken(token), {
    usedAt: now,
    sealed: sealSuccessor(live.token, token, by.randomBytes(NONCE_BYTES)),
    successor: stored(live, now)
  })
  return live
}

export function sessionOf(account: StoredAccount, live: LiveToken, by: Authenticating): Session {
  const access = by.accessToken(account, sessionId(live.familyId))
  return {
    accessToken: access.token,
    accessTokenExpiry: new Date(access.expiresAt).toISOString(),
    refreshToken: writeRefreshToken(live.token),
    refreshTokenExpiry: new Date(live.expiresAt).toISOString()
  }
}

/**
 * The claim `sid` of a session's access tokens: kept by refresh, new with each log-in. It is the family's random id, which
 * log lines name as `family`. No call takes it, so whoever reads it can do nothing with it.
 */
function sessionId(familyId: Buffer): string {
  return familyId.toString('hex')
}

/** Whether an account may log in and stay so: sample accounts may where SAMPLE_DATA is on. */
export function isUsable(account: StoredAccount, { sampleData }: Authenticating): boolean {
  return sampleData || !account.isSample
}

function newToken({ id, endsAt }: Family, now: number, { randomBytes, refreshTtl }: Authenticating): LiveToken {
  return { token: randomBytes(TOKEN_BYTES), familyId: id, expiresAt: Math.min(now + refreshTtl, endsAt) }
}

function stored({ token, familyId, expiresAt }: LiveToken, issuedAt: number): NewToken {
  return { hash: hashOfToken(token), familyId, issuedAt, expiresAt }
}
