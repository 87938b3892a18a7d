import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Failure } from '../../test/runner/programs.js'

const run = promisify(execFile)

/** A disk in memory, which can be filled. */
export interface SmallDisk {
  /** Takes all the room that is left. */
  fill(): Promise<void>
  /** Gives back what `fill` took. */
  free(): Promise<void>
  unmount(): Promise<void>
}

const MIB = 1024 * 1024

/** Mounts one of so many MiB at an existing folder, for this user to write to. It takes root. It goes with this process, whatever becomes of that. */
export async function mountSmallDisk(folder: string, size: number): Promise<SmallDisk> {
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${size}m,mode=0755`, 'uniform-rest-campaign', folder])
  } catch (error) {
    throw new Failure(`A small disk takes root and the right to mount: ${String(error)}`)
  }
  // It waits for the end of its input, which the end of this process is too, and is in no process group that Ctrl-C ends.
  const guard = spawn('sh', ['-c', 'cat; umount --lazy "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  const closed = once(guard, 'close')
  const ballast = join(folder, 'ballast')
  return {
    async fill() {
      const file = await open(ballast, 'a')
      try {
        for (const piece of [Buffer.alloc(MIB), Buffer.alloc(4096)]) {
          for (let room = true; room;) room = await file.write(piece).then(() => true, isFull)
        }
      } finally {
        await file.close()
      }
    },
    free: () => rm(ballast, { force: true }),
    async unmount() {
      guard.stdin.end()
      await closed
    }
  }
}

/** Of a write that the disk had no room for. Throws any other error. */
function isFull(error: unknown): false {
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false
  throw error
}
