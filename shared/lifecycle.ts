/** A server that its caller starts and stops: a command for a process, or a test in its own process. */
export interface Lifecycle {
  /**
   * Opens everything and resolves when it serves, or when `stop` ended the start early. When a step fails, it closes
   * what was opened before and rejects with that failure. Later calls wait for the first one.
   */
  start(): Promise<void>
  /** Where it listens, with the port that was taken. Throws before it listens. */
  readonly address: string
  /** Closes everything that was opened, in the opposite order. Later calls wait for the first one. */
  stop(): Promise<void>
}

/** What a start has opened. Each part names how it is closed at the moment that it is opened. */
export class Opened {
  readonly #closers: (() => unknown)[] = []

  /** Registers how to close a part that is open, and answers the part. */
  add<Part>(part: Part, close: (part: Part) => unknown): Part {
    this.#closers.push(() => close(part))
    return part
  }

  /** Closes the parts, the last one first. Every part is closed even if another one fails; rejects with the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}

/**
 * Makes a server of the function that opens it. `open` answers the address and registers each part that it opens;
 * `stopping` is aborted at the beginning of `stop`, and when a step of `open` fails.
 */
export function lifecycle(open: (opened: Opened, stopping: AbortSignal) => Promise<string>): Lifecycle {
  const opened = new Opened()
  const stopping = new AbortController()
  let starting: Promise<void> | undefined
  let stopped: Promise<void> | undefined
  let address: string | undefined

  const begin = async (): Promise<void> => {
    try {
      address = await open(opened, stopping.signal)
    } catch (error) {
      const wasStopped = stopping.signal.aborted
      stopping.abort()
      // What cannot be closed after this is a consequence, and would hide the reason.
      await opened.close().catch(() => undefined)
      if (!wasStopped) throw error
    }
  }
  const end = async (): Promise<void> => {
    stopping.abort()
    await starting?.catch(() => undefined)
    await opened.close()
  }
  return {
    start: () => (starting ??= begin()),
    stop: () => (stopped ??= end()),
    get address() {
      if (address === undefined) throw new TypeError('The server does not listen')
      return address
    }
  }
}
