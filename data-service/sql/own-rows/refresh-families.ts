import type {
  Family,
  KeptToken,
  LiveFamily,
  NewToken,
  Rotation,
  StoredAccount,
  TokenKeys
} from '../../auth/accounts/accounts.js'
import { digits, millis, orNull, selectedRows, type Select, select } from './account-rows.js'
import { bytes, type SqlDialect, type StatementText, statementText } from '../engines/statement.js'
import type { ReadSession, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'

const FAMILY = {
  id: bytes,
  account_id: digits,
  created_at: millis,
  ends_at: millis,
  revoked_at: orNull(millis),
  session_generation: orNull(millis)
}
const LIVE = { id: bytes, created_at: millis, expires_at: millis }
const FAMILY_OF_TOKEN = { family_id: bytes }
const FAMILY_ID = { id: bytes }
const TOKEN_COLUMNS = {
  family_id: bytes,
  issued_at: millis,
  expires_at: millis,
  used_at: orNull(millis),
  successor: orNull(bytes)
}
const ISSUED = { issued_at: millis }

/** Sessions that an account has at most. A new one ends the one that would expire first. */
const MOST_SESSIONS = 100

/** Sessions beyond these that a new one ends at most. */
const ENDED_AT_ONCE = 10

/** The families of refresh tokens of one database, and their tokens. */
export class RefreshFamilies {
  readonly #addFamily: StatementText
  readonly #addToken: StatementText
  readonly #familyOfToken: Select<typeof FAMILY_OF_TOKEN>
  readonly #namedFamily: Select<typeof FAMILY_ID>
  /** Every change of a family or its tokens first locks the family's row, so that changes of one family run in sequence. */
  readonly #lockFamily: Select<typeof FAMILY>
  readonly #token: Select<typeof TOKEN_COLUMNS>
  readonly #issued: Select<typeof ISSUED>
  readonly #use: StatementText
  /** Concurrent refreshes on two nodes of a cluster collide on this write. A row lock holds on one node only. */
  readonly #extend: StatementText
  readonly #revoke: StatementText
  /** It comes before `#revokeAll`: a family that is inserted later waits for this row, and has the number from before. */
  readonly #nextGeneration: StatementText
  readonly #revokeAll: StatementText
  readonly #revokeOthers: StatementText
  readonly #keep: StatementText
  readonly #endOne: StatementText
  readonly #live: Select<typeof LIVE>
  readonly #leastUsed: Select<typeof FAMILY_ID>

  constructor({ sql }: OwnTables, { forUpdate }: SqlDialect) {
    const { accounts, refresh_families: families, refresh_tokens: tokens } = sql
    this.#addFamily = statementText(
      `INSERT INTO ${families} (id, account_id, created_at, ends_at, expires_at, ref_hash, session_generation) ` +
        'VALUES ($id, $account, $created, $ends, $until, $ref, $generation)'
    )
    this.#addToken = statementText(
      `INSERT INTO ${tokens} (token_hash, family_id, issued_at, expires_at) VALUES ($hash, $family, $issued, $until)`
    )
    this.#familyOfToken = select(FAMILY_OF_TOKEN, `FROM ${tokens} WHERE token_hash = $hash`)
    this.#namedFamily = select(FAMILY_ID, `FROM ${families} WHERE ref_hash = $ref`)
    this.#lockFamily = select(FAMILY, `FROM ${families} WHERE id = $id${forUpdate}`)
    this.#token = select(TOKEN_COLUMNS, `FROM ${tokens} WHERE token_hash = $hash`)
    this.#issued = select(ISSUED, `FROM ${tokens} WHERE family_id = $id AND issued_at > $since ORDER BY issued_at`)
    this.#use = statementText(
      `UPDATE ${tokens} SET used_at = $at, successor = $sealed, purge_at = $purge WHERE token_hash = $hash`
    )
    this.#extend = statementText(`UPDATE ${families} SET expires_at = $until, ref_hash = $ref WHERE id = $id`)
    this.#revoke = statementText(`UPDATE ${families} SET revoked_at = $at, expires_at = $at WHERE id = $id`)
    this.#nextGeneration = statementText(
      `UPDATE ${accounts} SET session_generation = COALESCE(session_generation, 0) + 1 WHERE id = $account`
    )
    const revokeAll =
      `UPDATE ${families} SET revoked_at = $at, expires_at = $at ` +
      'WHERE account_id = $account AND revoked_at IS NULL'
    this.#revokeAll = statementText(revokeAll)
    this.#revokeOthers = statementText(`${revokeAll} AND id <> $kept`)
    this.#endOne = statementText(`${revokeAll} AND id = $family`)
    this.#live = select(
      LIVE,
      `FROM ${families} WHERE account_id = $account AND revoked_at IS NULL AND expires_at > $now ` +
        `AND COALESCE(session_generation, 0) = $generation ORDER BY created_at DESC, id LIMIT ${MOST_SESSIONS}`
    )
    // A refresh puts off the expiry.
    this.#leastUsed = select(
      FAMILY_ID,
      `FROM ${families} WHERE account_id = $account AND revoked_at IS NULL AND expires_at > $now AND id <> $kept ` +
        `ORDER BY expires_at DESC, id LIMIT ${ENDED_AT_ONCE} OFFSET ${MOST_SESSIONS - 1}`
    )
    this.#keep = statementText(
      `UPDATE ${families} SET session_generation = (SELECT session_generation FROM ${accounts} WHERE id = $account) ` +
        'WHERE id = $kept'
    )
  }

  /** As AuthUnit says. */
  async add(session: WriteSession, family: Family, token: NewToken): Promise<void> {
    const ofAccount = { account: BigInt(family.accountId), now: BigInt(family.createdAt), kept: family.id }
    for (const { id } of await selectedRows(session, this.#leastUsed, ofAccount)) {
      await this.endOne(session, family.accountId, { family: id, at: family.createdAt })
    }
    await session.change(this.#addFamily, {
      id: family.id,
      account: BigInt(family.accountId),
      created: BigInt(family.createdAt),
      ends: BigInt(family.endsAt),
      until: BigInt(token.expiresAt),
      ref: token.refHash,
      generation: BigInt(family.sessionGeneration)
    })
    await this.#insertToken(session, token)
  }

  async lockFamilyOf(session: WriteSession, token: TokenKeys): Promise<Family | undefined> {
    const id = await this.#familyIdOf(session, token)
    if (id === undefined) return undefined
    const [row] = await selectedRows(session, this.#lockFamily, { id })
    if (row === undefined) return undefined
    return {
      id: row.id,
      accountId: row.account_id,
      createdAt: row.created_at,
      endsAt: row.ends_at,
      revokedAt: row.revoked_at,
      sessionGeneration: row.session_generation ?? 0
    }
  }

  async issuedSince(session: WriteSession, id: Buffer, since: number): Promise<number[]> {
    return (await selectedRows(session, this.#issued, { id, since: BigInt(since) })).map((row) => row.issued_at)
  }

  async findToken(session: WriteSession, hash: Buffer): Promise<KeptToken | undefined> {
    const [row] = await selectedRows(session, this.#token, { hash })
    if (row === undefined) return undefined
    const { family_id: familyId, issued_at: issuedAt, expires_at: expiresAt, used_at: usedAt, successor } = row
    return { hash, familyId, issuedAt, expiresAt, usedAt, successor }
  }

  async rotate(session: WriteSession, hash: Buffer, { usedAt, purgeAt, sealed, successor }: Rotation): Promise<void> {
    const purge = purgeAt === null ? null : BigInt(purgeAt)
    await session.change(this.#use, { hash, at: BigInt(usedAt), sealed, purge })
    await this.#insertToken(session, successor)
    const { familyId: id, expiresAt, refHash } = successor
    await session.change(this.#extend, { id, until: BigInt(expiresAt), ref: refHash })
  }

  async revoke(session: WriteSession, id: Buffer, at: number): Promise<void> {
    await session.change(this.#revoke, { id, at: BigInt(at) })
  }

  /** As AuthUnit says. */
  async endSessions(
    session: WriteSession,
    accountId: string,
    { at, kept }: { readonly at: number; readonly kept: Buffer | undefined }
  ): Promise<number> {
    const account = BigInt(accountId)
    await session.change(this.#nextGeneration, { account })
    if (kept === undefined) return (await session.change(this.#revokeAll, { account, at: BigInt(at) })).rows
    const { rows } = await session.change(this.#revokeOthers, { account, at: BigInt(at), kept })
    await session.change(this.#keep, { account, kept })
    return rows
  }

  /** As AuthUnit says. */
  async endOne(
    session: WriteSession,
    accountId: string,
    { family, at }: { readonly family: Buffer; readonly at: number }
  ): Promise<boolean> {
    const { rows } = await session.change(this.#endOne, { account: BigInt(accountId), family, at: BigInt(at) })
    return rows === 1
  }

  /** The newest sessions of an account that are not over, 100 at most. */
  async live(
    session: ReadSession,
    { id, sessionGeneration }: StoredAccount,
    now: number
  ): Promise<readonly LiveFamily[]> {
    const values = { account: BigInt(id), now: BigInt(now), generation: BigInt(sessionGeneration) }
    const rows = await selectedRows(session, this.#live, values)
    return rows.map(({ id: family, ...row }) => ({ id: family, createdAt: row.created_at, expiresAt: row.expires_at }))
  }

  async #familyIdOf(session: WriteSession, { hash, refHash }: TokenKeys): Promise<Buffer | undefined> {
    const [found] = await selectedRows(session, this.#familyOfToken, { hash })
    if (found !== undefined || refHash === null) return found?.family_id
    const [named] = await selectedRows(session, this.#namedFamily, { ref: refHash })
    return named?.id
  }

  async #insertToken(session: WriteSession, { hash, familyId, issuedAt, expiresAt }: NewToken): Promise<void> {
    await session.change(this.#addToken, {
      hash,
      family: familyId,
      issued: BigInt(issuedAt),
      until: BigInt(expiresAt)
    })
  }
}
