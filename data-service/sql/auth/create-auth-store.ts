import type { AuthStore, AuthUnit } from '../../auth/auth-store.js'
import { DomainError } from '../../../shared/domain-error.js'
import type { Database } from '../connect.js'
import { attempt } from '../write/attempts.js'
import type { Transactions, WriteSession } from '../write/transactions.js'
import { addAccount, findAccount, getAccount } from './accounts.js'
import { keepAttempts, lockAttempts } from './login-attempts.js'
import { purgeAttempts, purgeSessions } from './purge.js'
import { addFamily, findToken, lockFamilyOf, revokeFamily, rotate } from './refresh-families.js'

/** Accounts and sessions in the primary database, on the transactions that its write store runs on too. */
export function createAuthStore(
  kind: Database['kind'],
  how: { readonly transactions: Transactions; readonly random: () => number }
): AuthStore {
  const run = async <Result>(
    signal: AbortSignal,
    work: (session: WriteSession) => Promise<Result>
  ): Promise<Result> => {
    try {
      return await attempt({ ...how, what: 'The database' }, signal, {
        run: work,
        // Done twice a log-in leaves a session that nobody has, and a refresh finds what it did within the grace window.
        isRepeatable: () => true
      })
    } catch (error) {
      throw error instanceof DomainError && error.code === 'conflict' ? busy(error.cause) : error
    }
  }
  const never = new AbortController().signal
  return {
    transaction: (signal, work) => run(signal, (session) => work(unitOver(session, kind))),
    purgeAttempts: (now, most) => run(never, (session) => purgeAttempts(session, now, most)),
    purgeSessions: (now, most) => run(never, (session) => purgeSessions(session, now, most))
  }
}

/** A session that lost its races is no conflict of the caller's making, and goes on. */
function busy(cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', 'The database is busy. Try again.', { retryAfter: 1, cause })
}

function unitOver(session: WriteSession, kind: Database['kind']): AuthUnit {
  return {
    findAccount: (emailKey) => findAccount(session, emailKey),
    getAccount: (id) => getAccount(session, id),
    addAccount: (account) => addAccount(session, kind, account),
    lockAttempts: (keyHash) => lockAttempts(session, kind, keyHash),
    keepAttempts: (keyHash, attempts, expiresAt) => keepAttempts(session, keyHash, { attempts, expiresAt }),
    addFamily: (family, token) => addFamily(session, family, token),
    lockFamilyOf: (tokenHash) => lockFamilyOf(session, kind, tokenHash),
    revokeFamily: (id, at) => revokeFamily(session, id, at),
    findToken: (hash) => findToken(session, hash),
    rotate: (hash, rotation) => rotate(session, hash, rotation)
  }
}
