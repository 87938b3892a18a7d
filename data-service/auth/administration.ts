import { INT64_RANGE, parseInteger } from '../entity/fields/numbers.js'
import { suggestion } from '../entity/fields/names.js'
import { identityProblem, linkAccount, unlinkAccount } from './accounts/account-links.js'
import {
  accountKey,
  type Account,
  type AuthStore,
  type AuthUnit,
  type DescribedAccount,
  isEmail,
  MAX_EMAIL,
  MAX_NAME,
  type OutsideIdentity,
  type StoredAccount
} from './accounts/accounts.js'
import {
  hashOfSecret,
  isMachine,
  MACHINE_NAME,
  type MachineSecret,
  newMachineSecret,
  SLOTS
} from './accounts/machines.js'
import { isReservedClaim, type OwnerClaims, ownerOfClaim, type Roles } from './tokens/claims.js'
import { passwordMistake, type Passwords } from './accounts/passwords.js'

/** What an operator asked for and cannot have. The message is a sentence for the operator. */
export class AccountMistake extends Error {
  override readonly name = 'AccountMistake'
}

interface AdministrationDeps {
  readonly store: AuthStore
  readonly passwords: Passwords
  /** The roles that an account can have, as they are spelled in its tokens. */
  readonly roles: readonly string[]
  readonly ownerClaimType: string
  /** Further kinds of owners, whose claims are among the further claims of an account. */
  readonly owners?: OwnerClaims
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly randomBytes: (size: number) => Buffer
  readonly signal: AbortSignal
}

/** A new secret of a machine account, which is stored as its hash alone. */
interface IssuedSecret {
  readonly account: Account
  readonly secret: string
  readonly slot: number
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null
}

/** An account with one of its members before and after a change. */
interface MemberChange<Name extends 'roles' | 'owner' | 'claims'> {
  readonly account: StoredAccount
  readonly before: Account[Name]
  readonly after: Account[Name]
}

/**
 * What an operator does to the accounts of a database, whether the service runs or not. The service keeps no account in
 * memory: logins and refreshes see a change at once. An access token keeps what it says until it expires. Every function
 * throws an AccountMistake for what cannot be done, and then nothing was changed.
 */
export class AccountAdministration {
  readonly #deps: AdministrationDeps

  constructor(deps: AdministrationDeps) {
    this.#deps = deps
  }

  /** The kinds of owners of the application, with their claims. */
  get owners(): OwnerClaims {
    return this.#deps.owners ?? {}
  }

  /** Throws what `add` throws for the account, so that nobody is asked for a password in vain. */
  async checkNew(account: Account): Promise<void> {
    checkEmail(account.email)
    this.#checked(account)
    const found = await this.#deps.store.findAccount(this.#deps.signal, accountKey(account.email))
    if (found !== undefined) throw alreadyThere(found)
  }

  /** Without a password nobody can log in with one: the account is for sign-in with an outside provider. */
  async add(wanted: Account, password: string | undefined): Promise<Account> {
    checkEmail(wanted.email)
    const account = this.#checked(wanted)
    const passwordHash = password === undefined ? null : await this.#hash(password, account.email)
    const { store, signal } = this.#deps
    await store.transaction(signal, (unit) => this.#insert(unit, account, passwordHash))
    return account
  }

  /** A machine account with its first secret. `lifetime` is milliseconds; undefined: the secret does not expire. */
  async addMachine(wanted: Account, lifetime: number | undefined): Promise<IssuedSecret> {
    checkMachineName(wanted.email)
    const account = this.#checked(wanted)
    const { store, signal } = this.#deps
    return store.transaction(signal, async (unit) => {
      await this.#insert(unit, account, null)
      return this.#issue(unit, account.email, lifetime)
    })
  }

  /** A second secret of a machine account, or one in the place of an expired one. */
  async addSecret(name: string, lifetime: number | undefined): Promise<IssuedSecret> {
    const { store, signal } = this.#deps
    return store.transaction(signal, (unit) => this.#issue(unit, name, lifetime))
  }

  /** No new token is issued for it. */
  async removeSecret(name: string, slot: number): Promise<StoredAccount> {
    return this.#change(name, async (unit, account) => {
      if (await unit.removeSecret(account.id, slot)) return account
      throw new AccountMistake(`${account.email} has no secret ${slot}.`)
    })
  }

  async list(): Promise<readonly DescribedAccount[]> {
    const { store, signal } = this.#deps
    const accounts = await store.listAccounts(signal)
    const identities = new Map<string, OutsideIdentity[]>(accounts.map(({ id }) => [id, []]))
    for (const { accountId, issuer, subject } of await store.listLinks(signal)) {
      identities.get(accountId)?.push({ issuer, subject })
    }
    const secrets = await store.listSecrets(signal)
    return accounts.map((account) => ({
      ...account,
      identities: identities.get(account.id) ?? [],
      secrets: secrets.filter(({ accountId }) => accountId === account.id)
    }))
  }

  /** undefined for an e-mail address without an account. */
  find(email: string): Promise<StoredAccount | undefined> {
    return this.#deps.store.findAccount(this.#deps.signal, accountKey(email))
  }

  /** Throws an AccountMistake for an e-mail address without an account. */
  async get(email: string): Promise<StoredAccount> {
    const account = await this.find(email)
    if (account === undefined) throw noSuchAccount(email)
    return account
  }

  /** Ends all sessions of the account. Answers how many. */
  async disable(email: string): Promise<{ readonly account: StoredAccount; readonly sessions: number }> {
    const { now } = this.#deps
    return this.#change(email, async (unit, account) => {
      // The time stays that of the first time, and sessions are ended again: a replica of an earlier version opens some.
      if (account.disabledAt === null) await unit.changeAccount(account.id, { disabledAt: now() })
      return { account, sessions: await unit.endSessions(account.id, now()) }
    })
  }

  async enable(email: string): Promise<StoredAccount> {
    return this.#change(email, async (unit, account) => {
      await unit.changeAccount(account.id, { disabledAt: null })
      return account
    })
  }

  /** Ends all sessions of the account. Answers how many. */
  async setPassword(
    email: string,
    password: string
  ): Promise<{ readonly account: StoredAccount; readonly sessions: number }> {
    checkPerson(email)
    const hash = await this.#hash(password, email)
    return this.#change(email, async (unit, account) => {
      await unit.setPassword(account.id, hash)
      return { account, sessions: await unit.endSessions(account.id, this.#deps.now()) }
    })
  }

  /** The account has exactly these roles from its next refresh on. */
  async setRoles(email: string, names: readonly string[]): Promise<MemberChange<'roles'>> {
    const roles = knownRoles(names, this.#deps.roles)
    return this.#change(email, async (unit, account) => {
      checkSize({ roles, claims: account.claims })
      await unit.changeAccount(account.id, { roles })
      return { account, before: account.roles, after: roles }
    })
  }

  /** The account has exactly these further claims from its next refresh on. */
  async setClaims(email: string, claims: Account['claims']): Promise<MemberChange<'claims'>> {
    checkClaims(claims, this.#deps.ownerClaimType, this.#deps.owners)
    return this.#change(email, async (unit, account) => {
      checkSize({ roles: account.roles, claims })
      await unit.changeAccount(account.id, { claims })
      return { account, before: account.claims, after: claims }
    })
  }

  /** The account owns the rows of this owner from its next refresh on; null for none. */
  async setOwner(email: string, owner: bigint | null): Promise<MemberChange<'owner'>> {
    return this.#change(email, async (unit, account) => {
      await unit.changeAccount(account.id, { owner })
      return { account, before: account.owner, after: owner }
    })
  }

  /** Lets an identity of an OpenID provider sign in to the account. Answers false if it could before. */
  async link(email: string, identity: OutsideIdentity): Promise<boolean> {
    const { store, signal, now } = this.#deps
    checkPerson(email)
    checkIdentity(identity)
    const outcome = await linkAccount(store, { email, identity, signal }, now)
    if (outcome === 'no account') throw noSuchAccount(email)
    if (outcome === 'taken') {
      throw new AccountMistake('This person is linked to another account already: unlink that one first.')
    }
    return outcome === 'linked'
  }

  /** Takes a link away. Sessions go on. */
  async unlink(email: string, identity: OutsideIdentity): Promise<void> {
    const { store, signal } = this.#deps
    const outcome = await unlinkAccount(store, { email, identity, signal })
    if (outcome === 'no account') throw noSuchAccount(email)
    if (outcome === 'not linked') throw new AccountMistake('This person is not linked to the account.')
  }

  #checked(account: Account): Account {
    checkAccountName(account.name)
    checkClaims(account.claims, this.#deps.ownerClaimType, this.#deps.owners)
    const roles = knownRoles(account.roles, this.#deps.roles)
    checkSize({ roles, claims: account.claims })
    return { ...account, roles }
  }

  async #insert(unit: AuthUnit, account: Account, passwordHash: string | null): Promise<void> {
    const emailKey = accountKey(account.email)
    const found = await unit.findAccount(emailKey)
    if (found !== undefined) throw alreadyThere(found)
    await unit.insertAccount({ ...account, emailKey, passwordHash, isSample: false, createdAt: this.#deps.now() })
  }

  async #issue(unit: AuthUnit, name: string, lifetime: number | undefined): Promise<IssuedSecret> {
    const key = accountKey(name)
    const account = await unit.findAccount(key)
    if (account === undefined) throw noSuchAccount(name)
    if (!isMachine(account)) throw new AccountMistake(`${account.email} is no machine account.`)
    const createdAt = this.#deps.now()
    const secrets = await unit.secretsOf(key)
    const isLive = ({ expiresAt }: MachineSecret): boolean => expiresAt === null || expiresAt > createdAt
    const slot = SLOTS.find((one) => !secrets.some((secret) => secret.slot === one && isLive(secret)))
    if (slot === undefined) {
      throw new AccountMistake(`${account.email} has two secrets, and may have no more: remove one first.`)
    }
    await unit.dropExpiredSecret(account.id, { slot, now: createdAt })
    const secret = newMachineSecret(this.#deps.randomBytes)
    const expiresAt = lifetime === undefined ? null : createdAt + lifetime
    await unit.addSecret(account.id, { slot, hash: hashOfSecret(secret), createdAt, expiresAt })
    return { account, secret, slot, expiresAt }
  }

  async #hash(password: string, email: string): Promise<string> {
    const mistake = passwordMistake(password, email)
    if (mistake !== undefined) throw new AccountMistake(`The password ${mistake}.`)
    return this.#deps.passwords.hash(password)
  }

  #change<Result>(email: string, work: (unit: AuthUnit, account: StoredAccount) => Promise<Result>): Promise<Result> {
    const { store, signal } = this.#deps
    return store.transaction(signal, async (unit) => {
      const account = await unit.findAccount(accountKey(email))
      if (account === undefined) throw noSuchAccount(email)
      return await work(unit, account)
    })
  }
}

function checkIdentity(identity: OutsideIdentity): void {
  const problem = identityProblem(identity)
  if (problem !== undefined) throw new AccountMistake(problem)
}

function noSuchAccount(email: string): AccountMistake {
  return new AccountMistake(`There is no account ${JSON.stringify(email)}.`)
}

function alreadyThere({ email }: Account): AccountMistake {
  return new AccountMistake(`There is an account ${email} already.`)
}

/** Characters, as the column has them. */
const MAX_ROLE = 64

/** Control characters, and half surrogate pairs, which have no form in UTF-8. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Surrogate}]/u

function checkEmail(email: string): void {
  if (!isEmail(email)) {
    throw new AccountMistake(
      `An e-mail address such as ada@example.com, of at most ${MAX_EMAIL} characters, is needed, not ${JSON.stringify(email)}.`
    )
  }
}

function checkMachineName(name: string): void {
  if (MACHINE_NAME.test(name)) return
  throw new AccountMistake(
    'The name of a machine account has 1 to 64 lower-case letters, digits, dots and hyphens, such as nightly-export, ' +
      `and begins with a letter, not ${JSON.stringify(name)}.`
  )
}

/** Only accounts of persons have passwords and sign-ins. */
function checkPerson(email: string): void {
  if (!isMachine({ email })) return
  throw new AccountMistake(`An e-mail address is needed, not ${JSON.stringify(email)}: a machine account has secrets.`)
}

function checkAccountName(name: string): void {
  if (name.trim() === '' || CONTROL_CHARACTERS.test(name) || name.length > MAX_NAME) {
    throw new AccountMistake(`A name has 1 to ${MAX_NAME} characters and no control characters.`)
  }
}

/** The roles as the application spells them, each once. Names are matched in any letter case, as in tokens. */
export function knownRoles(names: readonly string[], known: readonly string[]): readonly string[] {
  const found = names.map((name) => {
    const role = known.find((one) => one.toLowerCase() === name.toLowerCase())
    if (role !== undefined && role.length <= MAX_ROLE) return role
    if (role !== undefined) throw new AccountMistake(`The name of a role has at most ${MAX_ROLE} characters: ${role}.`)
    const roles = known.length === 0 ? 'The application has no roles.' : `The roles are ${known.join(', ')}.`
    throw new AccountMistake(`There is no role ${JSON.stringify(name)}.${suggestion(name, known)} ${roles}`)
  })
  return [...new Set(found)]
}

/** The bypass role counts although it may have no permission: what it may do does not come from one. */
export function accountRoles(roles: Roles, bypassRole: string | undefined): readonly string[] {
  const names = Object.keys(roles)
  const isListed = names.some((name) => name.toLowerCase() === bypassRole?.toLowerCase())
  return bypassRole === undefined || isListed ? names : [...names, bypassRole]
}

/** Names as other issuers use them, `https://example.com/department` included. */
const CLAIM_NAME = /^[A-Za-z][A-Za-z0-9_.:/-]{0,127}$/

export function checkClaims(claims: Account['claims'], ownerClaimType: string, owners: OwnerClaims = {}): void {
  for (const [name, value] of Object.entries(claims)) {
    if (name === ownerClaimType) {
      throw new AccountMistake(
        `The claim ${name} is the owner of the account's rows: set it with --owner, or \`account owner\`.`
      )
    }
    if (isReservedClaim(name, ownerClaimType)) {
      throw new AccountMistake(`The claim ${name} is one that the service sets itself. Choose another name.`)
    }
    if (!CLAIM_NAME.test(name)) {
      throw new AccountMistake(
        `${JSON.stringify(name)} cannot be a claim: a name begins with a letter, and has letters, digits and _ . : / - up to 128.`
      )
    }
    const kind = Object.keys(owners).find((one) => owners[one] === name)
    if (kind !== undefined && ownerOfClaim(value) === null) {
      throw new AccountMistake(`The claim ${name} names an owner: set it with --owner ${kind}=<number>.`)
    }
    checkValue(name, value)
  }
}

/** Numbers that a double rounds, and text that not every database stores, would come out of a token as others. */
function checkValue(name: string, value: unknown): void {
  if (typeof value === 'string' && /[\0\p{Surrogate}]/u.test(value)) {
    throw new AccountMistake(`The claim ${name} holds U+0000 or half a surrogate pair.`)
  }
  if (typeof value === 'number' && !(Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER)) {
    throw new AccountMistake(`The claim ${name} holds a number beyond 2^53, which JSON would round. Make it a text.`)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    checkValue(name, key)
    checkValue(name, member)
  }
}

/** Of a secret: ten years. A moment that no date can hold would keep the list from being shown. */
export const LONGEST_LIFETIME = 3650 * 24 * 60 * 60 * 1000

/** What is before the `@`, as far as a name is long, and never with half a surrogate pair at its end. */
export function defaultName(email: string): string {
  const [local = ''] = email.split('@')
  return local.slice(0, MAX_NAME).replace(/\p{Surrogate}$/u, '')
}

/**
 * Bytes of roles and further claims as JSON. A browser drops a cookie over 4096 bytes, and the access token, which is one,
 * has up to 2 KiB without them.
 */
export const MAX_SIZE = 1024

function checkSize({ roles, claims }: Pick<Account, 'roles' | 'claims'>): void {
  const size = Buffer.byteLength(JSON.stringify([roles, claims]))
  if (size <= MAX_SIZE) return
  throw new AccountMistake(
    `Roles and claims are ${size} bytes of JSON. At most ${MAX_SIZE} fit the access token, which browsers keep as a cookie.`
  )
}

/**
 * Owners as arguments, `42` and `patient=42`: the owner without a name, and the claims of the others. Throws an
 * AccountMistake.
 */
export function parseOwners(
  args: readonly string[],
  kinds: OwnerClaims
): { readonly owner: bigint | null; readonly claims: Account['claims'] } {
  let owner: bigint | null = null
  const claims = new Map<string, unknown>()
  for (const arg of args) {
    const [kind = '', text] = arg.includes('=') ? arg.split(/=(.*)/s) : [undefined, arg]
    const number = parseOwner(text ?? '')
    if (!arg.includes('=')) {
      if (owner !== null) throw new AccountMistake('An account has one owner without a name at most.')
      owner = number
      continue
    }
    const claim = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined
    if (claim === undefined) {
      const known = Object.keys(kinds)
      throw new AccountMistake(`The application names no owner ${JSON.stringify(kind)}.${suggestion(kind, known)}`)
    }
    if (claims.has(claim)) throw new AccountMistake(`The owner ${kind} is given twice.`)
    // A JSON number would round a larger one.
    claims.set(claim, Number.isSafeInteger(Number(number)) ? Number(number) : String(number))
  }
  return { owner, claims: Object.fromEntries(claims) }
}

/** The owner of an account. Throws an AccountMistake for what is no whole number of 64 bits. */
export function parseOwner(text: string): bigint {
  const owner = parseInteger(text, INT64_RANGE)
  if (owner === undefined)
    throw new AccountMistake(`An owner is a whole number of 64 bits, not ${JSON.stringify(text)}.`)
  return owner
}
