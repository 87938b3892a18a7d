import type { AccountLink, AuthStore } from '../auth/accounts.js'
import { digits, rowsOf, select, text } from './account-rows.js'
import type { ReadSession, WriteSession } from './engines/engine.js'
import { statementText } from './engines/statement.js'

const FIND = select({ account_id: digits }, 'FROM account_links WHERE identity_key = $key')

const ALL = select(
  { account_id: digits, issuer: text, subject: text },
  'FROM account_links ORDER BY account_id, created_at, identity_key'
)

const ADD = statementText(
  'INSERT INTO account_links (identity_key, account_id, issuer, subject, created_at) ' +
    'VALUES ($key, $account, $issuer, $subject, $created)'
)

const REMOVE = statementText('DELETE FROM account_links WHERE identity_key = $key')

export async function findLink(session: WriteSession, key: Buffer): Promise<string | undefined> {
  const [row] = await rowsOf(session, FIND, { key })
  return row?.account_id
}

export async function listLinks(session: ReadSession): ReturnType<AuthStore['listLinks']> {
  const rows = await rowsOf(session, ALL, {})
  return rows.map(({ account_id: accountId, issuer, subject }) => ({ accountId, issuer, subject }))
}

export async function addLink(
  session: WriteSession,
  { key, accountId, issuer, subject, createdAt }: AccountLink
): Promise<void> {
  await session.change(ADD, { key, account: BigInt(accountId), issuer, subject, created: BigInt(createdAt) })
}

export async function removeLink(session: WriteSession, key: Buffer): Promise<void> {
  await session.change(REMOVE, { key })
}
