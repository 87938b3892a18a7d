/** What is called once when something is aborted. */
export interface AbortListener {
  handleEvent(): void
}

/** The part of an AbortSignal that waiting for the end of a call takes. Every AbortSignal is one. */
export interface Cancellation {
  readonly aborted: boolean
  /** Why it was aborted. */
  readonly reason: unknown
  /** The listener is called at most once, when it is aborted, and not if it is aborted already. */
  addEventListener(type: 'abort', listener: AbortListener): void
  removeEventListener(type: 'abort', listener: AbortListener): void
}

export function throwIfAborted(cancellation: Cancellation): void {
  if (cancellation.aborted) throw cancellation.reason
}

/** The outcome of the work, or a rejection with the signal's reason as soon as it is aborted. The work itself goes on. */
export function raceAbort<Result>(work: Promise<Result>, signal: Cancellation): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const listener = { handleEvent: () => reject(signal.reason) }
    signal.addEventListener('abort', listener)
    work.then(
      (result) => {
        signal.removeEventListener('abort', listener)
        resolve(result)
      },
      (error: unknown) => {
        signal.removeEventListener('abort', listener)
        reject(error)
      }
    )
  })
}

/** Of calls that nothing cancels. It keeps no listeners, of which one for many calls would otherwise have as many. */
export const NEVER: Cancellation = {
  aborted: false,
  reason: undefined,
  addEventListener() {},
  removeEventListener() {}
}

/** Who makes a call, as a key that shares are counted by. */
export interface ShareHolder {
  readonly shareKey: string
}

const holders = new WeakMap<Cancellation, ShareHolder>()

/** From now on the work that this cancels counts as that of the holder. */
export function countFor(cancellation: Cancellation, holder: ShareHolder): void {
  holders.set(cancellation, holder)
}

/** Whose work this cancels: empty for what the service does for itself. */
export function shareKeyOf(cancellation: Cancellation): string {
  const known = holders.get(cancellation)
  if (known !== undefined) return known.shareKey
  const [outer] = cancellation instanceof CancellationSource ? cancellation.outer : []
  return outer === undefined ? '' : shareKeyOf(outer)
}

/** The same for each of the calls that the work is a part of. */
export function shareKeysOf(cancellation: Cancellation): readonly string[] {
  const outer = cancellation instanceof CancellationSource && !holders.has(cancellation) ? cancellation.outer : []
  return outer.length === 0 ? [shareKeyOf(cancellation)] : outer.flatMap(shareKeysOf)
}

/**
 * A Cancellation with its controller, for what happens in each request: an AbortSignal takes longer to make and to listen
 * to than a frame takes to be written.
 */
export class CancellationSource implements Cancellation {
  /** Those of the calls which this is a part of. They are not listened to. */
  readonly outer: readonly Cancellation[]
  readonly #listeners: AbortListener[] = []
  #aborted = false
  #reason: unknown
  #controller: AbortController | undefined

  constructor(...outer: readonly Cancellation[]) {
    this.outer = outer
  }

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  /** The same as an AbortSignal, made when it is asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  addEventListener(_type: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_type: 'abort', listener: AbortListener): void {
    const at = this.#listeners.indexOf(listener)
    if (at !== -1) this.#listeners.splice(at, 1)
  }

  /** Does nothing if it is aborted already. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#controller?.abort(reason)
    // A listener may take itself out, and others.
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) next.handleEvent()
  }
}
