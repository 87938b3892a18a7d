import { type FileHandle, open } from 'node:fs/promises'

/**
 * Brings the embedded database's write-ahead log to the disk. `synchronous = FULL` would do so within every COMMIT and
 * hold the one thread of this process for it; here transactions that commit at about the same time share one sync, and
 * requests are served meanwhile. The log holds no lock of SQLite's, so a second handle of it is harmless.
 */
export class WalSync {
  readonly #log: string
  #handle: FileHandle | undefined
  #running: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(file: string) {
    this.#log = `${file}-wal`
  }

  /** Resolves when everything committed before the call would outlive a power cut. */
  flush(): Promise<void> {
    // A sync under way may have begun before the commit: the one after it counts.
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined
        this.#running = this.#sync()
        return this.#running
      })
    return this.#next
  }

  async close(): Promise<void> {
    await this.#next?.catch(() => undefined)
    await this.#running.catch(() => undefined)
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #sync(): Promise<void> {
    this.#handle ??= await openIfThere(this.#log)
    await this.#handle?.datasync()
  }
}

/** undefined where the file system has no WAL mode: SQLite itself then syncs every commit. */
async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, 'r+')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
