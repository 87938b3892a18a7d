import { accountKey, type OneTimeLink, type PlacesOf } from '../../auth/accounts/accounts.js'
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
      `FROM (SELECT COUNT(DISTINCT event_id) AS live FROM ${table} WHERE email_key = $key AND expires_at > $now ` +
        'AND account_state = $state AND event_id <> $event) AS counted'
    )
    this.#add = statementText(
      `INSERT INTO ${table} (link_hash, email_key, email, account_state, event_id, expires_at) ` +
        'VALUES ($hash, $key, $email, $state, $event, $expires)'
    )
    this.#take = statementText(`DELETE FROM ${table} WHERE link_hash = $hash AND expires_at > $now`)
    this.#drop = statementText(`DELETE FROM ${table} WHERE email_key = $key`)
  }

  async find(session: ReadSession, hash: Buffer, now: number): Promise<OneTimeLink | undefined> {
    const [row] = await selectedRows(session, this.#find, { hash, now: BigInt(now) })
    return row && { hash, email: row.email, accountState: row.account_state, expiresAt: row.expires_at }
  }

  async count(session: WriteSession, key: Buffer, { state, event, now }: PlacesOf): Promise<number> {
    const [row] = await selectedRows(session, this.#count, { key, state, event, now: BigInt(now) })
    return row?.live ?? 0
  }

  async add(session: WriteSession, link: OneTimeLink, event: string): Promise<void> {
    const { hash, email, accountState: state, expiresAt } = link
    await session.change(this.#add, { hash, key: accountKey(email), email, state, event, expires: BigInt(expiresAt) })
  }

  async take(session: WriteSession, hash: Buffer, now: number): Promise<boolean> {
    return (await session.change(this.#take, { hash, now: BigInt(now) })).rows === 1
  }

  async drop(session: WriteSession, key: Buffer): Promise<void> {
    await session.change(this.#drop, { key })
  }
}
