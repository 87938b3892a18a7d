/** A line of a server's log; a line that was no JSON comes as `{ text }`. */
export type LogEntry = Readonly<Record<string, unknown>>

/** A running gateway or data service. */
export interface Server {
  /** All that it logged so far, in order. */
  logs(): readonly LogEntry[]
  /** Drops what it logged so far, and answers it: for runs that go on for long. */
  forget(): readonly LogEntry[]
  /** Resolves with the first line that meets the condition, also with one that was logged before. Rejects when the server ends without it. */
  logged(condition: (entry: LogEntry) => boolean): Promise<LogEntry>
  /** Stops it as SIGTERM does. */
  stop(): Promise<unknown>
}

/** A server, and where it listens: `host:port` of a data service, the URL of a gateway without a slash at its end. */
export interface Listening<S extends Server = Server> {
  readonly server: S
  readonly address: string
}

/** Keeps the lines of a server's log. */
export class ServerLog {
  readonly #name: string
  readonly #entries: LogEntry[] = []
  readonly #watchers = new Set<(entry: LogEntry) => void>()

  constructor(name: string) {
    this.#name = name
  }

  add(line: string): void {
    const entry = parse(line)
    this.#entries.push(entry)
    for (const watch of this.#watchers) watch(entry)
  }

  entries(): readonly LogEntry[] {
    return this.#entries
  }

  forget(): readonly LogEntry[] {
    return this.#entries.splice(0)
  }

  /** Resolves with the first line that meets the condition. Rejects, with the last lines, when `ended` settles before. */
  logged(condition: (entry: LogEntry) => boolean, ended: Promise<unknown>): Promise<LogEntry> {
    return new Promise((resolve, reject) => {
      const found = this.#entries.find(condition)
      if (found !== undefined) return resolve(found)
      const watch = (entry: LogEntry): void => {
        if (!condition(entry)) return
        this.#watchers.delete(watch)
        resolve(entry)
      }
      this.#watchers.add(watch)
      const tooLate = (): void => reject(new Error(`${this.#name} ended before it logged that.\n${this.tail()}`))
      ended.then(tooLate, reject)
    })
  }

  /** The last lines, for an error. */
  tail(): string {
    return this.#entries
      .slice(-20)
      .map((entry) => JSON.stringify(entry))
      .join('\n')
  }
}

function parse(line: string): LogEntry {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : { text: line }
  } catch {
    return { text: line }
  }
}
