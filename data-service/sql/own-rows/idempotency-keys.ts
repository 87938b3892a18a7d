import { DomainError } from '../../../shared/errors.js'
import type { StoredResponse, KeyClaim } from '../../plan/model/stores.js'
import {
  type BoundValues,
  bytes,
  padToPowerOfTwo,
  type SqlDialect,
  type Statement,
  type StatementText,
  statementText
} from '../engines/statement.js'
import type { BatchOutcome, BatchStatement, WriteSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import type { TransactionAttempt } from '../transactions.js'

/** How long a request waits for the first request with its key (contract.md section 5). */
const WAIT_MS = 2000

const RETRY_AFTER_S = 1

/** Keys of one DELETE at most. */
const KEYS_AT_ONCE = 1024

/** The idempotency keys of one database. A key is committed together with its answer. */
export class IdempotencyKeys {
  /** Inserts a new key, or locks the row of an existing key without a change. */
  readonly #take: StatementText
  readonly #takeOver: StatementText
  readonly #keep: StatementText
  readonly #find: Statement
  readonly #expired: Statement
  /** The beginning of a DELETE. A key that was taken over meanwhile is not expired any more, so it is checked again. */
  readonly #purge: string

  constructor({ sql: { idempotency_keys: table } }: OwnTables, dialect: SqlDialect) {
    const insert = `INSERT INTO ${table} (key_hash, fingerprint, created_at, expires_at) VALUES ($key, $print, $now, $until)`
    this.#take = statementText(dialect.insertOrKeep(insert, 'key_hash'))
    this.#takeOver = statementText(
      `UPDATE ${table} SET fingerprint = $print, answer = NULL, created_at = $now, expires_at = $until ` +
        'WHERE key_hash = $key'
    )
    this.#keep = statementText(`UPDATE ${table} SET answer = $answer WHERE key_hash = $key`)
    this.#find = {
      ...statementText(`SELECT fingerprint, answer, expires_at FROM ${table} WHERE key_hash = $key`),
      decode: [bytes, (raw) => (raw === null ? null : bytes(raw)), Number],
      exact: false
    }
    this.#expired = {
      ...statementText(`SELECT key_hash FROM ${table} WHERE expires_at <= $now ORDER BY expires_at LIMIT $limit`),
      decode: [bytes],
      exact: false
    }
    this.#purge = `DELETE FROM ${table} WHERE expires_at <= $now AND key_hash IN`
  }

  /**
   * As UnitOfWork.claimKey says. Claiming the key is the first statement of its transaction. A key that was inserted without
   * its transaction has no answer, and is taken over by the next claim.
   */
  async claim(transaction: TransactionAttempt, claim: KeyClaim): Promise<StoredResponse | undefined> {
    const values = claimValues(claim)
    const { rows } = await this.#taken(transaction, values)
    if (rows === 1) return undefined
    const [found] = await transaction.run(this.#find, values)
    const [fingerprint, answer, expiresAt] = found ?? []
    if (Buffer.isBuffer(fingerprint) && Buffer.isBuffer(answer) && Number(expiresAt) > claim.now) {
      return { fingerprint, answer }
    }
    await transaction.change(this.#takeOver, values)
    return undefined
  }

  /**
   * Claims a new key together with statements that do nothing unless it is one, and returns their outcomes. undefined if the
   * key is not new, or if it has to be waited for: then nothing was done, and `claim` is next.
   */
  async claimWith(
    transaction: TransactionAttempt,
    claim: KeyClaim,
    behind: readonly BatchStatement[]
  ): Promise<readonly BatchOutcome[] | undefined> {
    try {
      return await transaction.tryFirstWith(WAIT_MS, { text: this.#take, values: claimValues(claim) }, behind)
    } catch (error) {
      if (transaction.hasFailed) throw error
      const kind = transaction.classifyError(error)
      if (kind === 'lockTimeout') throw inFlight(error)
      if (kind !== 'deadlock') throw error
      return undefined
    }
  }

  /** The answer is kept with the COMMIT, which does not happen if the key is gone. */
  keep(transaction: TransactionAttempt, claim: KeyClaim, answer: Buffer): void {
    transaction.changeLast({ text: this.#keep, values: { key: claim.keyHash, answer } })
  }

  async purge(session: WriteSession, now: number, limit: number): Promise<number> {
    const found = await session.run(this.#expired, { now: BigInt(now), limit: BigInt(Math.min(limit, KEYS_AT_ONCE)) })
    const keys = found.flatMap(([key]) => (Buffer.isBuffer(key) ? [key] : []))
    return await deleteListed(session, this.#purge, { keys, now })
  }

  /**
   * When the transaction that holds the key is rolled back, InnoDB continues one of the waiting transactions and reports
   * a deadlock to the others. They hold no lock yet, so they wait again.
   */
  async #taken(transaction: TransactionAttempt, values: BoundValues) {
    const end = performance.now() + WAIT_MS
    for (;;) {
      try {
        return await transaction.tryFirst(Math.max(1, Math.ceil(end - performance.now())), this.#take, values)
      } catch (error) {
        const kind = transaction.classifyError(error)
        if (kind === 'lockTimeout' || (kind === 'deadlock' && performance.now() > end)) throw inFlight(error)
        if (kind !== 'deadlock') throw error
      }
    }
  }
}

function claimValues({ keyHash, fingerprint, now, expiresAt }: KeyClaim): BoundValues {
  return { key: keyHash, print: fingerprint, now: BigInt(now), until: BigInt(expiresAt) }
}

function inFlight(cause: unknown): DomainError {
  return new DomainError(
    'idempotency.in-flight',
    'The first request with this Idempotency-Key is still running. Try again to get its answer.',
    { retryAfter: RETRY_AFTER_S, cause }
  )
}

/**
 * Runs a DELETE that ends in `IN` for a list of keys, and returns how many rows it deleted. It locks rows by their
 * primary key, like all other statements on these rows, so that it takes part in no deadlock.
 */
export async function deleteListed(
  session: WriteSession,
  statement: string,
  { keys, now }: { readonly keys: readonly (Buffer | bigint)[]; readonly now: number }
): Promise<number> {
  if (keys.length === 0) return 0
  const values: BoundValues = { now: BigInt(now) }
  const names = padToPowerOfTwo(keys).map((key, index) => {
    values[`k${index}`] = key
    return `$k${index}`
  })
  return (await session.change(statementText(`${statement} (${names.join(', ')})`), values)).rows
}
