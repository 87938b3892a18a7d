import { randomUUID } from 'node:crypto'
import { link, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { makeFolder } from '../../shared/files.js'

/** The stored ring. Each write gives it another version. */
export interface StoredRing {
  readonly text: string
  readonly version: string
}

/** The place where replicas share their ring. Every method rejects while it cannot be reached. */
export interface RingStore {
  /** For the log, without secrets. */
  readonly place: string
  /** undefined: nothing is stored yet. */
  read(): Promise<StoredRing | undefined>
  /**
   * Replaces the stored ring if it still has the version that `read` answered; undefined if nothing was stored. Resolves
   * false, and stores nothing, if another process has written meanwhile.
   */
  write(text: string, expectedVersion: string | undefined): Promise<boolean>
}

/** Whether an error is one of the file system with this code. */
function isFileError(error: unknown, code: 'ENOENT' | 'EEXIST'): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

const READ_ATTEMPTS = 10

/**
 * The ring as a file, for processes that share a file system. File systems have no conditional rename, but making a link
 * fails if the name is taken. So each state is a file `<path>.<number>`, the process that links the next number first has
 * won, and the highest number counts. No lock is needed, so none can be left behind. `<path>` itself is a copy of the newest
 * state for people; it is read if there is no numbered file, as after a restore from a backup.
 */
export class FileStore implements RingStore {
  readonly place: string
  readonly #path: string

  constructor(path: string) {
    this.place = path
    this.#path = path
  }

  async read(): Promise<StoredRing | undefined> {
    for (let attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
      const newest = await this.#newest()
      const path = newest === 0 ? this.#path : this.#numbered(newest)
      try {
        return { text: await readFile(path, 'utf8'), version: String(newest) }
      } catch (error) {
        if (!isFileError(error, 'ENOENT')) throw error
        // A numbered file is removed only after a higher one exists, so the next attempt finds that one.
        if (newest === 0) return undefined
      }
    }
    throw new Error('The file changes faster than it can be read.')
  }

  async write(text: string, expectedVersion: string | undefined): Promise<boolean> {
    const number = Number(expectedVersion ?? 0) + 1
    await makeFolder(dirname(this.#path), 0o700)
    const draft = `${this.#path}.${randomUUID()}.draft`
    try {
      await writeDurably(draft, text)
      if (!(await tryLink(draft, this.#numbered(number)))) return false
      // The number was free because other processes had passed it and removed its file.
      if ((await this.#newest()) > number) {
        await rm(this.#numbered(number), { force: true })
        return false
      }
      await rename(draft, this.#path)
      await syncFolder(dirname(this.#path))
      await this.#removeBelow(number)
      return true
    } finally {
      await rm(draft, { force: true })
    }
  }

  /** 0 for none. */
  async #newest(): Promise<number> {
    return Math.max(0, ...(await this.#numbers()))
  }

  async #numbers(): Promise<number[]> {
    const prefix = `${basename(this.#path)}.`
    try {
      const names = await readdir(dirname(this.#path))
      const endings = names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
      return endings.filter((ending) => /^[1-9]\d{0,14}$/.test(ending)).map(Number)
    } catch (error) {
      if (isFileError(error, 'ENOENT')) return []
      throw error
    }
  }

  async #removeBelow(number: number): Promise<void> {
    const old = (await this.#numbers()).filter((one) => one < number)
    await Promise.all(old.map((one) => rm(this.#numbered(one), { force: true })))
  }

  #numbered(number: number): string {
    return `${this.#path}.${number}`
  }
}

async function tryLink(existing: string, path: string): Promise<boolean> {
  try {
    await link(existing, path)
    return true
  } catch (error) {
    if (isFileError(error, 'EEXIST')) return false
    throw error
  }
}

/** Writes a file and syncs it before it gets its name, so that a crash never leaves half a ring under that name. */
async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
