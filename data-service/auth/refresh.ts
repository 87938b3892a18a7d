import { DomainError } from '../../shared/domain-error.js'
import type { RefreshRequest__Output } from '../../shared/gen/auth/v1/RefreshRequest.js'
import type { RefreshResponse } from '../../shared/gen/auth/v1/RefreshResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { StoredAccount } from './account.js'
import type { AuthUnit, Family, KeptToken } from './auth-store.js'
import type { Authenticating } from './authenticating.js'
import { hashOfToken, openSuccessor, parseRefreshToken, tokenKeys } from './refresh-token.js'
import { isUsable, type LiveToken, rotate, rotationWait, sessionId, sessionOf } from './sessions.js'
import { ownSubject, trail } from './trail.js'

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
    // What a refusal changes is to be kept, so none is thrown within the transaction.
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
