import { DomainError } from '../../../shared/errors.js'
import type { EmittedEvent } from '../../entity/event.js'
import {
  accountKey,
  type AuthStore,
  type AuthUnit,
  type DescribedAccount,
  type StoredAccount
} from '../../auth/accounts/accounts.js'
import { AccountLinkRows } from './account-links.js'
import { MachineSecretRows } from './machine-secrets.js'
import { OneTimeLinkRows } from './one-time-links.js'
import { EventRows } from './outbox.js'
import { AccountRows, LoginAttemptRows, selectedRows, type Select, select } from './account-rows.js'
import type { Database } from '../engines/engine.js'
import type { ReadSession, Transactions, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { bytes, type SqlDialect } from '../engines/statement.js'
import { deleteListed } from './idempotency-keys.js'
import { RefreshFamilies } from './refresh-families.js'
import { runTransaction } from '../transactions.js'

/**
 * Most connections of the pool for accounts and sessions. Logins from one address wait for each other's locks; in a pool
 * of their own they take no connection from reads and writes. A process runs fewer logins at once than this, so that
 * refreshes get a connection too.
 */
const CONNECTIONS = 5

/**
 * Replicas that count logins from one address change one row. On a Galera cluster all of them but one fail certification
 * at once, so these transactions are tried more often than writes of entities.
 */
const TRIES = 12

const WHAT = 'The database'

interface SqlAuthStore extends AuthStore {
  /** Waits for running work, then closes the connections of this store's own pool. */
  close(): Promise<void>
}

interface AuthStoreDeps {
  readonly tables: OwnTables
  readonly transactions: Transactions
  /** A random number from 0 up to 1, for the waits between tries. */
  readonly random: () => number
  /** Called after the COMMIT of a transaction that has emitted an event. */
  readonly onEmitted?: () => void
}

/**
 * Accounts and sessions in the primary database, over a small pool of their own. Where the engine has one writer at a
 * time they share `transactions` with the write store.
 */
export function openAuthStore(primary: Database, deps: AuthStoreDeps): SqlAuthStore & Pick<Database, 'poolState'> {
  const own = primary.withOwnPool(CONNECTIONS)
  if (own === undefined) return { ...createAuthStore(primary, deps), poolState: () => undefined }
  const ownTransactions = own.openTransactions()
  const store = createAuthStore(own, { ...deps, transactions: ownTransactions })
  return {
    ...store,
    poolState: () => own.poolState(),
    close: async () => {
      await store.close()
      await ownTransactions.close()
      await own.sequelize.close()
    }
  }
}

/** As openAuthStore, on a database that the caller closes after this store. */
export function createAuthStore(database: Database, deps: AuthStoreDeps): SqlAuthStore {
  const { dialect } = database
  const { tables, onEmitted = () => undefined } = deps
  const reader = database.openReader(WHAT)
  const parts = partsOf(tables, dialect)
  const { accounts, attempts, links, secrets, oneTimeLinks, emitted, families } = parts
  const purges = purgesOf(tables)
  const run = async <Result>(
    signal: AbortSignal,
    work: (session: WriteSession) => Promise<Result>
  ): Promise<Result> => {
    try {
      return await runTransaction({ ...deps, what: WHAT, tries: TRIES }, signal, {
        run: work,
        // Repeating a login leaves an unused session. A repeated refresh finds its first result within the grace window.
        isRepeatable: () => true
      })
    } catch (error) {
      throw error instanceof DomainError && error.code === 'conflict' ? databaseBusy(error.cause) : error
    }
  }
  const never = new AbortController().signal
  return {
    findAccount: (signal, emailKey) => reader.read(signal, (session) => accounts.find(session, emailKey)),
    listLinks: (signal) => reader.read(signal, (session) => links.list(session)),
    listSecrets: (signal) => reader.read(signal, (session) => secrets.list(session)),
    listAccounts: (signal) => reader.read(signal, (session) => accounts.list(session)),
    accountsAfter: (signal, page) => reader.read(signal, (session) => accounts.after(session, page)),
    describeAccount: (signal, id) =>
      reader.read(signal, async (session) => {
        const account = await accounts.get(session, id)
        return account && describedOver(session, account, parts)
      }),
    sessionsOf: (signal, account, now) => reader.read(signal, (session) => families.live(session, account, now)),
    findAttempts: (signal, keys) => reader.read(signal, (session) => attempts.find(session, keys)),
    findOneTimeLink: (signal, hash, now) => reader.read(signal, (session) => oneTimeLinks.find(session, hash, now)),
    transaction: async (signal, work) => {
      let hasEmitted = false
      const result = await run(signal, (session) => {
        hasEmitted = false
        const emit = async (event: EmittedEvent): Promise<void> => {
          hasEmitted = true
          await emitted.insert(session, event)
        }
        return work(unitOver(session, parts, emit))
      })
      if (hasEmitted) onEmitted()
      return result
    },
    purgeAttempts: (now, limit) => run(never, (session) => purge(session, purges.attempts, { now, limit })),
    purgeOneTimeLinks: (now, limit) => run(never, (session) => purge(session, purges.oneTimeLinks, { now, limit })),
    purgeSessions: (now, limit) =>
      run(never, async (session) => {
        const tokens = await purge(session, purges.tokensOfExpiredFamilies, { now, limit })
        return tokens > 0 ? tokens : await purge(session, purges.families, { now, limit })
      }),
    purgeUsedTokens: (now, limit) => run(never, (session) => purge(session, purges.usedTokens, { now, limit })),
    close: () => reader.close()
  }
}

/** The answer to any conflict here: nearly always a lost race, which the caller did not cause. Trying again helps. */
function databaseBusy(cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', 'The database is busy. Try again.', { retryAfter: 1, cause })
}

/** The tables of accounts and sessions, with their statements made once. */
interface Parts {
  readonly accounts: AccountRows
  readonly attempts: LoginAttemptRows
  readonly links: AccountLinkRows
  readonly secrets: MachineSecretRows
  readonly oneTimeLinks: OneTimeLinkRows
  readonly emitted: EventRows
  readonly families: RefreshFamilies
}

type Emit = AuthUnit['emit']

/** The same tables within transactions of others, which emit the events. */
export function authUnits(tables: OwnTables, dialect: SqlDialect): (session: WriteSession, emit: Emit) => AuthUnit {
  const parts = partsOf(tables, dialect)
  return (session, emit) => unitOver(session, parts, emit)
}

function partsOf(tables: OwnTables, dialect: SqlDialect): Parts {
  return {
    accounts: new AccountRows(tables, dialect),
    attempts: new LoginAttemptRows(tables, dialect),
    links: new AccountLinkRows(tables),
    secrets: new MachineSecretRows(tables),
    oneTimeLinks: new OneTimeLinkRows(tables),
    emitted: new EventRows(tables),
    families: new RefreshFamilies(tables, dialect)
  }
}

async function describedOver(
  session: ReadSession,
  account: StoredAccount,
  { links, secrets }: Parts
): Promise<DescribedAccount> {
  return {
    ...account,
    identities: await links.ofAccount(session, account.id),
    secrets: await secrets.ofAccount(session, accountKey(account.email))
  }
}

function unitOver(session: WriteSession, parts: Parts, emit: Emit): AuthUnit {
  const { accounts, attempts: logins, links, secrets, oneTimeLinks, families } = parts
  return {
    findAccount: (emailKey) => accounts.find(session, emailKey),
    getAccount: (id) => accounts.get(session, id),
    lockAccount: async (id) => {
      const account = await accounts.lock(session, id)
      return account && describedOver(session, account, parts)
    },
    addAccount: (account) => accounts.insertOrKeep(session, account),
    changeAccount: (id, change) => accounts.change(session, id, change),
    setPassword: (id, hash, verified) => accounts.setPassword(session, id, { hash, verified }),
    endSessions: (accountId, at, kept) => families.endSessions(session, accountId, { at, kept }),
    endSession: (accountId, family, at) => families.endOne(session, accountId, { family, at }),
    insertAccount: (account) => accounts.insert(session, account),
    findLink: (key) => links.find(session, key),
    addLink: (link) => links.add(session, link),
    removeLink: (key) => links.remove(session, key),
    secretsOf: (accountKey) => secrets.ofAccount(session, accountKey),
    addSecret: (accountId, secret) => secrets.add(session, accountId, secret),
    removeSecret: (accountId, slot) => secrets.remove(session, accountId, slot),
    dropExpiredSecret: (accountId, of) => secrets.dropExpired(session, accountId, of),
    secretUsed: (accountId, use) => secrets.used(session, accountId, use),
    addOneTimeLink: (link, event) => oneTimeLinks.add(session, link, event),
    countOneTimeLinks: (emailKey, of) => oneTimeLinks.count(session, emailKey, of),
    takeOneTimeLink: (hash, now) => oneTimeLinks.take(session, hash, now),
    dropOneTimeLinks: (emailKey) => oneTimeLinks.drop(session, emailKey),
    emit,

    lockAttempts: (keyHash) => logins.lock(session, keyHash),
    keepAttempts: (keyHash, attempts, expiresAt) => logins.keep(session, keyHash, { attempts, expiresAt }),
    addFamily: (family, token) => families.add(session, family, token),
    lockFamilyOf: (token) => families.lockFamilyOf(session, token),
    issuedSince: (familyId, since) => families.issuedSince(session, familyId, since),
    revokeFamily: (id, at) => families.revoke(session, id, at),
    findToken: (hash) => families.findToken(session, hash),
    rotate: (hash, rotation) => families.rotate(session, hash, rotation)
  }
}

/** Rows of one DELETE at most. */
const ROWS_PER_DELETE = 1024

/** A SELECT of the keys of rows that are no longer needed, and the beginning of the DELETE of these keys. */
interface Purge {
  readonly find: Select<{ readonly key_bytes: typeof bytes }>
  readonly statement: string
}

function purgesOf({ sql }: OwnTables) {
  const { login_attempts: attempts, one_time_links: links, refresh_families: families, refresh_tokens: tokens } = sql
  const keys = (rows: string): Purge['find'] => select({ key_bytes: bytes }, `FROM (${rows} LIMIT $limit) AS found`)
  const expired = (table: string, key: string): Purge['find'] =>
    keys(`SELECT ${key} AS key_bytes FROM ${table} WHERE expires_at <= $now ORDER BY expires_at`)
  return {
    // A row that got a new attempt meanwhile is not expired any more, so the condition is checked again.
    attempts: {
      find: expired(attempts, 'key_hash'),
      statement: `DELETE FROM ${attempts} WHERE expires_at <= $now AND key_hash IN`
    },
    oneTimeLinks: {
      find: expired(links, 'link_hash'),
      statement: `DELETE FROM ${links} WHERE expires_at <= $now AND link_hash IN`
    },
    // These come before the families: a family is deleted together with its tokens, and there may be thousands of them.
    tokensOfExpiredFamilies: {
      find: keys(
        `SELECT t.token_hash AS key_bytes FROM ${families} f JOIN ${tokens} t ON t.family_id = f.id ` +
          'WHERE f.expires_at <= $now'
      ),
      statement: `DELETE FROM ${tokens} WHERE token_hash IN`
    },
    families: {
      find: expired(families, 'id'),
      statement: `DELETE FROM ${families} WHERE expires_at <= $now AND id IN`
    },
    // Also tokens of families that are still valid: a deleted token that is presented names its family.
    usedTokens: {
      find: keys(`SELECT token_hash AS key_bytes FROM ${tokens} WHERE purge_at <= $now ORDER BY purge_at`),
      statement: `DELETE FROM ${tokens} WHERE purge_at <= $now AND token_hash IN`
    }
  } as const satisfies Record<string, Purge>
}

async function purge(
  session: WriteSession,
  { find, statement }: Purge,
  { now, limit }: { readonly now: number; readonly limit: number }
): Promise<number> {
  const found = await selectedRows(session, find, { now: BigInt(now), limit: BigInt(Math.min(limit, ROWS_PER_DELETE)) })
  return await deleteListed(session, statement, { keys: found.map((row) => row.key_bytes), now })
}
