import { chmod, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'

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
