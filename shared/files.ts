import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Milliseconds between two checks of files that are followed. */
const FOLLOW_EVERY = 2000

/** Files are followed until `stopping` is aborted, with a check every `every` milliseconds. */
export interface Following {
  readonly stopping: AbortSignal
  readonly every?: number
}

/** The result of `stateOf` for a single file that does not exist. */
export const NO_FILE = 'none'

/** A text that differs for each state of the files. Symbolic links are followed. Never rejects. */
export async function stateOf(paths: readonly string[]): Promise<string> {
  return (await Promise.all(paths.map(stateOfOne))).join(', ')
}

/**
 * Calls `changed` after each change of the files since the state `seen`, until the signal is aborted. `changed` must not
 * reject: it logs its own errors.
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

/** Milliseconds. A network mount whose server is away never answers. */
const FILE_SYSTEM_TIMEOUT = 10_000

/**
 * Makes a folder and its missing parents. It does not use Node's `recursive`, which never ends where mkdir fails with
 * ENOENT in a parent that exists, as under /proc. Throws the error of the file system, or an error with code NO_ANSWER
 * if the file system does not answer within ten seconds.
 */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const settled = new AbortController()
  const late = delay(FILE_SYSTEM_TIMEOUT, undefined, { signal: settled.signal }).then(() => {
    throw Object.assign(new Error(`the file system gives no answer for ${path}`), { code: 'NO_ANSWER' })
  })
  try {
    await Promise.race([make(resolve(path), mode), late])
  } finally {
    settled.abort()
    await late.catch(() => undefined)
  }
}

async function make(path: string, mode: number | undefined): Promise<void> {
  const failure = await tryMkdir(path, mode)
  if (failure === undefined) return
  const parent = dirname(path)
  if (errorCode(failure) !== 'ENOENT' || parent === path) throw failure
  if (!(await isExistingFolder(parent))) await make(parent, mode)
  // The parent may be there by now because another process made it after the first attempt.
  const secondFailure = await tryMkdir(path, mode)
  if (secondFailure !== undefined) throw secondFailure
}

/** Answers what mkdir threw, and nothing when the folder is there. */
async function tryMkdir(path: string, mode: number | undefined): Promise<Error | undefined> {
  try {
    await mkdir(path, { mode })
    return undefined
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && (await isExistingFolder(path))) return undefined
    if (error instanceof Error) return error
    throw error
  }
}

async function isExistingFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

/** The code of an error of Node, such as `ENOENT`. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

const GROUP_AND_OTHERS = 0o077
const STICKY = 0o1000

/** Names of files that the processes and `npm start` make in DATA_DIR: databases and journals, keys, key ring, secret. */
const OWN_FILES = /^(?:.*\.sqlite(?:-wal|-shm|-journal)?|\.?signing-key\.pem.*|key-ring\.json.*|gateway-secret)$/

/**
 * Makes the data of this process private to its user. From now on it creates directories with mode 0700 and files with
 * mode 0600. DATA_DIR and the files made there before lose the permissions of group and others, each with a warning. A
 * shared directory (with the sticky bit, like /tmp) and what belongs to another user stay as they are, and the warning
 * says so. Never rejects.
 */
export async function keepDataPrivate(dataDir: string, log: Logger): Promise<void> {
  process.umask(GROUP_AND_OTHERS)
  const names = await readdir(dataDir).catch(() => undefined)
  // It does not exist yet or is no directory. The code that needs it reports that.
  if (names === undefined) return
  await makePrivate(dataDir, log)
  for (const name of names.filter((one) => OWN_FILES.test(one))) await makePrivate(join(dataDir, name), log)
}

async function makePrivate(path: string, log: Logger): Promise<void> {
  try {
    const { mode } = await stat(path)
    if ((mode & GROUP_AND_OTHERS) === 0) return
    const was = (mode & 0o7777).toString(8)
    if ((mode & STICKY) !== 0) {
      log.warn({ path, mode: was }, 'DATA_DIR is a directory of everybody: give this service one of its own')
      return
    }
    await chmod(path, mode & 0o7777 & ~GROUP_AND_OTHERS)
    log.warn({ path, mode: was }, 'others could open this: it is for this user alone now')
  } catch (error) {
    // A file that does not exist yet will be made with the right mode.
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
    log.warn(
      { path, reason: String(error) },
      'others can open this, and it cannot be changed: change its mode or owner'
    )
  }
}
