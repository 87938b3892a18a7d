import type { AccountChange, LoginAttempts, NewAccount, StoredAccount } from '../../auth/accounts/accounts.js'
import type { Value } from '../../entity/fields/field.js'
import type { ReadSession, WriteSession } from '../engines/sessions.js'
import {
  type BoundValues,
  bytes,
  type SqlDialect,
  type Statement,
  type StatementText,
  statementText
} from '../engines/statement.js'
import type { OwnTables } from '../engines/own-tables.js'

/** Converts a driver's value of a column. Throws a TypeError for a value of another type. */
type Read<Kind extends Value> = (raw: unknown) => Kind

/** Whole numbers that a double represents exactly, such as epoch milliseconds. */
export const millis: Read<number> = Number

/** Whole numbers of 64 bits, as their digits. */
export const digits: Read<string> = (raw) => {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'bigint') throw wrongType(raw)
  return String(raw)
}

const isOne: Read<boolean> = (raw) => Number(raw) === 1

export const textOfColumn: Read<string> = (raw) => {
  if (typeof raw !== 'string') throw wrongType(raw)
  return raw
}

export function orNull<Kind extends Value>(read: Read<Kind>): Read<Kind | null> {
  return (raw) => (raw === null ? null : read(raw))
}

type Columns = Readonly<Record<string, Read<Value>>>
/** The rows of such a SELECT. */
export type RowOfColumns<C extends Columns> = { readonly [Name in keyof C]: ReturnType<C[Name]> }

/** A SELECT of named columns, for tables that belong to no entity. */
export interface Select<C extends Columns> {
  readonly statement: Statement
  readonly columns: C
}

/** `rest` is what follows the columns, `FROM` first, with `$name` for each value. */
export function select<const C extends Columns>(columns: C, rest: string): Select<C> {
  const compiled = statementText(`SELECT ${Object.keys(columns).join(', ')} ${rest}`)
  return { statement: { ...compiled, decode: Object.values(columns), exact: true }, columns }
}

export async function selectedRows<C extends Columns>(
  session: ReadSession,
  { statement, columns }: Select<C>,
  values: BoundValues
): Promise<RowOfColumns<C>[]> {
  const names = Object.keys(columns)
  const rows = await session.run(statement, values)
  // Each value was converted by the function of its column.
  return rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])) as RowOfColumns<C>)
}

function wrongType(raw: unknown): TypeError {
  return new TypeError(`A column of the engine's own tables holds a ${typeof raw}`)
}

const COLUMNS = {
  id: digits,
  email: textOfColumn,
  name: textOfColumn,
  password_hash: textOfColumn,
  role: textOfColumn,
  roles: orNull(textOfColumn),
  owner: orNull(digits),
  claims: orNull(textOfColumn),
  is_sample: isOne,
  disabled_at: orNull(millis),
  session_generation: orNull(millis),
  created_at: millis
}

/** In place of a hash: the column takes no NULL. */
const NO_PASSWORD = ''

/** The accounts of one database. */
export class AccountRows {
  readonly #byKey: Select<typeof COLUMNS>
  readonly #byId: Select<typeof COLUMNS>
  readonly #lock: Select<typeof COLUMNS>
  readonly #all: Select<typeof COLUMNS>
  readonly #after: Select<typeof COLUMNS>
  readonly #insert: StatementText
  readonly #insertOrKeep: StatementText
  readonly #setRoles: StatementText
  readonly #setOwner: StatementText
  readonly #setClaims: StatementText
  readonly #setDisabled: StatementText
  readonly #setPassword: StatementText
  readonly #replacePassword: StatementText

  constructor({ sql: { accounts } }: OwnTables, dialect: SqlDialect) {
    this.#byKey = select(COLUMNS, `FROM ${accounts} WHERE email_key = $key`)
    this.#byId = select(COLUMNS, `FROM ${accounts} WHERE id = $id`)
    this.#lock = select(COLUMNS, `FROM ${accounts} WHERE id = $id${dialect.forUpdate}`)
    this.#all = select(COLUMNS, `FROM ${accounts} ORDER BY id`)
    this.#after = select(COLUMNS, `FROM ${accounts} WHERE id > $after ORDER BY id LIMIT $limit`)
    const insert =
      `INSERT INTO ${accounts} (email_key, email, name, password_hash, role, roles, owner, claims, is_sample, created_at) ` +
      'VALUES ($key, $email, $name, $hash, $role, $roles, $owner, $claims, $sample, $created)'
    this.#insert = statementText(insert)
    this.#insertOrKeep = statementText(dialect.insertOrKeep(insert, 'email_key'))
    this.#setRoles = statementText(`UPDATE ${accounts} SET role = $role, roles = $roles WHERE id = $id`)
    this.#setOwner = statementText(`UPDATE ${accounts} SET owner = $owner WHERE id = $id`)
    this.#setClaims = statementText(`UPDATE ${accounts} SET claims = $claims WHERE id = $id`)
    this.#setDisabled = statementText(`UPDATE ${accounts} SET disabled_at = $at WHERE id = $id`)
    this.#setPassword = statementText(`UPDATE ${accounts} SET password_hash = $hash WHERE id = $id`)
    this.#replacePassword = statementText(
      `UPDATE ${accounts} SET password_hash = $hash WHERE id = $id AND password_hash = $verified`
    )
  }

  async find(session: ReadSession, emailKey: Buffer): Promise<StoredAccount | undefined> {
    return accountOf(await selectedRows(session, this.#byKey, { key: emailKey }))
  }

  async get(session: ReadSession, id: string): Promise<StoredAccount | undefined> {
    return accountOf(await selectedRows(session, this.#byId, { id: BigInt(id) }))
  }

  /** The same, and no other transaction changes it until this one ends. */
  async lock(session: WriteSession, id: string): Promise<StoredAccount | undefined> {
    return accountOf(await selectedRows(session, this.#lock, { id: BigInt(id) }))
  }

  /** The accounts behind an id, in the order of their ids. */
  async after(
    session: ReadSession,
    { after, limit }: { readonly after: bigint; readonly limit: number }
  ): Promise<StoredAccount[]> {
    return (await selectedRows(session, this.#after, { after, limit: BigInt(limit) })).map(storedAccount)
  }

  async list(session: ReadSession): Promise<StoredAccount[]> {
    return (await selectedRows(session, this.#all, {})).map(storedAccount)
  }

  /** Changes nothing if an account with the same e-mail address exists. */
  async insertOrKeep(session: WriteSession, account: NewAccount): Promise<void> {
    await session.change(this.#insertOrKeep, accountValues(account))
  }

  /** Fails if an account with the same e-mail address exists. */
  async insert(session: WriteSession, account: NewAccount): Promise<void> {
    await session.change(this.#insert, accountValues(account))
  }

  async change(session: WriteSession, id: string, change: AccountChange): Promise<void> {
    const row = { id: BigInt(id) }
    if ('roles' in change) await session.change(this.#setRoles, { ...row, ...storedRoles(change.roles) })
    else if ('owner' in change) await session.change(this.#setOwner, { ...row, owner: change.owner })
    else if ('claims' in change)
      await session.change(this.#setClaims, { ...row, claims: JSON.stringify(change.claims) })
    else {
      const at = change.disabledAt === null ? null : BigInt(change.disabledAt)
      await session.change(this.#setDisabled, { ...row, at })
    }
  }

  /** As AuthUnit says. */
  async setPassword(
    session: WriteSession,
    id: string,
    { hash, verified }: { readonly hash: string; readonly verified: string | undefined }
  ): Promise<boolean> {
    const { rows } =
      verified === undefined
        ? await session.change(this.#setPassword, { id: BigInt(id), hash })
        : await session.change(this.#replacePassword, { id: BigInt(id), hash, verified })
    return rows === 1
  }
}

function accountValues(account: NewAccount): BoundValues {
  const { emailKey, email, name, passwordHash, roles, owner, claims, isSample, createdAt } = account
  return {
    key: emailKey,
    email,
    name,
    hash: passwordHash ?? NO_PASSWORD,
    ...storedRoles(roles),
    owner,
    claims: JSON.stringify(claims),
    sample: isSample ? 1n : 0n,
    created: BigInt(createdAt)
  }
}

/** The version before reads `role` alone. */
function storedRoles(roles: readonly string[]): { readonly role: string; readonly roles: string } {
  return { role: roles[0] ?? '', roles: JSON.stringify(roles) }
}

type AccountRow = Awaited<ReturnType<typeof selectedRows<typeof COLUMNS>>>[number]

function accountOf([row]: readonly AccountRow[]): StoredAccount | undefined {
  return row && storedAccount(row)
}

function storedAccount(row: AccountRow): StoredAccount {
  const { id, email, name, owner } = row
  return {
    id,
    email,
    name,
    roles: rolesOf(row),
    owner: owner === null ? null : BigInt(owner),
    claims: claimsOf(row.claims),
    passwordHash: row.password_hash === NO_PASSWORD ? null : row.password_hash,
    isSample: row.is_sample,
    disabledAt: row.disabled_at,
    sessionGeneration: row.session_generation ?? 0,
    createdAt: row.created_at
  }
}

/** Rows of the version before have one role and no list. */
function rolesOf({ role, roles }: AccountRow): readonly string[] {
  if (roles === null) return role === '' ? [] : [role]
  const list: unknown = JSON.parse(roles)
  if (!Array.isArray(list)) throw new TypeError('accounts.roles holds no list')
  return list.filter((one) => typeof one === 'string')
}

function claimsOf(stored: string | null): Readonly<Record<string, unknown>> {
  const claims: unknown = stored === null ? {} : JSON.parse(stored)
  if (typeof claims !== 'object' || claims === null || Array.isArray(claims)) {
    throw new TypeError('accounts.claims holds no object')
  }
  return { ...claims }
}

const ATTEMPTS = { attempts: textOfColumn }
const ATTEMPTS_OF_KEY = { key_hash: bytes, attempts: textOfColumn }

/** Recent log-ins by the hash of a client's address or of an account. */
export class LoginAttemptRows {
  readonly #lock: StatementText
  readonly #find: Select<typeof ATTEMPTS>
  readonly #findBoth: Select<typeof ATTEMPTS_OF_KEY>
  readonly #keep: StatementText

  constructor({ sql: { login_attempts: table } }: OwnTables, dialect: SqlDialect) {
    const insert = `INSERT INTO ${table} (key_hash, attempts, expires_at) VALUES ($key, '[[],[]]', 0)`
    this.#lock = statementText(dialect.insertOrKeep(insert, 'key_hash'))
    this.#find = select(ATTEMPTS, `FROM ${table} WHERE key_hash = $key`)
    this.#findBoth = select(ATTEMPTS_OF_KEY, `FROM ${table} WHERE key_hash IN ($first, $second)`)
    this.#keep = statementText(`UPDATE ${table} SET attempts = $attempts, expires_at = $until WHERE key_hash = $key`)
  }

  /**
   * As AuthUnit says: makes the row, or locks it without a change if it exists. Both lists are one short text, since they
   * are only read and written together, under the lock.
   */
  async lock(session: WriteSession, keyHash: Buffer): Promise<LoginAttempts> {
    await session.change(this.#lock, { key: keyHash })
    const [row] = await selectedRows(session, this.#find, { key: keyHash })
    return attemptsOf(row?.attempts ?? '')
  }

  /**
   * As AuthStore says. Finds both keys of a login in one statement: during a flood of logins most attempts cost only this
   * statement.
   */
  async find(
    session: ReadSession,
    keys: readonly [first: Buffer, second: Buffer]
  ): Promise<[LoginAttempts, LoginAttempts]> {
    const rows = await selectedRows(session, this.#findBoth, { first: keys[0], second: keys[1] })
    const of = (key: Buffer): LoginAttempts => {
      const row = rows.find(({ key_hash: hash }) => hash.equals(key))
      return row === undefined ? { failed: [], pending: [] } : attemptsOf(row.attempts)
    }
    return [of(keys[0]), of(keys[1])]
  }

  async keep(
    session: WriteSession,
    keyHash: Buffer,
    { attempts: { failed, pending }, expiresAt }: { readonly attempts: LoginAttempts; readonly expiresAt: number }
  ): Promise<void> {
    const attempts = JSON.stringify([failed, pending])
    await session.change(this.#keep, { key: keyHash, attempts, until: BigInt(expiresAt) })
  }
}

function attemptsOf(stored: string): LoginAttempts {
  const [failed, pending] = attemptList(JSON.parse(stored))
  return { failed: attemptTimes(failed), pending: attemptTimes(pending) }
}

function attemptTimes(list: unknown): number[] {
  return attemptList(list).filter((at) => typeof at === 'number')
}

function attemptList(list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) throw new TypeError('login_attempts holds no list')
  return list
}
