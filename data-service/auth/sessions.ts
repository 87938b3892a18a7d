import type { StoredAccount } from './account.js'
import type { AuthUnit, Family, NewToken } from './auth-store.js'
import type { Authenticating } from './authenticating.js'
import {
  hashOfToken,
  newRefreshToken,
  NONCE_BYTES,
  refHashOf,
  sealSuccessor,
  writeRefreshToken
} from './refresh-token.js'

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

/** Of a used token, in milliseconds after its grace window, for clocks of replicas that differ and for `rotationWait`. */
const KEPT_AFTER_GRACE = 60_000

/** Tokens that a family is given within so many milliseconds, its first one included; used ones are kept as long. */
const MOST_ISSUED = 60
const ROTATION_WINDOW = 60_000

/** Opens a refresh family of its own and answers its first token. */
export async function openFamily(unit: AuthUnit, accountId: string, by: Authenticating): Promise<LiveToken> {
  const now = by.now()
  const id = by.randomBytes(FAMILY_ID_BYTES)
  const family = { id, accountId, createdAt: now, endsAt: now + ABSOLUTE_LIFE, revokedAt: null }
  const live = newToken(family, { now, token: newRefreshToken(by.randomBytes) }, by)
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
  const live = newToken(family, { now, token: newRefreshToken(by.randomBytes, token) }, by)
  await unit.rotate(hashOfToken(token), {
    usedAt: now,
    purgeAt: refHashOf(token) === null ? null : now + by.refreshGrace + KEPT_AFTER_GRACE,
    sealed: sealSuccessor(live.token, token, by.randomBytes(NONCE_BYTES)),
    successor: stored(live, now)
  })
  return live
}

/**
 * Seconds until a family's tokens may be rotated again; undefined where they may now. Counted by the tokens that were
 * issued, so all replicas count alike.
 */
export async function rotationWait(unit: AuthUnit, family: Family, now: number): Promise<number | undefined> {
  const issued = await unit.issuedSince(family.id, now - ROTATION_WINDOW)
  const decisive = issued[issued.length - MOST_ISSUED]
  return decisive === undefined ? undefined : Math.max(1, Math.ceil((decisive + ROTATION_WINDOW - now) / 1000))
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
 * log lines name as `session`. No call takes it, so whoever reads it can do nothing with it.
 */
export function sessionId(familyId: Buffer): string {
  return familyId.toString('hex')
}

/** Whether an account may log in and stay so: sample accounts may where SAMPLE_DATA is on. */
export function isUsable(account: StoredAccount, { sampleData }: Authenticating): boolean {
  return sampleData || !account.isSample
}

function newToken(
  { id, endsAt }: Family,
  { now, token }: { readonly now: number; readonly token: Buffer },
  { refreshTtl }: Authenticating
): LiveToken {
  return { token, familyId: id, expiresAt: Math.min(now + refreshTtl, endsAt) }
}

function stored({ token, familyId, expiresAt }: LiveToken, issuedAt: number): NewToken {
  const refHash = refHashOf(token)
  if (refHash === null) throw new TypeError('A new refresh token names its family')
  return { hash: hashOfToken(token), refHash, familyId, issuedAt, expiresAt }
}
