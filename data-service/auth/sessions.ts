import { DomainError } from '../../shared/errors.js'
import type { RefreshRequest__Output } from '../../shared/gen/auth/v1/RefreshRequest.js'
import type { RefreshResponse } from '../../shared/gen/auth/v1/RefreshResponse.js'
import type { RevokeAllRequest__Output } from '../../shared/gen/auth/v1/RevokeAllRequest.js'
import type { RevokeAllResponse } from '../../shared/gen/auth/v1/RevokeAllResponse.js'
import type { RevokeRequest__Output } from '../../shared/gen/auth/v1/RevokeRequest.js'
import type { RevokeResponse } from '../../shared/gen/auth/v1/RevokeResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { isMachine } from './accounts/machines.js'
import type { AuthUnit, Family, KeptToken, NewToken, StoredAccount } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import {
  hashOfToken,
  newRefreshToken,
  openSuccessor,
  parseRefreshToken,
  refHashOf,
  sealSuccessor,
  tokenKeys,
  writeRefreshToken
} from './tokens/refresh-token.js'
import { NONCE_BYTES } from './tokens/sealed-bytes.js'
import { ownSubject, trail } from './trail.js'

/** An open session as the rpcs Login and Refresh answer it. The expiries are RFC 3339 timestamps. */
export interface Session {
  readonly accessToken: string
  readonly accessTokenExpiry: string
  readonly refreshToken: string
  readonly refreshTokenExpiry: string
}

/** A valid refresh token in plain form. The store keeps only its hash. */
interface LiveToken {
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

/**
 * Starts a new refresh family, which is one session, and answers its first token. The account is as it was when its owner
 * was authenticated: if all its sessions were ended since, this one is over too.
 */
export async function openFamily(unit: AuthUnit, account: StoredAccount, deps: AuthDeps): Promise<LiveToken> {
  const now = deps.now()
  const family: Family = {
    id: deps.randomBytes(FAMILY_ID_BYTES),
    accountId: account.id,
    createdAt: now,
    endsAt: now + ABSOLUTE_LIFETIME,
    revokedAt: null,
    sessionGeneration: account.sessionGeneration
  }
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

/** Why an account may neither log in nor refresh its session, for the log; undefined if it may. */
export function whyUnusable(account: StoredAccount, deps: AuthDeps): string | undefined {
  return isMachine(account) ? 'a machine account' : whyOff(account, deps)
}

export type WithSampleData = Pick<AuthDeps, 'sampleData'>

/** Why an account gets no tokens of any kind, for the log; undefined if it gets some. */
export function whyOff(account: StoredAccount, { sampleData }: WithSampleData): string | undefined {
  if (account.disabledAt !== null) return 'disabled account'
  return account.isSample && !sampleData ? 'sample account, and SAMPLE_DATA is off' : undefined
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

/** A session that cannot go on. `why` is for the log. */
export interface SessionOver {
  /** `reused`: a used token came after its grace window, or was purged since, and the family was revoked. */
  readonly kind: 'invalid' | 'reused'
  readonly why: string
  readonly family?: Family
  readonly account?: StoredAccount
}

/** The session of a refresh token, whose family is locked. */
interface LiveSession {
  readonly kind: 'live'
  readonly family: Family
  readonly account: StoredAccount
  /** The newest token of the family. */
  readonly newest: LiveToken
  /** Whether the newest token is the given one. If not, the given one was used within its grace window. */
  readonly isNewest: boolean
}

/** A session with its new token. */
interface RefreshedSession {
  readonly kind: 'refreshed'
  readonly family: Family
  readonly account: StoredAccount
  readonly live: LiveToken
}

/** A session that got too many tokens of late. It goes on. `retryAfter` is in seconds. */
interface ThrottledSession {
  readonly kind: 'throttled'
  readonly family: Family
  readonly account: StoredAccount
  readonly retryAfter: number
}

/**
 * Rotates a refresh token (RFC 9700 section 4.14.2). A token that was used already is answered with the newest token of
 * its family during the grace window. After that the family is revoked, because either the client or a thief holds the
 * newest token. The same goes for a token that names a family but is not stored: used tokens are deleted in time. The
 * account is read anew, so that changed roles and claims are in the new access token.
 */
export function refresh(deps: AuthDeps): UnaryHandler<RefreshRequest__Output, RefreshResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const presented = { text, at: deps.now() }
    // An error thrown within the transaction would roll back the revocation of the family.
    const found = await deps.store.transaction(signal, async (unit) => {
      const session = await findSession(unit, presented, deps)
      if (session.kind !== 'live') return session
      const { family, account, newest } = session
      return session.isNewest
        ? await rotateUnlessThrottled(unit, session, deps)
        : ({ kind: 'refreshed', family, account, live: newest } as const)
    })
    const { family, account } = found
    const known = {
      event: 'refresh',
      clientAddress,
      account: account && ownSubject(deps, account),
      ...(family === undefined ? {} : { session: sessionId(family.id) })
    } as const
    switch (found.kind) {
      case 'refreshed':
        trail(log, { ...known, outcome: 'success' })
        return { session: sessionOf(found.account, found.live, deps) }
      case 'throttled': {
        const error = refreshedTooOften(found)
        trail(log, { ...known, outcome: 'throttled', code: error.code })
        throw error
      }
      default: {
        const error = sessionOver()
        trail(log, { ...known, outcome: outcomeOf(found), code: error.code, reason: found.why })
        throw error
      }
    }
  }
}

/** A refresh token as a call brings it. */
export interface PresentedToken {
  /** It may be any text. */
  readonly text: string
  /**
   * When the call came, in epoch milliseconds. The grace window ends for calls that come later, and not for those that wait
   * for the COMMIT of the refresh that used the token.
   */
  readonly at: number
}

/**
 * The session of a refresh token. Locks its family. Revokes the family of a token that was used before the grace window, so
 * the transaction must be committed in every case.
 */
export async function findSession(
  unit: AuthUnit,
  { text, at }: PresentedToken,
  deps: AuthDeps
): Promise<LiveSession | SessionOver> {
  const token = parseRefreshToken(text)
  if (token === undefined) return { kind: 'invalid', why: 'not a refresh token' }
  const keys = tokenKeys(token)
  const family = await unit.lockFamilyOf(keys)
  if (family === undefined) return { kind: 'invalid', why: 'unknown refresh token' }
  const account = await unit.getAccount(family.accountId)
  const invalid = (why: string): SessionOver => ({ kind: 'invalid', why, family, ...(account && { account }) })
  const now = deps.now()
  if (family.revokedAt !== null) return invalid('revoked session')
  if (family.endsAt <= now) return invalid('session past its absolute end')
  if (account === undefined) return invalid('no such account')
  const unusable = whyUnusable(account, deps)
  if (unusable !== undefined) return invalid(unusable)
  if (family.sessionGeneration !== account.sessionGeneration) return invalid('revoked session')
  const kept = await unit.findToken(keys.hash)
  const isNewest = kept !== undefined && kept.usedAt === null
  const isInGrace = kept !== undefined && kept.usedAt !== null && at <= kept.usedAt + deps.refreshGrace
  const newest = isNewest
    ? { token, familyId: family.id, expiresAt: kept.expiresAt }
    : isInGrace && (await newestSuccessor(unit, token, kept))
  if (newest === false || newest === undefined) {
    await unit.revokeFamily(family.id, now)
    return { kind: 'reused', why: 'a refresh token was used again', family, account }
  }
  return newest.expiresAt > now ? { kind: 'live', family, account, newest, isNewest } : invalid('expired refresh token')
}

/** Gives a live session a new token, unless it got too many of late. */
export async function rotateUnlessThrottled(
  unit: AuthUnit,
  { family, account, newest }: LiveSession,
  deps: AuthDeps
): Promise<RefreshedSession | ThrottledSession> {
  const retryAfter = await rotationWait(unit, family, deps.now())
  if (retryAfter !== undefined) return { kind: 'throttled', family, account, retryAfter }
  return { kind: 'refreshed', family, account, live: await rotate(unit, { token: newest.token, family }, deps) }
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

/** The outcome of a session that is over, for the trail. */
export function outcomeOf({ kind }: SessionOver): 'failure' | 'reuse' {
  return kind === 'reused' ? 'reuse' : 'failure'
}

export function sessionOver(): DomainError {
  return new DomainError('auth.invalid-token', 'The session is over. Log in again.')
}

export function refreshedTooOften({ retryAfter }: { readonly retryAfter: number }): DomainError {
  return new DomainError('quota-exceeded', 'The session is refreshed too often. Try again later.', { retryAfter })
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

/**
 * Ends all sessions of the account of a refresh token, if that token's own session is live: one that was revoked must not
 * decide about others. Any other token is an error, unlike with `revoke`: whoever asks would believe that a thief is out.
 */
export function revokeAll(deps: AuthDeps): UnaryHandler<RevokeAllRequest__Output, RevokeAllResponse> {
  return async ({ signal, log, clientAddress }, { refreshToken: text }) => {
    const presented = { text, at: deps.now() }
    const { found, sessions } = await deps.store.transaction(signal, async (unit) => {
      const found = await findSession(unit, presented, deps)
      const isLive = found.kind === 'live'
      return { found, sessions: isLive ? await unit.endSessions(found.account.id, deps.now()) : 0 }
    })
    const { family, account } = found
    const known = {
      event: 'logout-everywhere',
      clientAddress,
      account: account && ownSubject(deps, account),
      ...(family === undefined ? {} : { session: sessionId(family.id) })
    } as const
    if (found.kind === 'live') {
      trail(log, { ...known, outcome: 'success', sessions })
      return {}
    }
    const error = sessionOver()
    trail(log, { ...known, outcome: outcomeOf(found), code: error.code, reason: found.why })
    throw error
  }
}
