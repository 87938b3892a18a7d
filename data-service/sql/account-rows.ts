import type { LoginAttempts, NewAccount, StoredAccount } from '../auth/accounts.js'
import type { Value } from '../entity/field.js'
import type { ReadSession, SqlDialect, WriteSession } from './engines/engine.js'
import { type BoundValues, bytes, type Statement, type StatementText, statementText } from './engines/statement.js'

/** Converts a driver's value of a column. Throws a TypeError for a value of another type. */
type Read<Kind extends Value> = (raw: unknown) => Kind

/** Whole numbers that a double represents exactly, such as epoch milliseconds. */
export const millis: Read<number> = Number

/** Whole numbers of 64 bits, as their digits. */
export const digits: Read<string> = (raw) => {
  if (typeof raw !== 'string' && typeof raw !== 'number' && typeof raw !== 'bigint') throw wrongType(raw)
  return String(raw)
}

const flag: Read<boolean> = (raw) => Number(raw) === 1

const text: Read<string> = (raw) => {
  if (typeof raw !== 'string') throw wrongType(raw)
  return raw
}

export const binary: Read<Buffer> = bytes

export function orNull<Kind extends Value>(read: Read<Kind>): Read<Kind | null> {
  return (raw) => (raw === null ? null : read(raw))
}

type Columns = Readonly<Record<string, Read<Value>>>
type RowOf<C extends Columns> = { readonly [Name in keyof C]: ReturnType<C[Name]> }

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

export async function rowsOf<C extends Columns>(
  session: ReadSession,
  { statement, columns }: Select<C>,
  values: BoundValues
): Promise<RowOf<C>[]> {
  const names = Object.keys(columns)
  const rows = await session.run(statement, values)
  // Each value was converted by the function of its column.
  return rows.map((row) => Object.fromEntries(names.map((name, place) => [name, row[place]])) as RowOf<C>)
}

function wrongType(raw: unknown): TypeError {
  return new TypeError(`A column of accounts or sessions holds a ${typeof raw}`)
}

const COLUMNS = {
  id: digits,
  email: text,
  name: text,
  password_hash: text,
  role: text,
  owner: orNull(digits),
  is_sample: flag
}

const BY_KEY = select(COLUMNS, 'FROM accounts WHERE email_key = $key')
const BY_ID = select(COLUMNS, 'FROM accounts WHERE id = $id')

const INSERT_ACCOUNT =
  'INSERT INTO accounts (email_key, email, name, password_hash, role, owner, is_sample, created_at) ' +
  'VALUES ($key, $email, $name, $hash, $role, $owner, $sample, $created)'

/** Changes nothing if an account with the same e-mail address exists. */
export function addAccountText(dialect: SqlDialect): StatementText {
  return statementText(dialect.insertOrKeep(INSERT_ACCOUNT, 'email_key'))
}

export async function findAccount(session: ReadSession, emailKey: Buffer): Promise<StoredAccount | undefined> {
  return accountOf(await rowsOf(session, BY_KEY, { key: emailKey }))
}

export async function getAccount(session: WriteSession, id: string): Promise<StoredAccount | undefined> {
  return accountOf(await rowsOf(session, BY_ID, { id: BigInt(id) }))
}

export async function addAccount(
  session: WriteSession,
  text: StatementText,
  { emailKey, email, name, passwordHash, role, owner, isSample, createdAt }: NewAccount
): Promise<void> {
  await session.change(text, {
    key: emailKey,
    email,
    name,
    hash: passwordHash,
    role,
    owner,
    sample: isSample ? 1n : 0n,
    created: BigInt(createdAt)
  })
}

function accountOf([row]: Awaited<ReturnType<typeof rowsOf<typeof COLUMNS>>>): StoredAccount | undefined {
  if (row === undefined) return undefined
  const { id, email, name, role, owner } = row
  return {
    id,
    email,
    name,
    role,
    owner: owner === null ? null : BigInt(owner),
    passwordHash: row.password_hash,
    isSample: row.is_sample
  }
}

const INSERT_ATTEMPTS = "INSERT INTO login_attempts (key_hash, attempts, expires_at) VALUES ($key, '[[],[]]', 0)"

/** Makes the row, or locks it without a change if it exists. */
export function lockAttemptsText(dialect: SqlDialect): StatementText {
  return statementText(dialect.insertOrKeep(INSERT_ATTEMPTS, 'key_hash'))
}

const FIND = select({ attempts: text }, 'FROM login_attempts WHERE key_hash = $key')

/** Finds both keys of a login in one statement. During a flood of logins most attempts cost only this statement. */
const FIND_BOTH = select(
  { key_hash: binary, attempts: text },
  'FROM login_attempts WHERE key_hash IN ($first, $second)'
)

const KEEP = statementText('UPDATE login_attempts SET attempts = $attempts, expires_at = $until WHERE key_hash = $key')

/** As AuthUnit says. Both lists are one short text, since they are only read and written together, under the lock. */
export async function lockAttempts(
  session: WriteSession,
  text: StatementText,
  keyHash: Buffer
): Promise<LoginAttempts> {
  await session.change(text, { key: keyHash })
  const [row] = await rowsOf(session, FIND, { key: keyHash })
  return attemptsOf(row?.attempts ?? '')
}

/** As AuthStore says. */
export async function findAttempts(
  session: ReadSession,
  keys: readonly [first: Buffer, second: Buffer]
): Promise<[LoginAttempts, LoginAttempts]> {
  const rows = await rowsOf(session, FIND_BOTH, { first: keys[0], second: keys[1] })
  const of = (key: Buffer): LoginAttempts => {
    const row = rows.find(({ key_hash: hash }) => hash.equals(key))
    return row === undefined ? { failed: [], pending: [] } : attemptsOf(row.attempts)
  }
  return [of(keys[0]), of(keys[1])]
}

export async function keepAttempts(
  session: WriteSession,
  keyHash: Buffer,
  { attempts: { failed, pending }, expiresAt }: { readonly attempts: LoginAttempts; readonly expiresAt: number }
): Promise<void> {
  const attempts = JSON.stringify([failed, pending])
  await session.change(KEEP, { key: keyHash, attempts, until: BigInt(expiresAt) })
}

function attemptsOf(stored: string): LoginAttempts {
  const [failed, pending] = membersOf(JSON.parse(stored))
  return { failed: timesOf(failed), pending: timesOf(pending) }
}

function timesOf(list: unknown): number[] {
  return membersOf(list).filter((at) => typeof at === 'number')
}

function membersOf(list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) throw new TypeError('login_attempts holds no list')
  return list
}
