import type { AuthStore, AuthUnit } from '../../auth/auth-store.js'
import { DomainError } from '../../../shared/domain-error.js'
import { connect, type Database } from '../connect.js'
import { readerOf } from '../create-read-store.js'
import { attempt } from '../write/attempts.js'
import { openTransactions } from '../write/open-transactions.js'
import type { Transactions, WriteSession } from '../write/transactions.js'
import { addAccount, findAccount, getAccount } from './accounts.js'
import { findAttempts, keepAttempts, lockAttempts } from './login-attempts.js'
import { purgeAttempts, purgeSessions, purgeUsedTokens } from './purge.js'
import { addFamily, findToken, issuedSince, lockFamilyOf, revokeFamily, rotate } from './refresh-families.js'

/**
 * Connections for accounts and sessions alone: transactions that wait for each other's locks there, as the log-ins from
 * one address do, take none from reads and writes. A process runs fewer log-ins at once than this, so refreshes pass.
 */
const CONNECTIONS = 5

/**
 * Replicas that count log-ins from one address change one row. On Galera all but one of them meet a failed certification
 * at once, so they are tried more often than writes of entities.
 */
const TRIES = 12

const WHAT = 'The database'

export interface SqlAuthStore extends AuthStore {
  /** Waits for what still runs, then closes the connections that are this store's own. */
  close(): Promise<void>
}

interface AuthStoreOf {
  readonly transactions: Transactions
  /** From 0 up to 1, for waits between tries. */
  readonly random: () => number
}

/**
 * Accounts and sessions in the primary database. On a server they have a small pool of their own; the embedded database
 * has one writer, so there they share `transactions` with its write store.
 */
export function openAuthStore(primary: Database, { transactions, random }: AuthStoreOf): SqlAuthStore {
  if (primary.kind === 'sqlite') return createAuthStore(primary, { transactions, random })
  const own = connect(primary.settings, CONNECTIONS)
  const ownTransactions = openTransactions(own)
  const store = createAuthStore(own, { transactions: ownTransactions, random })
  return {
    ...store,
    close: async () => {
      await store.close()
      await ownTransactions.close()
      await own.sequelize.close()
    }
  }
}

/** As openAuthStore, on connections that the caller closes after this store. */
export function createAuthStore(database: Database, how: AuthStoreOf): SqlAuthStore {
  const { kind } = database
  const reader = readerOf(database, WHAT)
  const run = async <Result>(
    signal: AbortSignal,
    work: (session: WriteSession) => Promise<Result>
  ): Promise<Result> => {
    try {
      return await attempt({ ...how, what: WHAT, tries: TRIES }, signal, {
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
    findAccount: (signal, emailKey) => reader.read(signal, (session) => findAccount(session, emailKey)),
    findAttempts: (signal, keys) => reader.read(signal, (session) => findAttempts(session, keys)),
    transaction: (signal, work) => run(signal, (session) => work(unitOver(session, kind))),
    purgeAttempts: (now, most) => run(never, (session) => purgeAttempts(session, now, most)),
    purgeSessions: (now, most) => run(never, (session) => purgeSessions(session, now, most)),
    purgeUsedTokens: (now, most) => run(never, (session) => purgeUsedTokens(session, now, most)),
    close: () => reader.close()
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
    lockFamilyOf: (token) => lockFamilyOf(session, kind, token),
    issuedSince: (familyId, since) => issuedSince(session, familyId, since),
    revokeFamily: (id, at) => revokeFamily(session, id, at),
    findToken: (hash) => findToken(session, hash),
    rotate: (hash, rotation) => rotate(session, hash, rotation)
  }
}
