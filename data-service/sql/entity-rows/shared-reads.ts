import { currentCalls, forCalls } from '../../observe/call-scope.js'
import { type AbortListener, type Cancellation, CancellationSource } from '../../../shared/transport/cancellation.js'

/** Sends the statement of a read. Aborted when nobody waits for its result any more. */
type SendRead<Result> = (cancellation: Cancellation) => Promise<Result>

/**
 * Reads that ask for exactly the same: those of a tick become one statement, and get the same result object. A read never
 * joins a statement that has been sent, so no answer is older than its request.
 */
export class SharedReads<Result> {
  /** Those whose statement has not been sent. */
  readonly #waiting = new Map<string, SharedRead<Result>>()

  /**
   * `key` says everything that the result depends on, the values of the caller's scope included. Rejects with the reason as
   * soon as the call is aborted; the statement is stopped when the last caller has gone.
   */
  read(key: string, cancellation: Cancellation, send: SendRead<Result>): Promise<Result> {
    if (cancellation.aborted) return Promise.reject(cancellation.reason)
    return (this.#waiting.get(key) ?? this.#begin(key, send)).join(cancellation)
  }

  #begin(key: string, send: SendRead<Result>): SharedRead<Result> {
    const shared = new SharedRead<Result>()
    this.#waiting.set(key, shared)
    setImmediate(() => {
      this.#waiting.delete(key)
      void shared.run(send)
    })
    return shared
  }
}

class SharedRead<Result> {
  readonly #members = new Set<WaitingCaller<Result>>()
  /** Of the statement, once it is sent. Before that another caller may still join. */
  #sent: CancellationSource | undefined

  join(cancellation: Cancellation): Promise<Result> {
    return new Promise((resolve, reject) => {
      const member = new WaitingCaller<Result>(cancellation, { resolve, reject }, () => {
        this.#members.delete(member)
        if (this.#members.size === 0) this.#sent?.abort(cancellation.reason)
      })
      this.#members.add(member)
      cancellation.addEventListener('abort', member)
    })
  }

  /** Never rejects. */
  async run(send: SendRead<Result>): Promise<void> {
    if (this.#members.size === 0) return
    this.#sent = new CancellationSource(...Array.from(this.#members, ({ cancellation }) => cancellation))
    try {
      const sent = this.#sent
      const calls = [...this.#members].flatMap((member) => member.calls)
      const result = await forCalls(calls, () => send(sent))
      for (const member of this.#end()) member.resolve(result)
    } catch (error) {
      for (const member of this.#end()) member.reject(error)
    }
  }

  #end(): WaitingCaller<Result>[] {
    const members = [...this.#members]
    this.#members.clear()
    return members
  }
}

export interface Settle<Result> {
  resolve(result: Result): void
  reject(reason: unknown): void
}

/** A caller who waits for the result. It listens to the end of its call itself. */
class WaitingCaller<Result> implements AbortListener {
  readonly calls = currentCalls()
  readonly cancellation: Cancellation
  readonly #settle: Settle<Result>
  readonly #leave: () => void

  constructor(cancellation: Cancellation, settle: Settle<Result>, leave: () => void) {
    this.cancellation = cancellation
    this.#settle = settle
    this.#leave = leave
  }

  resolve(result: Result): void {
    this.cancellation.removeEventListener('abort', this)
    this.#settle.resolve(result)
  }

  reject(reason: unknown): void {
    this.cancellation.removeEventListener('abort', this)
    this.#settle.reject(reason)
  }

  handleEvent(): void {
    this.#settle.reject(this.cancellation.reason)
    this.#leave()
  }
}
