import { createHash } from 'node:crypto'
import type { Passwords } from './passwords.js'

/** An account as its access tokens describe it. */
export interface Account {
  /** The subject of its tokens. */
  readonly email: string
  readonly name: string
  readonly role: string
  /** The owner claim, 64 bits signed; null for none. */
  readonly owner: bigint | null
}

export interface StoredAccount extends Account {
  readonly id: string
  /** Argon2id in PHC form. */
  readonly passwordHash: string
  /** Sample accounts cannot log in while SAMPLE_DATA is off. */
  readonly isSample: boolean
}

/**
 * The key that finds an account: the hash of its e-mail address in lower case. The hash is the same on every database,
 * while collations also equate addresses that must stay different accounts, those with full-width letters for example.
 */
export function accountKey(email: string): Buffer {
  return createHash('sha256').update(email.normalize('NFC').toLowerCase().normalize('NFC')).digest()
}

/** Recent logins under one key, as epoch milliseconds. */
export interface LoginAttempts {
  readonly failed: readonly number[]
  /** Admitted, with no outcome yet. */
  readonly pending: readonly number[]
}

export interface NewAccount extends Account {
  readonly emailKey: Buffer
  readonly passwordHash: string
  readonly isSample: boolean
  readonly createdAt: number
}

/** All refresh tokens that followed from one login (a refresh token family). */
export interface Family {
  /** 16 bytes. */
  readonly id: Buffer
  readonly accountId: string
  readonly createdAt: number
  /** When it expires, however often it is refreshed. */
  readonly endsAt: number
  readonly revokedAt: number | null
}

export interface NewToken {
  /** SHA-256 of the token. */
  readonly hash: Buffer
  /** SHA-256 of the reference by which it names its family. */
  readonly refHash: Buffer
  readonly familyId: Buffer
  readonly issuedAt: number
  readonly expiresAt: number
}

/** The keys by which the family of a token is found. */
export interface TokenKeys {
  readonly hash: Buffer
  /** null for a token that names no family. */
  readonly refHash: Buffer | null
}

export interface KeptToken extends Omit<NewToken, 'refHash'> {
  readonly usedAt: number | null
  /** Sealed, with `usedAt`. */
  readonly successor: Buffer | null
}

/** The statements of one transaction, usable until it ends. All times are epoch milliseconds. */
export interface AuthUnit {
  findAccount(emailKey: Buffer): Promise<StoredAccount | undefined>
  getAccount(id: string): Promise<StoredAccount | undefined>
  /** Does nothing where the e-mail address has an account. */
  addAccount(account: NewAccount): Promise<void>

  /** Holds the key's attempts until the transaction ends: others that ask for them wait. */
  lockAttempts(keyHash: Buffer): Promise<LoginAttempts>
  /** Stores the attempts of a locked key. They may be purged from `expiresAt` on. */
  keepAttempts(keyHash: Buffer, attempts: LoginAttempts, expiresAt: number): Promise<void>

  /** `token` is its first token and gives its expiry. */
  addFamily(family: Family, token: NewToken): Promise<void>
  /**
   * Locks and answers the family that a token belongs to or names: nobody else changes it or its tokens until the
   * transaction ends.
   */
  lockFamilyOf(token: TokenKeys): Promise<Family | undefined>
  /** When tokens of a family were issued after `since`, the earliest first. */
  issuedSince(familyId: Buffer, since: number): Promise<readonly number[]>
  revokeFamily(id: Buffer, at: number): Promise<void>
  findToken(hash: Buffer): Promise<KeptToken | undefined>
  /** Marks a token of a locked family as used, with the one that follows it sealed. */
  rotate(hash: Buffer, rotation: Rotation): Promise<void>
}

export interface Rotation {
  readonly usedAt: number
  /** When the used token may be purged; null for one that names no family, whose reuse could not be detected any more. */
  readonly purgeAt: number | null
  readonly sealed: Buffer
  readonly successor: NewToken
}

/** Where accounts and sessions are kept (data-service/sql). */
export interface AuthStore {
  /** As AuthUnit, outside of any transaction. */
  findAccount(signal: AbortSignal, emailKey: Buffer): Promise<StoredAccount | undefined>
  /** Attempts under two keys as they are at the moment: one statement, which waits for nobody's lock and takes none. */
  findAttempts(
    signal: AbortSignal,
    keys: readonly [first: Buffer, second: Buffer]
  ): Promise<[first: LoginAttempts, second: LoginAttempts]>
  /**
   * Lost races repeat the whole transaction, `work` included, a bounded number of times; then it throws
   * `upstream.unavailable`.
   */
  transaction<Result>(signal: AbortSignal, work: (unit: AuthUnit) => Promise<Result>): Promise<Result>
  /** Deletes at most `most` expired login attempts; answers how many it deleted. */
  purgeAttempts(now: number, most: number): Promise<number>
  /** Deletes at most `most` tokens of dead families, or families that have none; how many it deleted. */
  purgeSessions(now: number, most: number): Promise<number>
  /** Deletes at most `most` used tokens, of families that live on too; how many it deleted. */
  purgeUsedTokens(now: number, most: number): Promise<number>
}

/** Accounts to try the service with, which exist only where SAMPLE_DATA is on. */
export interface SampleAccounts {
  readonly accounts: readonly Account[]
  /** Of all of them, and public. */
  readonly password: string
}

/** Adds those that are not there. An e-mail address that has another account keeps it. */
export async function addSampleAccounts(
  store: AuthStore,
  { accounts, password }: SampleAccounts,
  how: { readonly passwords: Passwords; readonly now: () => number; readonly signal: AbortSignal }
): Promise<void> {
  const { passwords, now, signal } = how
  const keyed = accounts.map((account) => ({ ...account, emailKey: accountKey(account.email) }))
  const missing = await store.transaction(signal, async (unit) => {
    const found = []
    for (const account of keyed) if ((await unit.findAccount(account.emailKey)) === undefined) found.push(account)
    return found
  })
  // Hashing is slow on purpose, so it is done while no transaction is open.
  const made: NewAccount[] = []
  for (const account of missing) {
    made.push({ ...account, passwordHash: await passwords.hash(password), isSample: true, createdAt: now() })
  }
  if (made.length === 0) return
  await store.transaction(signal, async (unit) => {
    for (const account of made) await unit.addAccount(account)
  })
}
