import { DomainError } from '../../shared/errors.js'
import type { AuthStore, AuthUnit } from '../auth/accounts.js'
import { addLink, findLink, listLinks, removeLink } from './account-links.js'
import {
  addAccount,
  addAccountText,
  binary,
  changeAccount,
  findAccount,
  findAttempts,
  getAccount,
  INSERT_NEW_ACCOUNT,
  keepAttempts,
  listAccounts,
  lockAttempts,
  lockAttemptsText,
  rowsOf,
  type Select,
  select,
  setPassword
} from './account-rows.js'
import type { Database, Transactions, WriteSession } from './engines/engine.js'
import { deleteListed } from './idempotency-keys.js'
import {
  addFamily,
  endSessions,
  findToken,
  issuedSince,
  lockFamilyOf,
  lockFamilySelect,
  revokeFamily,
  rotate
} from './refresh-families.js'
import { runTransaction } from './transactions.js'

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
  readonly transactions: Transactions
  /** A random number from 0 up to 1, for the waits between tries. */
  readonly random: () => number
}

/**
 * Accounts and sessions in the primary database, over a small pool of their own. Where the engine has one writer at a
 * time they share `transactions` with the write store.
 */
export function openAuthStore(primary: Database, { transactions, random }: AuthStoreDeps): SqlAuthStore {
  const own = primary.withOwnPool(CONNECTIONS)
  if (own === undefined) return createAuthStore(primary, { transactions, random })
  const ownTransactions = own.openTransactions()
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

/** As openAuthStore, on a database that the caller closes after this store. */
export function createAuthStore(database: Database, deps: AuthStoreDeps): SqlAuthStore {
  const { dialect } = database
  const reader = database.openReader(WHAT)
  const texts: DialectTexts = {
    addAccount: addAccountText(dialect),
    lockAttempts: lockAttemptsText(dialect),
    lockFamily: lockFamilySelect(dialect)
  }
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
      throw error instanceof DomainError && error.code === 'conflict' ? busy(error.cause) : error
    }
  }
  const never = new AbortController().signal
  return {
    findAccount: (signal, emailKey) => reader.read(signal, (session) => findAccount(session, emailKey)),
    listLinks: (signal) => reader.read(signal, listLinks),
    listAccounts: (signal) => reader.read(signal, listAccounts),
    findAttempts: (signal, keys) => reader.read(signal, (session) => findAttempts(session, keys)),
    transaction: (signal, work) => run(signal, (session) => work(unitOver(session, texts))),
    purgeAttempts: (now, limit) => run(never, (session) => purgeAttempts(session, now, limit)),
    purgeSessions: (now, limit) => run(never, (session) => purgeSessions(session, now, limit)),
    purgeUsedTokens: (now, limit) => run(never, (session) => purgeUsedTokens(session, now, limit)),
    close: () => reader.close()
  }
}

/** The answer to any conflict here: nearly always a lost race, which the caller did not cause. Trying again helps. */
function busy(cause: unknown): DomainError {
  return new DomainError('upstream.unavailable', 'The database is busy. Try again.', { retryAfter: 1, cause })
}

/** Statements whose text depends on the kind of database, made once. */
interface DialectTexts {
  readonly addAccount: ReturnType<typeof addAccountText>
  readonly lockAttempts: ReturnType<typeof lockAttemptsText>
  readonly lockFamily: ReturnType<typeof lockFamilySelect>
}

function unitOver(session: WriteSession, texts: DialectTexts): AuthUnit {
  return {
    findAccount: (emailKey) => findAccount(session, emailKey),
    getAccount: (id) => getAccount(session, id),
    addAccount: (account) => addAccount(session, texts.addAccount, account),
    changeAccount: (id, change) => changeAccount(session, id, change),
    setPassword: (id, hash, verified) => setPassword(session, id, { hash, verified }),
    endSessions: (accountId, at, kept) => endSessions(session, accountId, { at, kept }),
    insertAccount: (account) => addAccount(session, INSERT_NEW_ACCOUNT, account),
    findLink: (key) => findLink(session, key),
    addLink: (link) => addLink(session, link),
    removeLink: (key) => removeLink(session, key),

    lockAttempts: (keyHash) => lockAttempts(session, texts.lockAttempts, keyHash),
    keepAttempts: (keyHash, attempts, expiresAt) => keepAttempts(session, keyHash, { attempts, expiresAt }),
    addFamily: (family, token) => addFamily(session, family, token),
    lockFamilyOf: (token) => lockFamilyOf(session, texts.lockFamily, token),
    issuedSince: (familyId, since) => issuedSince(session, familyId, since),
    revokeFamily: (id, at) => revokeFamily(session, id, at),
    findToken: (hash) => findToken(session, hash),
    rotate: (hash, rotation) => rotate(session, hash, rotation)
  }
}

/** Rows of one DELETE at most. */
const AT_ONCE = 1024

type KeySelect = Select<{ readonly key_bytes: typeof binary }>

const FIND_EXPIRED_ATTEMPTS = expired('login_attempts', 'key_hash')
const FIND_EXPIRED_FAMILIES = expired('refresh_families', 'id')
const FIND_TOKENS_OF_EXPIRED_FAMILIES = select(
  { key_bytes: binary },
  'FROM (SELECT t.token_hash AS key_bytes FROM refresh_families f JOIN refresh_tokens t ON t.family_id = f.id ' +
    'WHERE f.expires_at <= $now LIMIT $limit) AS dead'
)

const FIND_USED_TOKENS = select(
  { key_bytes: binary },
  'FROM (SELECT token_hash AS key_bytes FROM refresh_tokens WHERE purge_at <= $now ORDER BY purge_at LIMIT $limit) AS used'
)

function purgeAttempts(session: WriteSession, now: number, limit: number): Promise<number> {
  // A row that got a new attempt meanwhile is not expired any more, so the condition is checked again.
  const statement = 'DELETE FROM login_attempts WHERE expires_at <= $now AND key_hash IN'
  return purge(session, { find: FIND_EXPIRED_ATTEMPTS, statement }, { now, limit })
}

/** Deletes tokens first: a family is deleted together with its tokens, and there may be thousands of them. */
async function purgeSessions(session: WriteSession, now: number, limit: number): Promise<number> {
  const statement = 'DELETE FROM refresh_tokens WHERE token_hash IN'
  const tokens = await purge(session, { find: FIND_TOKENS_OF_EXPIRED_FAMILIES, statement }, { now, limit })
  if (tokens > 0) return tokens
  const families = 'DELETE FROM refresh_families WHERE expires_at <= $now AND id IN'
  return await purge(session, { find: FIND_EXPIRED_FAMILIES, statement: families }, { now, limit })
}

/** Also deletes tokens of families that are still valid: a deleted token that is presented names its family. */
function purgeUsedTokens(session: WriteSession, now: number, limit: number): Promise<number> {
  const statement = 'DELETE FROM refresh_tokens WHERE purge_at <= $now AND token_hash IN'
  return purge(session, { find: FIND_USED_TOKENS, statement }, { now, limit })
}

function expired(table: string, key: string): KeySelect {
  const rows = `SELECT ${key} AS key_bytes FROM ${table} WHERE expires_at <= $now ORDER BY expires_at LIMIT $limit`
  return select({ key_bytes: binary }, `FROM (${rows}) AS expired`)
}

async function purge(
  session: WriteSession,
  { find, statement }: { readonly find: KeySelect; readonly statement: string },
  { now, limit }: { readonly now: number; readonly limit: number }
): Promise<number> {
  const found = await rowsOf(session, find, { now: BigInt(now), limit: BigInt(Math.min(limit, AT_ONCE)) })
  return await deleteListed(session, statement, { keys: found.map((row) => row.key_bytes), now })
}
