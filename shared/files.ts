import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Milliseconds between two looks at files that are followed. */
export const FOLLOW_EVERY = 2000

/** Until the signal aborts; `every` in milliseconds. */
export interface Following {
  readonly stopping: AbortSignal
  readonly every?: number
}

/** What `stateOf` answers for a single file that is not there. */
export const NO_FILE = 'none'

/** A text that differs for each state of the files, which are followed through links. Never rejects. */
export async function stateOf(paths: readonly string[]): Promise<string> {
  return (await Promise.all(paths.map(stateOfOne))).join(', ')
}

/**
 * Calls `changed` after each change of the files since the state `seen`, until the signal aborts. What `changed` throws
 * is its own to log: it must not reject.
 */
export async function followFiles(
  paths: readonly string[],
  { seen, changed, stopping, every = FOLLOW_EVERY }: Following & { seen: string; changed: () => Promise<void> }
): Promise<void> {
  let last = seen
  while (!stopping.aborted) {
    await delay(every, undefined, { signal: stopping, ref: false }).catch(() => undefined)
    const now = await stateOf(paths)
    if (now === last || stopping.aborted) continue
    last = now
    await changed()
  }
}

async function stateOfOne(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
  } catch {
    return NO_FILE
  }
}

/** Milliseconds. A mount whose server is away answers nothing at all. */
const PATIENCE = 10_000

/**
 * Makes a folder and those above it, unless they are there. Step by step, since Node's own `recursive` never ends where
 * a parent that exists says ENOENT, as under /proc. Throws the error of the file system, and one with code NO_ANSWER
 * where that gives no answer within ten seconds.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const given = new AbortController()
  const late = delay(PATIENCE, undefined, { signal: given.signal }).then(() => {
    throw Object.assign(new Error(`the file system gives no answer for ${path}`), { code: 'NO_ANSWER' })
  })
  try {
    await Promise.race([make(resolve(path), mode), late])
  } finally {
    given.abort()
    await late.catch(() => undefined)
  }
}

async function make(path: string, mode: number | undefined): Promise<void> {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await isFolder(path))) return
    const parent = dirname(path)
    if (codeOf(error) !== 'ENOENT' || parent === path || (await isFolder(parent))) throw error
    await make(parent, mode)
    await make(path, mode)
  }
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

const OTHERS = 0o077
const STICKY = 0o1000

/** What the processes and `npm start` make under DATA_DIR: databases with their journals, keys, key ring, secret. */
const OURS = /^(?:.*\.sqlite(?:-wal|-shm|-journal)?|\.?signing-key\.pem.*|key-ring\.json.*|gateway-secret)$/

/**
 * From now on what this process makes is for its own user alone: directories 0700, files 0600. Takes what group and others may do from DATA_DIR and from what was made there
 * before, each with a warning. A directory that is everybody's (with the sticky bit, as /tmp) is left as it is, and so is
 * what belongs to another user: the warning says so. Never rejects.
 */
export async function keepDataPrivate(dataDir: string, log: Logger): Promise<void> {
  process.umask(OTHERS)
  const names = await readdir(dataDir).catch(() => undefined)
  // Not there yet, or no directory: whoever needs it says so.
  if (names === undefined) return
  await tighten(dataDir, log)
  for (const name of names.filter((one) => OURS.test(one))) await tighten(join(dataDir, name), log)
}

async function tighten(path: string, log: Logger): Promise<void> {
  try {
    const { mode } = await stat(path)
    if ((mode & OTHERS) === 0) return
    const was = (mode & 0o7777).toString(8)
    if ((mode & STICKY) !== 0) {
      log.warn({ path, mode: was }, 'DATA_DIR is a directory of everybody: give this service one of its own')
      return
    }
    await chmod(path, mode & 0o7777 & ~OTHERS)
    log.warn({ path, mode: was }, 'others could open this: it is for this user alone now')
  } catch (error) {
    // What is not there yet will be made as it should be.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    log.warn(
      { path, reason: String(error) },
      'others can open this, and it cannot be changed: change its mode or owner'
    )
  }
}
