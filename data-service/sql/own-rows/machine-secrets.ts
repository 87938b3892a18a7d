import type { MachineSecret } from '../../auth/accounts/machines.js'
import type { OwnTables } from '../engines/own-tables.js'
import type { ReadSession, WriteSession } from '../engines/sessions.js'
import { bytes, type StatementText, statementText } from '../engines/statement.js'
import { digits, millis, orNull, type RowOfColumns, type Select, select, selectedRows } from './account-rows.js'

const COLUMNS = {
  account_id: digits,
  slot: millis,
  secret_hash: bytes,
  created_at: millis,
  expires_at: orNull(millis),
  last_used_at: orNull(millis)
}

/** The secrets of machine accounts. */
export class MachineSecretRows {
  readonly #ofAccount: Select<typeof COLUMNS>
  readonly #all: Select<typeof COLUMNS>
  readonly #add: StatementText
  readonly #remove: StatementText
  readonly #dropExpired: StatementText
  readonly #used: StatementText

  constructor({ sql: { machine_secrets: table, accounts } }: OwnTables) {
    this.#ofAccount = select(
      COLUMNS,
      `FROM ${table} WHERE account_id = (SELECT id FROM ${accounts} WHERE email_key = $key)`
    )
    this.#all = select(COLUMNS, `FROM ${table} ORDER BY account_id, slot`)
    this.#add = statementText(
      `INSERT INTO ${table} (account_id, slot, secret_hash, created_at, expires_at) ` +
        'VALUES ($account, $slot, $hash, $created, $expires)'
    )
    this.#remove = statementText(`DELETE FROM ${table} WHERE account_id = $account AND slot = $slot`)
    this.#dropExpired = statementText(
      `DELETE FROM ${table} WHERE account_id = $account AND slot = $slot AND expires_at <= $now`
    )
    this.#used = statementText(`UPDATE ${table} SET last_used_at = $at WHERE account_id = $account AND slot = $slot`)
  }

  /** Of the account with that key; none for an account that does not exist, with the same statement. */
  async ofAccount(session: ReadSession, accountKey: Buffer): Promise<readonly MachineSecret[]> {
    return (await selectedRows(session, this.#ofAccount, { key: accountKey })).map(machineSecret)
  }

  async list(session: ReadSession): Promise<readonly (MachineSecret & { readonly accountId: string })[]> {
    const rows = await selectedRows(session, this.#all, {})
    return rows.map((row) => ({ ...machineSecret(row), accountId: row.account_id }))
  }

  /** Fails as a lost race if the slot has a secret already. */
  async add(session: WriteSession, accountId: string, secret: Omit<MachineSecret, 'lastUsedAt'>): Promise<void> {
    const { slot, hash, createdAt, expiresAt } = secret
    await session.change(this.#add, {
      ...keyOf(accountId, slot),
      hash,
      created: BigInt(createdAt),
      expires: expiresAt === null ? null : BigInt(expiresAt)
    })
  }

  async remove(session: WriteSession, accountId: string, slot: number): Promise<boolean> {
    return (await session.change(this.#remove, keyOf(accountId, slot))).rows === 1
  }

  async dropExpired(
    session: WriteSession,
    accountId: string,
    { slot, now }: { slot: number; now: number }
  ): Promise<void> {
    await session.change(this.#dropExpired, { ...keyOf(accountId, slot), now: BigInt(now) })
  }

  async used(session: WriteSession, accountId: string, { slot, at }: { slot: number; at: number }): Promise<void> {
    await session.change(this.#used, { ...keyOf(accountId, slot), at: BigInt(at) })
  }
}

function keyOf(accountId: string, slot: number): { readonly account: bigint; readonly slot: bigint } {
  return { account: BigInt(accountId), slot: BigInt(slot) }
}

function machineSecret(row: RowOfColumns<typeof COLUMNS>): MachineSecret {
  return {
    slot: row.slot,
    hash: row.secret_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at
  }
}
