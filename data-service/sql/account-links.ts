import type { AccountLink, OutsideIdentity } from '../auth/accounts.js'
import { digits, rowsOf, select, text } from './account-rows.js'
import type { WriteSession } from './engines/engine.js'
import { statementText } from './engines/statement.js'

const FIND = select({ account_id: digits }, 'FROM account_links WHERE identity_key = $key')

const OF_ACCOUNT = select(
  { issuer: text, subject: text },
  'FROM account_links WHERE account_id = $account ORDER BY created_at, identity_key'
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

export async function linksOf(session: WriteSession, accountId: string): Promise<readonly OutsideIdentity[]> {
  return await rowsOf(session, OF_ACCOUNT, { account: BigInt(accountId) })
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
