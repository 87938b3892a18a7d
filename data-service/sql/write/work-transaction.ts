import type { Value } from '../../entity/value.js'
import type { BoundValues } from '../conditions.js'
import type { Statement, StatementText } from '../statement.js'
import type { Changed, OpenTransaction, Transactions, WriteSession } from './transactions.js'

/** For everything but keys. Times the tries of a transaction it stays below the deadline of a call. */
const PATIENCE_MS = 1500

/**
 * One try of a piece of work. The transaction begins with its first statement, runs one statement at a time, sends
 * none after one that failed (the server may have rolled back, and would commit each by itself), and none once it
 * ended, whoever still holds it.
 */
export class WorkTransaction implements WriteSession {
  readonly #transactions: Transactions
  readonly #signal: AbortSignal
  #opening: Promise<OpenTransaction> | undefined
  #last: Promise<unknown> = Promise.resolve()
  #running = 0
  #failure: { readonly error: unknown } | undefined
  #phase: 'work' | 'commit' | 'over' = 'work'

  constructor(transactions: Transactions, signal: AbortSignal) {
    this.#transactions = transactions
    this.#signal = signal
  }

  /** Whether no statement was asked for yet. */
  get isFresh(): boolean {
    return this.#opening === undefined && this.#running === 0
  }

  /** Whether COMMIT was sent. */
  get isCommitting(): boolean {
    return this.#phase === 'commit'
  }

  /** As OpenTransaction says; undefined while nothing was asked for. */
  async node(): Promise<number | undefined> {
    return (await this.#opening)?.node
  }

  run(statement: Statement, values: BoundValues): Promise<Value[][]> {
    return this.#inTurn(async () => (await this.#open(PATIENCE_MS)).run(statement, values))
  }

  change(text: StatementText, values: BoundValues): Promise<Changed> {
    return this.#inTurn(async () => (await this.#open(PATIENCE_MS)).change(text, values))
  }

  /**
   * A change that another transaction may hold up for `patience` ms in whole seconds, as the first statement of all. It
   * is no failure of the transaction: rejected, it leaves it as if nothing had been asked for.
   */
  async tryFirst(patience: number, text: StatementText, values: BoundValues): Promise<Changed> {
    if (!this.isFresh) throw new TypeError('Only the first statement of a transaction can be tried')
    const seconds = Math.max(1, Math.ceil(patience / 1000))
    return this.#inTurn(async () => {
      try {
        return await (await this.#open(patience)).changeWithin(seconds, text, values)
      } catch (error) {
        await this.#undo()
        throw new Tried('A statement that was tried failed', { cause: error })
      }
    })
  }

  /** What failed first, where anything did: whoever gets it may have answered with an error of their own. */
  failureOr(error: unknown): unknown {
    return this.#failure === undefined ? error : this.#failure.error
  }

  /** Rejects without a COMMIT where a statement failed or was not waited for, and with the reason of an abort. */
  async commit(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.error
    if (this.#running > 0) throw new TypeError('A statement of the transaction was not waited for')
    this.#signal.throwIfAborted()
    this.#phase = 'commit'
    await (await this.#opening)?.commit()
    this.#phase = 'over'
  }

  /** Undoes everything. Never rejects. */
  async rollback(): Promise<void> {
    // A COMMIT that failed has ended the transaction.
    if (this.#phase !== 'work') return
    this.#phase = 'over'
    await this.#undo()
  }

  async #undo(): Promise<void> {
    const opening = this.#opening
    this.#opening = undefined
    const opened = await opening?.catch(() => undefined)
    await opened?.rollback()
  }

  #open(patience: number): Promise<OpenTransaction> {
    this.#opening ??= this.#transactions.begin({ signal: this.#signal, patience })
    return this.#opening
  }

  #inTurn<Result>(statement: () => Promise<Result>): Promise<Result> {
    const outcome = this.#last.then(async () => {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#phase !== 'work') throw new TypeError('A unit of work is of no use once its transaction ended')
      try {
        return await statement()
      } catch (error) {
        if (error instanceof Tried) throw error.cause
        this.#failure = { error }
        throw error
      }
    })
    this.#running += 1
    this.#last = outcome.then(
      () => this.#settled(),
      () => this.#settled()
    )
    return outcome
  }

  #settled(): void {
    this.#running -= 1
  }
}

/** Carries the error of a trial, its cause, past what notes failures. */
class Tried extends Error {
  override readonly name = 'Tried'
}
