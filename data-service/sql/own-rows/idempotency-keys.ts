import { DomainError } from '../../../shared/errors.js'
import type { Value } from '../../entity/fields/field.js'
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
import {
  type BatchOutcome,
  type BatchStatement,
  type Changed,
  type ErrorKind,
  type Reader,
  type ReadSession,
  upstreamUnavailable,
  type WriteSession
} from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { raceLost, type TransactionAttempt } from '../transactions.js'

/** How long a request waits for the first request with its key (contract.md section 5). */
const WAIT_MS = 2000

const RETRY_AFTER_S = 1

/** Keys of one DELETE at most, and bytes of their answers: group replication takes no transaction of any size. */
const KEYS_PER_DELETE = 1024
const BYTES_PER_DELETE = 16 * 1024 * 1024

/** A request with a key, over all tries of its transaction. */
export interface KeyedRequest {
  /** The key that it has claimed, set by `IdempotencyKeys`. */
  key?: string
  /** Why its claim together with other statements has waited in vain. The claim that follows does not wait again. */
  waited?: unknown
}

/** How the keys of a database are read outside of the transaction that claims one. */
interface KeyReading {
  readonly reader: Reader
  readonly classifyError: (error: unknown) => ErrorKind
}

/** The idempotency keys of one database. A key is committed together with its answer. */
export class IdempotencyKeys {
  /** Inserts a new key, or locks the row of an existing key without a change. */
  readonly #take: StatementText
  readonly #takeOver: StatementText
  readonly #keep: StatementText
  readonly #find: Statement
  /** Fails with a `lockTimeout` if another transaction holds the key. undefined where that cannot be asked. */
  readonly #probe: Statement | undefined
  readonly #reading: KeyReading
  /** The requests of this process that have claimed a key and have not ended, in the order of their claims. */
  readonly #running = new Map<string, Set<KeyedRequest>>()
  readonly #expired: Statement
  /** The beginning of a DELETE. A key that was taken over meanwhile is not expired any more, so it is checked again. */
  readonly #purge: string

  constructor({ sql: { idempotency_keys: table } }: OwnTables, dialect: SqlDialect, reading: KeyReading) {
    this.#reading = reading
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
    this.#probe =
      dialect.forUpdateNow === undefined
        ? undefined
        : {
            ...statementText(`SELECT key_hash FROM ${table} WHERE key_hash = $key${dialect.forUpdateNow}`),
            decode: [bytes],
            exact: false
          }
    this.#expired = {
      ...statementText(
        `SELECT key_hash, LENGTH(answer) FROM ${table} WHERE expires_at <= $now ORDER BY expires_at LIMIT $limit`
      ),
      decode: [bytes, Number],
      exact: false
    }
    this.#purge = `DELETE FROM ${table} WHERE expires_at <= $now AND key_hash IN`
  }

  /**
   * As UnitOfWork.claimKey says. Claiming the key is the first statement of its transaction. A key that was inserted without
   * its transaction has no answer, and is taken over by the next claim.
   */
  async claim(
    transaction: TransactionAttempt,
    claim: KeyClaim,
    request: KeyedRequest
  ): Promise<StoredResponse | undefined> {
    this.#begun(claim, request)
    const values = claimValues(claim)
    const { waited } = request
    delete request.waited
    const taken = waited === undefined ? await this.#taken(transaction, values) : { waited }
    if ('waited' in taken) return await this.#afterWait(transaction, claim, { request, error: taken.waited })
    if (taken.rows === 1) return undefined
    const kept = await this.find(transaction, claim)
    if (kept === undefined) await transaction.change(this.#takeOver, values)
    return kept
  }

  /** As UnitOfWork.findResponse says. */
  async find(session: ReadSession, claim: KeyClaim): Promise<StoredResponse | undefined> {
    return answerIn(await session.run(this.#find, { key: claim.keyHash }), claim)
  }

  /**
   * Claims a new key together with statements that do nothing unless it is one, and returns their outcomes. undefined if the
   * key is not new, or if it has to be waited for: then nothing was done, and `claim` is next.
   */
  async claimWith(
    transaction: TransactionAttempt,
    { claim, request }: { readonly claim: KeyClaim; readonly request: KeyedRequest },
    behind: readonly BatchStatement[]
  ): Promise<readonly BatchOutcome[] | undefined> {
    this.#begun(claim, request)
    delete request.waited
    try {
      return await transaction.tryFirstWith(WAIT_MS, { text: this.#take, values: claimValues(claim) }, behind)
    } catch (error) {
      if (transaction.hasFailed) throw error
      const kind = transaction.classifyError(error)
      if (kind === 'lockTimeout') request.waited = error
      else if (kind !== 'deadlock') throw error
      return undefined
    }
  }

  /** Called when a request has ended, whatever became of it. */
  ended(request: KeyedRequest): void {
    if (request.key === undefined) return
    const requests = this.#running.get(request.key)
    requests?.delete(request)
    if (requests?.size === 0) this.#running.delete(request.key)
  }

  /** The answer is kept with the COMMIT, which does not happen if the key is gone. */
  keep(transaction: TransactionAttempt, claim: KeyClaim, answer: Buffer): void {
    transaction.changeLast({ text: this.#keep, values: { key: claim.keyHash, answer } })
  }

  /** Deletes some keys that expired by `now`, the oldest first. */
  async purge(session: WriteSession, now: number, limit: number): Promise<number> {
    const found = await session.run(this.#expired, {
      now: BigInt(now),
      limit: BigInt(Math.min(limit, KEYS_PER_DELETE))
    })
    let left = BYTES_PER_DELETE
    const keys = found.flatMap(([key, length], index) => {
      left -= Number(length)
      return Buffer.isBuffer(key) && (left >= 0 || index === 0) ? [key] : []
    })
    return await deleteListed(session, this.#purge, { keys, now })
  }

  /** As UnitOfWork.forgetResponses says. */
  async forget(session: WriteSession, claims: readonly KeyClaim[]): Promise<void> {
    const keys = claims.map(({ keyHash }) => keyHash)
    await deleteListed(session, this.#purge, { keys, now: Number.MAX_SAFE_INTEGER })
  }

  /**
   * When the transaction that holds the key is rolled back, InnoDB continues one of the waiting transactions and reports
   * a deadlock to the others. They hold no lock yet, so they wait again.
   */
  async #taken(transaction: TransactionAttempt, values: BoundValues): Promise<Changed | { readonly waited: unknown }> {
    const end = performance.now() + WAIT_MS
    for (;;) {
      try {
        return await transaction.tryFirst(Math.max(1, Math.ceil(end - performance.now())), this.#take, values)
      } catch (error) {
        const kind = transaction.classifyError(error)
        if (kind === 'lockTimeout' || (kind === 'deadlock' && performance.now() > end)) return { waited: error }
        if (kind !== 'deadlock') throw error
      }
    }
  }

  #begun({ keyHash }: KeyClaim, request: KeyedRequest): void {
    const key = keyHash.toString('base64')
    request.key = key
    const requests = this.#running.get(key)
    if (requests === undefined) this.#running.set(key, new Set([request]))
    else requests.add(request)
  }

  /**
   * What a claim comes to whose wait has ended without the lock: the answer if the key has one by now, else
   * `idempotency.in-flight` if the key is what another request holds. Else a claim that met deadlocks alone has lost a race,
   * and for the others it is `upstream.unavailable`, since a claim also waits for what is no key of its own: the one writer of
   * a file, a gap between two keys, the other nodes of a cluster.
   */
  async #afterWait(
    transaction: TransactionAttempt,
    claim: KeyClaim,
    { request, error }: { readonly request: KeyedRequest; readonly error: unknown }
  ): Promise<StoredResponse> {
    const values: BoundValues = { key: claim.keyHash }
    const found = await this.#reading.reader.read(transaction.signal, async (session) => {
      const kept = await this.find(session, claim)
      if (kept !== undefined) return kept
      const [first] = this.#running.get(claim.keyHash.toString('base64')) ?? []
      return { isHeld: first !== request || (await this.#isHeld(session, values)) }
    })
    if ('answer' in found) {
      // The first request may still be bringing to the disk what the reader has seen.
      await transaction.flushed()
      return found
    }
    if (found.isHeld) throw inFlight(error)
    if (transaction.classifyError(error) === 'deadlock') throw raceLost(error)
    throw upstreamUnavailable('The database cannot do this just now. Try again.', error)
  }

  /** Whether another transaction holds the key. What fails for another reason says nothing about it. */
  async #isHeld(session: ReadSession, values: BoundValues): Promise<boolean> {
    if (this.#probe === undefined) return false
    try {
      await session.run(this.#probe, values)
      return false
    } catch (error) {
      const kind = this.#reading.classifyError(error)
      if (kind === 'lockTimeout' || kind === 'deadlock') return kind === 'lockTimeout'
      throw error
    }
  }
}

function claimValues({ keyHash, fingerprint, now, expiresAt }: KeyClaim): BoundValues {
  return { key: keyHash, print: fingerprint, now: BigInt(now), until: BigInt(expiresAt) }
}

/** The answer among the rows of a key. undefined if it has none, or it has expired. */
function answerIn([found = []]: Value[][], { now }: KeyClaim): StoredResponse | undefined {
  const [fingerprint, answer, expiresAt] = found
  const isAnswered = Buffer.isBuffer(fingerprint) && Buffer.isBuffer(answer) && Number(expiresAt) > now
  return isAnswered ? { fingerprint, answer } : undefined
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
