import { DomainError } from '../../shared/errors.js'
import type { RefreshRequest__Output } from '../../shared/gen/auth/v1/RefreshRequest.js'
import type { RefreshResponse } from '../../shared/gen/auth/v1/RefreshResponse.js'
import type { RevokeRequest__Output } from '../../shared/gen/auth/v1/RevokeRequest.js'
import type { RevokeResponse } from '../../shared/gen/auth/v1/RevokeResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import type { AuthUnit, Family, KeptToken, NewToken, StoredAccount } from './accounts.js'
import type { Authenticating } from './authentication.js'
import {
  hashOfToken,
  newRefreshToken,
  NONCE_BYTES,
  openSuccessor,
  parseRefreshToken,
  refHashOf,
  sealSuccessor,
  tokenKeys,
  writeRefreshToken
} from './refresh-token.js'
import { ownSubject, trail } from './trail.js'

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

type Outcome =
  | { readonly kind: 'live'; readonly live: LiveToken }
  | { readonly kind: 'dead'; readonly why: string }
  | { readonly kind: 'throttled'; readonly retryAfter: number }
  | { readonly kind: 'reused' }

/** What became of a token, with what was found on the way. */
interface Found {
  readonly family?: Family
  readonly account?: StoredAccount
  readonly outcome: Outcome
}

/**
 * Rotates a refresh token. One that was used within the grace window is answered with the family's newest; after it,
 * the family is revoked, for either its owner or a thief holds the newest. That a token is no longer stored says no less:
 * used ones are purged, and it names its family.
 */
export function refresh(by: Authenticating): UnaryHandler<RefreshRequest__Output, RefreshResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    // What a rejection changes is to be kept, so none is thrown within the transaction.
    const { family, account, outcome }: Found =
      token === undefined
        ? { outcome: dead('not a refresh token') }
        : await by.store.transaction(signal, (unit) => refreshed(unit, token, by))
    const known = {
      event: 'refresh',
      clientAddress,
      account: account && ownSubject(by, account),
      ...(family === undefined ? {} : { session: sessionId(family.id) })
    } as const
    switch (outcome.kind) {
      case 'live':
        if (account === undefined) throw new TypeError('A live session has an account')
        trail(log, { ...known, outcome: 'success' })
        return { session: sessionOf(account, outcome.live, by) }
      case 'dead': {
        const error = over()
        trail(log, { ...known, outcome: 'failure', code: error.code, reason: outcome.why })
        throw error
      }
      case 'throttled': {
        const error = new DomainError('quota-exceeded', 'The session is refreshed too often. Try again later.', outcome)
        trail(log, { ...known, outcome: 'throttled', code: error.code })
        throw error
      }
      case 'reused': {
        const error = over()
        trail(log, { ...known, outcome: 'reuse', code: error.code, reason: 'a refresh token was used again' })
        throw error
      }
    }
  }
}

async function refreshed(unit: AuthUnit, token: Buffer, by: Authenticating): Promise<Found> {
  const keys = tokenKeys(token)
  const family = await unit.lockFamilyOf(keys)
  if (family === undefined) return { outcome: dead('unknown refresh token') }
  const account = await unit.getAccount(family.accountId)
  const found = { family, ...(account === undefined ? {} : { account }) }
  const now = by.now()
  if (family.revokedAt !== null) return { ...found, outcome: dead('revoked session') }
  if (family.endsAt <= now) return { ...found, outcome: dead('session past its absolute end') }
  if (account === undefined || !isUsable(account, by)) {
    return { ...found, outcome: dead('sample account, and SAMPLE_DATA is off') }
  }
  const kept = await unit.findToken(keys.hash)
  if (kept !== undefined && kept.usedAt === null) {
    if (kept.expiresAt <= now) return { ...found, outcome: dead('expired refresh token') }
    const retryAfter = await rotationWait(unit, family, now)
    if (retryAfter !== undefined) return { ...found, outcome: { kind: 'throttled', retryAfter } }
    return { ...found, outcome: { kind: 'live', live: await rotate(unit, { token, family }, by) } }
  }
  const isInGrace = kept !== undefined && kept.usedAt !== null && now <= kept.usedAt + by.refreshGrace
  const live = isInGrace ? await newestAfter(unit, token, kept) : undefined
  if (live === undefined) {
    await unit.revokeFamily(family.id, now)
    return { ...found, outcome: { kind: 'reused' } }
  }
  return { ...found, outcome: live.expiresAt > now ? { kind: 'live', live } : dead('expired refresh token') }
}

/** Whoever holds a token can open the one that followed it, and so on. undefined where one of them was purged. */
async function newestAfter(unit: AuthUnit, token: Buffer, kept: KeptToken): Promise<LiveToken | undefined> {
  let [newest, row] = [token, kept]
  while (row.successor !== null) {
    newest = openSuccessor(row.successor, newest)
    const next = await unit.findToken(hashOfToken(newest))
    if (next === undefined) return undefined
    row = next
  }
  return { token: newest, familyId: row.familyId, expiresAt: row.expiresAt }
}

function dead(why: string): Outcome {
  return { kind: 'dead', why }
}

function over(): DomainError {
  return new DomainError('auth.invalid-token', 'The session is over. Log in again.')
}

/** Ends the family of any of its tokens, used ones too. What nobody knows is as good as revoked. */
export function revoke(by: Authenticating): UnaryHandler<RevokeRequest__Output, RevokeResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    const entry = { event: 'logout', clientAddress } as const
    const found =
      token &&
      (await by.store.transaction(signal, async (unit) => {
        const family = await unit.lockFamilyOf(tokenKeys(token))
        if (family === undefined) return undefined
        if (family.revokedAt === null) await unit.revokeFamily(family.id, by.now())
        return { family, account: await unit.getAccount(family.accountId) }
      }))
    if (found === undefined) {
      trail(log, { ...entry, outcome: 'unknown', account: undefined, reason: 'unknown refresh token' })
      return {}
    }
    const { family, account } = found
    trail(log, {
      ...entry,
      outcome: 'success',
      account: account && ownSubject(by, account),
      session: sessionId(family.id),
      ...(family.revokedAt === null ? {} : { reason: 'the session was over already' })
    })
    return {}
  }
}
