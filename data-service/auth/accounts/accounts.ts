import { createHash } from 'node:crypto'
import type { EmittedEvent } from '../../entity/event.js'
import { hashOfSecret, type MachineSecret, SLOTS } from './machines.js'
import type { Passwords } from './passwords.js'

/** An account as its access tokens describe it. */
export interface Account {
  /** The subject of its tokens. A machine account has its name here, which is no e-mail address (machines.ts). */
  readonly email: string
  readonly name: string
  readonly roles: readonly string[]
  /** The owner claim, 64 bits signed; null for none. */
  readonly owner: bigint | null
  /** Further claims of its tokens, JSON values by name. None of them has a reserved name (claims.ts). */
  readonly claims: Readonly<Record<string, unknown>>
}

export interface StoredAccount extends Account {
  readonly id: string
  /** Argon2id in PHC form; null for an account that signs in with an outside provider alone. */
  readonly passwordHash: string | null
  /** Sample accounts cannot log in while SAMPLE_DATA is off. */
  readonly isSample: boolean
  /** When it was disabled, in epoch milliseconds. A disabled account has no sessions and cannot log in. */
  readonly disabledAt: number | null
  /**
   * How often all of its sessions were ended at once. A session is valid only if its family has the same number, so a login
   * that is under way when that happens opens no session that lasts, on whichever node of a cluster it runs.
   */
  readonly sessionGeneration: number
  readonly createdAt: number
}

/**
 * The key that finds an account: the hash of its e-mail address in lower case. The hash is the same on every database,
 * while collations also equate addresses that must stay different accounts, those with full-width letters for example.
 */
export function accountKey(email: string): Buffer {
  return createHash('sha256').update(email.normalize('NFC').toLowerCase().normalize('NFC')).digest()
}

/** Characters (RFC 5321 section 4.5.3.1.3). */
export const MAX_EMAIL = 254

/**
 * One `@` with text on both sides, as every address has (RFC 5321 section 4.1.2). The mail server decides about the rest.
 * Control and format characters could make one address look like another. Half surrogate pairs have no form in UTF-8.
 */
const EMAIL = /^[^\s@\p{Cc}\p{Cf}\p{Surrogate}]+@[^\s@\p{Cc}\p{Cf}\p{Surrogate}]+$/u

/** Whether a new account can have the text as its e-mail address. */
export function isEmail(text: string): boolean {
  return text.length <= MAX_EMAIL && EMAIL.test(text)
}

/** Characters that the table of accounts holds. */
export const MAX_NAME = 200

/** Recent login attempts under one key, as epoch milliseconds. */
export interface LoginAttempts {
  readonly failed: readonly number[]
  /** Attempts that were admitted and have no outcome yet. */
  readonly pending: readonly number[]
}

export interface NewAccount extends Account {
  readonly emailKey: Buffer
  /** null: nobody can log in with a password. */
  readonly passwordHash: string | null
  readonly isSample: boolean
  readonly createdAt: number
}

/** What of an account can be changed without effect on its sessions. Their next refresh shows it. */
export type AccountChange =
  | Pick<Account, 'roles'>
  | Pick<Account, 'owner'>
  | Pick<Account, 'claims'>
  | { readonly disabledAt: number | null }

/** A person as an OpenID provider names them: `iss` and `sub` of its ID tokens, compared exactly. */
export interface OutsideIdentity {
  readonly issuer: string
  readonly subject: string
}

/** An account with the identities of OpenID providers that sign in to it, and the secrets of a machine. */
export interface DescribedAccount extends StoredAccount {
  readonly identities: readonly OutsideIdentity[]
  readonly secrets: readonly MachineSecret[]
}

/** Lets an identity sign in to an account. */
export interface AccountLink extends OutsideIdentity {
  /** As identityKey (account-links.ts) makes it. */
  readonly key: Buffer
  readonly accountId: string
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** A link by which somebody chooses the password of an account (one-time-links.ts). */
export interface OneTimeLink {
  /** SHA-256 of the secret of the link, which is stored nowhere. */
  readonly hash: Buffer
  /** Of the account, or of the one that is to be made. */
  readonly email: string
  /** What the account was when the link was made: a link of an account that has changed since is void. 32 bytes. */
  readonly accountState: Buffer
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** Which links count against the limit of an address: those of what the account is, but for those of an event's own. */
export interface PlacesOf {
  /** As OneTimeLink.accountState. */
  readonly state: Buffer
  /** Its id; empty for none. */
  readonly event: string
  readonly now: number
}

/** All refresh tokens that followed from one login (a refresh token family). */
export interface Family {
  /** 16 bytes. */
  readonly id: Buffer
  readonly accountId: string
  readonly createdAt: number
  /** The session expires at this time, however often it is refreshed. */
  readonly endsAt: number
  readonly revokedAt: number | null
  /** That of the account when the session was opened (StoredAccount). */
  readonly sessionGeneration: number
}

/** A session that is not over. It ends at `expiresAt` unless it is refreshed. */
export interface LiveFamily extends Pick<Family, 'id' | 'createdAt'> {
  readonly expiresAt: number
}

export interface NewToken {
  /** SHA-256 of the token. */
  readonly hash: Buffer
  /** SHA-256 of the part of the token that names its family. */
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
  /** The token that replaced this one, encrypted; set together with `usedAt`. */
  readonly successor: Buffer | null
}

/** The statements of one transaction, usable until it ends. All times are epoch milliseconds. */
export interface AuthUnit {
  findAccount(emailKey: Buffer): Promise<StoredAccount | undefined>
  getAccount(id: string): Promise<StoredAccount | undefined>
  /** The same, under a lock until the transaction ends. */
  lockAccount(id: string): Promise<DescribedAccount | undefined>
  /** Does nothing if the e-mail address has an account already. */
  addAccount(account: NewAccount): Promise<void>
  changeAccount(id: string, change: AccountChange): Promise<void>
  /**
   * Sets the hash of the password. With `verified` it does so only if the account still has that hash. Returns whether it
   * did.
   */
  setPassword(id: string, passwordHash: string, verified?: string): Promise<boolean>
  /**
   * Ends all sessions of an account, but for the family `kept` if one is given. A session that is being opened meanwhile
   * ends too. Returns how many families it revoked.
   */
  endSessions(accountId: string, at: number, kept?: Buffer): Promise<number>
  /** Ends one session of an account. Returns whether there was one that was not ended. */
  endSession(accountId: string, family: Buffer, at: number): Promise<boolean>
  /** Fails as a lost race if the e-mail address has an account already. */
  insertAccount(account: NewAccount): Promise<void>

  /** The id of the account that an identity is linked to; undefined for none. `key`: that of AccountLink. */
  findLink(key: Buffer): Promise<string | undefined>
  /** Fails as a lost race if the identity is linked already. */
  addLink(link: AccountLink): Promise<void>
  removeLink(key: Buffer): Promise<void>

  /** The secrets of a machine account; none for any other account, and for a key that no account has. */
  secretsOf(accountKey: Buffer): Promise<readonly MachineSecret[]>
  /** Fails as a lost race if the slot is taken. */
  addSecret(accountId: string, secret: Omit<MachineSecret, 'lastUsedAt'>): Promise<void>
  /** Returns whether there was one. */
  removeSecret(accountId: string, slot: number): Promise<boolean>
  /** Removes the secret of a slot if it has expired. Another process may just have made a new one there. */
  dropExpiredSecret(accountId: string, of: { readonly slot: number; readonly now: number }): Promise<void>
  secretUsed(accountId: string, use: { readonly slot: number; readonly at: number }): Promise<void>

  /** `event` is the id of the one that asked for it. */
  addOneTimeLink(link: OneTimeLink, event: string): Promise<void>
  /** How many other events have links of the address that can be used. */
  countOneTimeLinks(emailKey: Buffer, of: PlacesOf): Promise<number>
  /** Removes a link that has not expired. Of several transactions that do so, one is answered true. */
  takeOneTimeLink(hash: Buffer, now: number): Promise<boolean>
  /** Removes all links of the address. */
  dropOneTimeLinks(emailKey: Buffer): Promise<void>
  /** Puts an event into the outbox. It is delivered after the COMMIT. */
  emit(event: EmittedEvent): Promise<void>

  /** Locks the attempts of the key until the transaction ends. Other transactions that lock them wait. */
  lockAttempts(keyHash: Buffer): Promise<LoginAttempts>
  /** Stores the attempts of a locked key. They may be purged from `expiresAt` on. */
  keepAttempts(keyHash: Buffer, attempts: LoginAttempts, expiresAt: number): Promise<void>

  /**
   * `token` is the first token of the family. The family expires when its last token does. An account has 100 families at
   * most: beyond them, those end that would expire first.
   */
  addFamily(family: Family, token: NewToken): Promise<void>
  /**
   * Locks and returns the family that a token belongs to or names. No other transaction changes the family or its tokens
   * until this one ends.
   */
  lockFamilyOf(token: TokenKeys): Promise<Family | undefined>
  /** The times after `since` at which tokens of the family were issued, in ascending order. */
  issuedSince(familyId: Buffer, since: number): Promise<readonly number[]>
  revokeFamily(id: Buffer, at: number): Promise<void>
  findToken(hash: Buffer): Promise<KeptToken | undefined>
  /** Marks a token of a locked family as used and stores its successor. */
  rotate(hash: Buffer, rotation: Rotation): Promise<void>
}

export interface Rotation {
  readonly usedAt: number
  /**
   * When the used token may be purged. null for a token that names no family: without its row, a reuse of it could not be
   * detected any more.
   */
  readonly purgeAt: number | null
  /** The successor, encrypted. */
  readonly sealed: Buffer
  readonly successor: NewToken
}

/** Where accounts and sessions are kept (data-service/sql). */
export interface AuthStore {
  /** Like `findAccount` of AuthUnit, without a transaction. */
  findAccount(signal: AbortSignal, emailKey: Buffer): Promise<StoredAccount | undefined>
  /** All accounts, in the order in which they were made. */
  listAccounts(signal: AbortSignal): Promise<readonly StoredAccount[]>
  /** At most `limit` accounts behind an id, in the order of their ids. */
  accountsAfter(
    signal: AbortSignal,
    page: { readonly after: bigint; readonly limit: number }
  ): Promise<readonly StoredAccount[]>
  describeAccount(signal: AbortSignal, id: string): Promise<DescribedAccount | undefined>
  /** The newest sessions of an account that are not over, 100 at most. */
  sessionsOf(signal: AbortSignal, account: StoredAccount, now: number): Promise<readonly LiveFamily[]>
  /** A link that has not expired; undefined for none. */
  findOneTimeLink(signal: AbortSignal, hash: Buffer, now: number): Promise<OneTimeLink | undefined>
  /** All links, those of one account in the order in which they were made. */
  listLinks(signal: AbortSignal): Promise<readonly Pick<AccountLink, 'accountId' | 'issuer' | 'subject'>[]>
  listSecrets(signal: AbortSignal): Promise<readonly (MachineSecret & { readonly accountId: string })[]>
  /** The current attempts under two keys, read with one statement that takes no lock and waits for none. */
  findAttempts(
    signal: AbortSignal,
    keys: readonly [first: Buffer, second: Buffer]
  ): Promise<[first: LoginAttempts, second: LoginAttempts]>
  /**
   * Runs `work` in a transaction. If the transaction loses a race, it is repeated with `work`, a limited number of times.
   * Throws `upstream.unavailable` after that.
   */
  transaction<Result>(signal: AbortSignal, work: (unit: AuthUnit) => Promise<Result>): Promise<Result>
  /** Deletes at most `limit` expired login attempts and returns how many it deleted. */
  purgeAttempts(now: number, limit: number): Promise<number>
  /** The same for one-time links. */
  purgeOneTimeLinks(now: number, limit: number): Promise<number>
  /** Deletes at most `limit` rows: tokens of expired families, or else expired families. Returns how many it deleted. */
  purgeSessions(now: number, limit: number): Promise<number>
  /** Deletes at most `limit` used tokens, also those of live families, and returns how many it deleted. */
  purgeUsedTokens(now: number, limit: number): Promise<number>
}

/** Accounts for trying out the service. They exist only if SAMPLE_DATA is on. */
export interface SampleAccounts {
  readonly accounts: readonly SampleAccount[]
  /** All of these accounts have this password, which is public. */
  readonly password: string
  /** Programs, each with a secret that is public as well. */
  readonly machines?: readonly SampleMachine[]
}

type SampleMachine = Omit<SampleAccount, 'email'> & { readonly clientId: string; readonly secret: string }

export type SampleAccount = Omit<Account, 'claims'> & Partial<Pick<Account, 'claims'>>

/** A sample account as its tokens describe it. */
export function sampleAccount(of: SampleAccount): Account {
  return { claims: {}, ...of }
}

/** Adds the sample accounts that do not exist yet. An e-mail address that has another account keeps that account. */
export async function addSampleAccounts(
  store: AuthStore,
  { accounts, password, machines = [] }: SampleAccounts,
  how: { readonly passwords: Passwords; readonly now: () => number; readonly signal: AbortSignal }
): Promise<void> {
  const { passwords, now, signal } = how
  const keyed = [
    ...accounts.map((account) => ({ ...sampleAccount(account), secret: undefined })),
    ...machines.map(({ clientId: email, ...machine }) => ({ ...sampleAccount({ ...machine, email }), ...machine }))
  ].map((account) => ({ ...account, emailKey: accountKey(account.email) }))
  const missing = await store.transaction(signal, async (unit) => {
    const found = []
    for (const account of keyed) if ((await unit.findAccount(account.emailKey)) === undefined) found.push(account)
    return found
  })
  // Hashing is slow on purpose, so no transaction is open meanwhile.
  const made: (NewAccount & { readonly secret: string | undefined })[] = []
  for (const account of missing) {
    const passwordHash = account.secret === undefined ? await passwords.hash(password) : null
    made.push({ ...account, passwordHash, isSample: true, createdAt: now() })
  }
  if (made.length === 0) return
  await store.transaction(signal, async (unit) => {
    for (const { secret, ...account } of made) {
      await unit.addAccount(account)
      if (secret !== undefined) await addSampleSecret(unit, account, secret)
    }
  })
}

async function addSampleSecret(unit: AuthUnit, { emailKey, createdAt }: NewAccount, secret: string): Promise<void> {
  const machine = await unit.findAccount(emailKey)
  // Another replica may have made the machine, or an operator one of the same name.
  if (machine?.isSample !== true || (await unit.secretsOf(emailKey)).length > 0) return
  await unit.addSecret(machine.id, { slot: SLOTS[0], hash: hashOfSecret(secret), createdAt, expiresAt: null })
}
