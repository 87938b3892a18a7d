import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

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
