import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../test/runner/programs.js'

/** The number of the process that writes a folder. */
const LOCK = 'running.pid'
/** What an earlier run left, and says nothing of the history that is written now. */
const OF_BEFORE = ['verdict.json', 'rows.json', 'history.jsonl']
/** Codes of a folder that may not be written. */
const FORBIDDEN = ['EACCES', 'EPERM', 'EROFS']

/**
 * Makes a folder, or takes it, for one run. What an earlier run has left there goes. Throws a Failure where another run writes it, or
 * we may not. The result gives it back.
 */
export async function takeFolder(folder: string): Promise<() => Promise<void>> {
  const lock = join(folder, LOCK)
  try {
    await mkdir(folder, { recursive: true })
    await takeLock(lock, folder)
    for (const name of OF_BEFORE) await rm(join(folder, name), { force: true })
  } catch (error) {
    if (error instanceof Error && 'code' in error && FORBIDDEN.includes(String(error.code))) {
      throw new Failure(`We may not write the folder ${folder} (${String(error.code)}): --out names another one.`)
    }
    throw error
  }
  return () => rm(lock, { force: true })
}

/** That of a process which is no more is taken over. */
async function takeLock(lock: string, folder: string): Promise<void> {
  for (;;) {
    const made = await open(lock, 'wx').catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined
      throw error
    })
    if (made !== undefined) {
      await made.writeFile(`${process.pid}\n`)
      await made.close()
      return
    }
    const other = Number(await readFile(lock, 'utf8').catch(() => ''))
    if (isRunning(other)) {
      throw new Failure(
        `Another campaign, process ${other}, writes ${folder}. Wait for its end, or name another folder with --out.`
      )
    }
    await rm(lock, { force: true })
  }
}

function isRunning(pid: number): boolean {
  if (pid === 0 || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
