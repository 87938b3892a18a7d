import { DomainError } from '../../shared/errors.js'
import type { RefreshRequest__Output } from '../../shared/gen/auth/v1/RefreshRequest.js'
import type { RefreshResponse } from '../../shared/gen/auth/v1/RefreshResponse.js'
import type { RevokeRequest__Output } from '../../shared/gen/auth/v1/RevokeRequest.js'
import type { RevokeResponse } from '../../shared/gen/auth/v1/RevokeResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import type { AuthUnit, Family, KeptToken, NewToken, StoredAccount } from './accounts.js'
import type { AuthDeps } from './authentication.js'
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

/** An open session as the rpcs Login and Refresh answer it. The expiries are RFC 3339 timestamps. */
export interface Session {
  readonly accessToken: string
  readonly accessTokenExpiry: string
  readonly refreshToken: string
  readonly refreshTokenExpiry: string
}

/** A valid refresh token in plain form. The store keeps only its hash. */
export interface LiveToken {
  readonly token: Buffer
  readonly familyId: Buffer
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Milliseconds. Each refresh extends a session, but never beyond this time after its login (contract.md section 1). */
const ABSOLUTE_LIFETIME = 30 * 24 * 60 * 60_000

const FAMILY_ID_BYTES = 16

/** The limit of refreshes: tokens that a family may get within ROTATION_WINDOW milliseconds, its first token included. */
const MAX_ISSUED = 60
const ROTATION_WINDOW = 60_000

/**
 * Milliseconds that a used token is stored after its grace window: the clocks of replicas differ, and `rotationWait` counts
 * the tokens of the last ROTATION_WINDOW.
 */
const KEPT_AFTER_GRACE = 60_000

/** Starts a new refresh family, which is one session, and answers its first token. */
export async function openFamily(unit: AuthUnit, accountId: string, deps: AuthDeps): Promise<LiveToken> {
  const now = deps.now()
  const id = deps.randomBytes(FAMILY_ID_BYTES)
  const family = { id, accountId, createdAt: now, endsAt: now + ABSOLUTE_LIFETIME, revokedAt: null }
  const live = newToken(family, { now, token: newRefreshToken(deps.randomBytes) }, deps)
  await unit.addFamily(family, storedToken(live, now))
  return live
}

/** Replaces the newest token of a family with a new one. The caller holds the lock of the family. */
async function rotate(
  unit: AuthUnit,
  { token, family }: { readonly token: Buffer; readonly family: Family },
  deps: AuthDeps
): Promise<LiveToken> {
  const now = deps.now()
  const live = newToken(family, { now, token: newRefreshToken(deps.randomBytes, token) }, deps)
  await unit.rotate(hashOfToken(token), {
    usedAt: now,
    purgeAt: refHashOf(token) === null ? null : now + deps.refreshGrace + KEPT_AFTER_GRACE,
    sealed: sealSuccessor(live.token, token, deps.randomBytes(NONCE_BYTES)),
    successor: storedToken(live, now)
  })
  return live
}

/**
 * Seconds until a family may be refreshed again; undefined if it may be refreshed now. The count is that of the stored
 * tokens, so all replicas count alike.
 */
async function rotationWait(unit: AuthUnit, family: Family, now: number): Promise<number | undefined> {
  const issued = await unit.issuedSince(family.id, now - ROTATION_WINDOW)
  const decisive = issued[issued.length - MAX_ISSUED]
  return decisive === undefined ? undefined : Math.max(1, Math.ceil((decisive + ROTATION_WINDOW - now) / 1000))
}

export function sessionOf(account: StoredAccount, live: LiveToken, deps: AuthDeps): Session {
  const access = deps.accessToken(account, sessionId(live.familyId))
  return {
    accessToken: access.token,
    accessTokenExpiry: new Date(access.expiresAt).toISOString(),
    refreshToken: writeRefreshToken(live.token),
    refreshTokenExpiry: new Date(live.expiresAt).toISOString()
  }
}

/**
 * The claim `sid` of a session's access tokens. Each login makes a new one and a refresh keeps it. It is the random id of
 * the family; log lines have it as `session`. No call accepts it, so it gives its reader no access.
 */
export function sessionId(familyId: Buffer): string {
  return familyId.toString('hex')
}

/** Whether an account may log in and refresh its session. Sample accounts may only while SAMPLE_DATA is on. */
export function isUsable(account: StoredAccount, { sampleData }: AuthDeps): boolean {
  return sampleData || !account.isSample
}

function newToken(
  { id, endsAt }: Family,
  { now, token }: { readonly now: number; readonly token: Buffer },
  { refreshTtl }: AuthDeps
): LiveToken {
  return { token, familyId: id, expiresAt: Math.min(now + refreshTtl, endsAt) }
}

function storedToken({ token, familyId, expiresAt }: LiveToken, issuedAt: number): NewToken {
  const refHash = refHashOf(token)
  if (refHash === null) throw new TypeError('A new refresh token names its family')
  return { hash: hashOfToken(token), refHash, familyId, issuedAt, expiresAt }
}

type Outcome =
  | { readonly kind: 'live'; readonly live: LiveToken }
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'throttled'; readonly retryAfter: number }
  | { readonly kind: 'reused' }

/** The outcome of a refresh, with the family and the account of the token where they are known. */
interface RefreshResult {
  readonly family?: Family
  readonly account?: StoredAccount
  readonly outcome: Outcome
}

/**
 * Rotates a refresh token (RFC 9700 section 4.14.2). A token that was used already is answered with the newest token of
 * its family during the grace window. After that the family is revoked, because either the client or a thief holds the
 * newest token. The same goes for a token that names a family but is not stored: used tokens are deleted in time.
 */
export function refresh(deps: AuthDeps): UnaryHandler<RefreshRequest__Output, RefreshResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    // An error thrown within the transaction would roll back the revocation of the family.
    const { family, account, outcome }: RefreshResult =
      token === undefined
        ? { outcome: invalid('not a refresh token') }
        : await deps.store.transaction(signal, (unit) => rotateOrReject(unit, token, deps))
    const known = {
      event: 'refresh',
      clientAddress,
      account: account && ownSubject(deps, account),
      ...(family === undefined ? {} : { session: sessionId(family.id) })
    } as const
    switch (outcome.kind) {
      case 'live':
        if (account === undefined) throw new TypeError('A live session has an account')
        trail(log, { ...known, outcome: 'success' })
        return { session: sessionOf(account, outcome.live, deps) }
      case 'invalid': {
        const error = sessionOver()
        trail(log, { ...known, outcome: 'failure', code: error.code, reason: outcome.why })
        throw error
      }
      case 'throttled': {
        const error = new DomainError('quota-exceeded', 'The session is refreshed too often. Try again later.', outcome)
        trail(log, { ...known, outcome: 'throttled', code: error.code })
        throw error
      }
      case 'reused': {
        const error = sessionOver()
        trail(log, { ...known, outcome: 'reuse', code: error.code, reason: 'a refresh token was used again' })
        throw error
      }
    }
  }
}

async function rotateOrReject(unit: AuthUnit, token: Buffer, deps: AuthDeps): Promise<RefreshResult> {
  const keys = tokenKeys(token)
  const family = await unit.lockFamilyOf(keys)
  if (family === undefined) return { outcome: invalid('unknown refresh token') }
  const account = await unit.getAccount(family.accountId)
  const found = { family, ...(account === undefined ? {} : { account }) }
  const now = deps.now()
  if (family.revokedAt !== null) return { ...found, outcome: invalid('revoked session') }
  if (family.endsAt <= now) return { ...found, outcome: invalid('session past its absolute end') }
  if (account === undefined || !isUsable(account, deps)) {
    return { ...found, outcome: invalid('sample account, and SAMPLE_DATA is off') }
  }
  const kept = await unit.findToken(keys.hash)
  if (kept !== undefined && kept.usedAt === null) {
    if (kept.expiresAt <= now) return { ...found, outcome: invalid('expired refresh token') }
    const retryAfter = await rotationWait(unit, family, now)
    if (retryAfter !== undefined) return { ...found, outcome: { kind: 'throttled', retryAfter } }
    return { ...found, outcome: { kind: 'live', live: await rotate(unit, { token, family }, deps) } }
  }
  const isInGrace = kept !== undefined && kept.usedAt !== null && now <= kept.usedAt + deps.refreshGrace
  const live = isInGrace ? await newestSuccessor(unit, token, kept) : undefined
  if (live === undefined) {
    await unit.revokeFamily(family.id, now)
    return { ...found, outcome: { kind: 'reused' } }
  }
  return { ...found, outcome: live.expiresAt > now ? { kind: 'live', live } : invalid('expired refresh token') }
}

/**
 * Follows the chain of successors from a used token to the newest one. Each token is the key that its successor is sealed
 * with. Answers undefined if a token of the chain is no longer stored.
 */
async function newestSuccessor(unit: AuthUnit, token: Buffer, kept: KeptToken): Promise<LiveToken | undefined> {
  let [newest, row] = [token, kept]
  while (row.successor !== null) {
    newest = openSuccessor(row.successor, newest)
    const next = await unit.findToken(hashOfToken(newest))
    if (next === undefined) return undefined
    row = next
  }
  return { token: newest, familyId: row.familyId, expiresAt: row.expiresAt }
}

function invalid(why: string): Outcome {
  return { kind: 'invalid', why }
}

function sessionOver(): DomainError {
  return new DomainError('auth.invalid-token', 'The session is over. Log in again.')
}

/**
 * Ends the session of a refresh token, which may have been used already. An unknown token is no error (RFC 7009 section
 * 2.2): there is no session to end.
 */
export function revoke(deps: AuthDeps): UnaryHandler<RevokeRequest__Output, RevokeResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    const entry = { event: 'logout', clientAddress } as const
    const found =
      token &&
      (await deps.store.transaction(signal, async (unit) => {
        const family = await unit.lockFamilyOf(tokenKeys(token))
        if (family === undefined) return undefined
        if (family.revokedAt === null) await unit.revokeFamily(family.id, deps.now())
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
      account: account && ownSubject(deps, account),
      session: sessionId(family.id),
      ...(family.revokedAt === null ? {} : { reason: 'the session was over already' })
    })
    return {}
  }
}
