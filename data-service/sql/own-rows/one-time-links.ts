import { accountKey, type OneTimeLink } from '../../auth/accounts/accounts.js'
import type { OwnTables } from '../engines/own-tables.js'
import type { ReadSession, WriteSession } from '../engines/sessions.js'
import { bytes, type StatementText, statementText } from '../engines/statement.js'
import { millis, type Select, select, selectedRows, textOfColumn } from './account-rows.js'

const COLUMNS = { link_hash: bytes, email: textOfColumn, account_state: bytes, expires_at: millis }
const COUNT = { live: millis }

/** The links by which people choose passwords, until they are used or expire. */
export class OneTimeLinkRows {
  readonly #find: Select<typeof COLUMNS>
  readonly #count: Select<typeof COUNT>
  readonly #add: StatementText
  readonly #take: StatementText
  readonly #drop: StatementText

  constructor({ sql: { one_time_links: table } }: OwnTables) {
    this.#find = select(COLUMNS, `FROM ${table} WHERE link_hash = $hash AND expires_at > $now`)
    this.#count = select(
      COUNT,
      `FROM (SELECT COUNT(*) AS live FROM ${table} WHERE email_key = $key AND expires_at > $now) AS counted`
    )
    this.#add = statementText(
      `INSERT INTO ${table} (link_hash, email_key, email, account_state, expires_at) ` +
        'VALUES ($hash, $key, $email, $state, $expires)'
    )
    this.#take = statementText(`DELETE FROM ${table} WHERE link_hash = $hash AND expires_at > $now`)
    this.#drop = statementText(`DELETE FROM ${table} WHERE email_key = $key`)
  }

  async find(session: ReadSession, hash: Buffer, now: number): Promise<OneTimeLink | undefined> {
    const [row] = await selectedRows(session, this.#find, { hash, now: BigInt(now) })
    return row && { hash, email: row.email, accountState: row.account_state, expiresAt: row.expires_at }
  }

  async count(session: WriteSession, key: Buffer, now: number): Promise<number> {
    const [row] = await selectedRows(session, this.#count, { key, now: BigInt(now) })
    return row?.live ?? 0
  }

  async add(session: WriteSession, { hash, email, accountState, expiresAt }: OneTimeLink): Promise<void> {
    const link = { hash, email, state: accountState, expires: BigInt(expiresAt) }
    await session.change(this.#add, { ...link, key: accountKey(email) })
  }

  async take(session: WriteSession, hash: Buffer, now: number): Promise<boolean> {
    return (await session.change(this.#take, { hash, now: BigInt(now) })).rows === 1
  }

  async drop(session: WriteSession, key: Buffer): Promise<void> {
    await session.change(this.#drop, { key })
  }
}
