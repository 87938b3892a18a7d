import { DomainError } from '../../shared/domain-error.js'
import type { RefreshRequest__Output } from '../../shared/gen/auth/v1/RefreshRequest.js'
import type { RefreshResponse } from '../../shared/gen/auth/v1/RefreshResponse.js'
import type { UnaryHandler } from '../rpc/call-context.js'
import type { StoredAccount } from './account.js'
import type { AuthUnit, Family, KeptToken } from './auth-store.js'
import type { Authenticating } from './authenticating.js'
import { hashOfToken, openSuccessor, parseRefreshToken } from './refresh-token.js'
import { isUsable, type LiveToken, rotate, sessionOf } from './sessions.js'

type Outcome =
  | { readonly kind: 'live'; readonly account: StoredAccount; readonly live: LiveToken }
  | { readonly kind: 'dead'; readonly why: string }
  | { readonly kind: 'reused'; readonly family: Family }

/**
 * Rotates a refresh token. One that was used within the grace window is answered with the family's newest; after it,
 * the family is revoked, for either its owner or a thief holds the newest.
 */
export function refresh(by: Authenticating): UnaryHandler<RefreshRequest__Output, RefreshResponse> {
  return async ({ signal, log }, { refreshToken: text }) => {
    const token = parseRefreshToken(text)
    if (token === undefined) throw over('not a refresh token')
    // What a refusal changes is to be kept, so none is thrown within the transaction.
    const outcome = await by.store.transaction(signal, (unit) => refreshed(unit, token, by))
    switch (outcome.kind) {
      case 'live':
        return { session: sessionOf(outcome.account, outcome.live, by) }
      case 'dead':
        throw over(outcome.why)
      case 'reused': {
        const { id, accountId } = outcome.family
        const what = { reason: 'a refresh token was used again', family: id.toString('hex'), account: accountId }
        log.warn(what, 'refresh family revoked')
        throw over()
      }
    }
  }
}

async function refreshed(unit: AuthUnit, token: Buffer, by: Authenticating): Promise<Outcome> {
  const hash = hashOfToken(token)
  const family = await unit.lockFamilyOf(hash)
  const kept = family && (await unit.findToken(hash))
  if (family === undefined || kept === undefined) return dead('unknown refresh token')
  const now = by.now()
  if (family.revokedAt !== null) return dead('revoked session')
  if (family.endsAt <= now) return dead('session past its absolute end')
  const account = await unit.getAccount(family.accountId)
  if (account === undefined || !isUsable(account, by)) return dead('sample account, and SAMPLE_DATA is off')
  if (kept.usedAt === null) {
    if (kept.expiresAt <= now) return dead('expired refresh token')
    return { kind: 'live', account, live: await rotate(unit, { token, family }, by) }
  }
  if (now > kept.usedAt + by.refreshGrace) {
    await unit.revokeFamily(family.id, now)
    return { kind: 'reused', family }
  }
  const live = await newestAfter(unit, token, kept)
  return live.expiresAt > now ? { kind: 'live', account, live } : dead('expired refresh token')
}

/** Whoever holds a token can open the one that followed it, and so on. */
async function newestAfter(unit: AuthUnit, token: Buffer, kept: KeptToken): Promise<LiveToken> {
  let [newest, row] = [token, kept]
  while (row.successor !== null) {
    newest = openSuccessor(row.successor, newest)
    const next = await unit.findToken(hashOfToken(newest))
    if (next === undefined) throw new TypeError('A used refresh token has no successor')
    row = next
  }
  return { token: newest, familyId: row.familyId, expiresAt: row.expiresAt }
}

function dead(why: string): Outcome {
  return { kind: 'dead', why }
}

/** `why` is for the log alone. */
function over(why?: string): DomainError {
  const cause = why === undefined ? {} : { cause: new Error(why) }
  return new DomainError('auth.invalid-token', 'The session is over. Log in again.', cause)
}
