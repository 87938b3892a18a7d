import type { StoredAccount } from '../../auth/account.js'
import type { NewAccount } from '../../auth/auth-store.js'
import type { ReadSession } from '../reader.js'
import { statementText } from '../statement.js'
import type { WriteSession } from '../write/transactions.js'
import { digits, flag, orNull, rowsOf, select, text } from './select.js'

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

const INSERT =
  'INTO accounts (email_key, email, name, password_hash, role, owner, is_sample, created_at) ' +
  'VALUES ($key, $email, $name, $hash, $role, $owner, $sample, $created)'

/** Of one that is there already it changes nothing. */
const ADD = {
  mysql: statementText(`INSERT ${INSERT} ON DUPLICATE KEY UPDATE id = id`),
  sqlite: statementText(`INSERT ${INSERT} ON CONFLICT (email_key) DO NOTHING`)
}

export async function findAccount(session: ReadSession, emailKey: Buffer): Promise<StoredAccount | undefined> {
  return accountOf(await rowsOf(session, BY_KEY, { key: emailKey }))
}

export async function getAccount(session: WriteSession, id: string): Promise<StoredAccount | undefined> {
  return accountOf(await rowsOf(session, BY_ID, { id: BigInt(id) }))
}

export async function addAccount(
  session: WriteSession,
  kind: keyof typeof ADD,
  { emailKey, email, name, passwordHash, role, owner, isSample, createdAt }: NewAccount
): Promise<void> {
  await session.change(ADD[kind], {
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
