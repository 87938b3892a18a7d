import type { AccountLink, AuthStore, OutsideIdentity } from '../../auth/accounts/accounts.js'
import { digits, selectedRows, type Select, select, textOfColumn } from './account-rows.js'
import type { ReadSession, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { type StatementText, statementText } from '../engines/statement.js'

const ACCOUNT = { account_id: digits }
const LINK = { account_id: digits, issuer: textOfColumn, subject: textOfColumn }

/** The identities of outside providers that may sign in to accounts. */
export class AccountLinkRows {
  readonly #find: Select<typeof ACCOUNT>
  readonly #all: Select<typeof LINK>
  readonly #ofAccount: Select<typeof LINK>
  readonly #add: StatementText
  readonly #remove: StatementText

  constructor({ sql: { account_links: table } }: OwnTables) {
    this.#find = select(ACCOUNT, `FROM ${table} WHERE identity_key = $key`)
    this.#all = select(LINK, `FROM ${table} ORDER BY account_id, created_at, identity_key`)
    this.#ofAccount = select(
      LINK,
      `FROM ${table} WHERE account_id = $account ORDER BY created_at, identity_key LIMIT 100`
    )
    this.#add = statementText(
      `INSERT INTO ${table} (identity_key, account_id, issuer, subject, created_at) ` +
        'VALUES ($key, $account, $issuer, $subject, $created)'
    )
    this.#remove = statementText(`DELETE FROM ${table} WHERE identity_key = $key`)
  }

  async ofAccount(session: ReadSession, accountId: string): Promise<OutsideIdentity[]> {
    const rows = await selectedRows(session, this.#ofAccount, { account: BigInt(accountId) })
    return rows.map(({ issuer, subject }) => ({ issuer, subject }))
  }

  async find(session: WriteSession, key: Buffer): Promise<string | undefined> {
    const [row] = await selectedRows(session, this.#find, { key })
    return row?.account_id
  }

  async list(session: ReadSession): ReturnType<AuthStore['listLinks']> {
    const rows = await selectedRows(session, this.#all, {})
    return rows.map(({ account_id: accountId, issuer, subject }) => ({ accountId, issuer, subject }))
  }

  async add(session: WriteSession, { key, accountId, issuer, subject, createdAt }: AccountLink): Promise<void> {
    await session.change(this.#add, { key, account: BigInt(accountId), issuer, subject, created: BigInt(createdAt) })
  }

  async remove(session: WriteSession, key: Buffer): Promise<void> {
    await session.change(this.#remove, { key })
  }
}
