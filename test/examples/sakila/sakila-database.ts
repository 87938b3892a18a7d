import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type DatabaseKind, type FreshDatabase, freshDatabase } from 'uniform-rest/testing'
import type { Size } from '../../../examples/sakila/rows.js'
import { runCommand } from '../../harness/command.js'
import { outputRoot } from '../../harness/package-root.js'

const run = promisify(execFile)

/** The folder of the second example as it is compiled. */
export const SAKILA_APP = join(outputRoot, 'examples/sakila')

/** The tables, views, triggers and rows of the second example, in a database that nobody else uses. */
export async function freshSakila(kind: DatabaseKind, size: Size = 'small'): Promise<FreshDatabase> {
  const database = await freshDatabase(kind)
  try {
    await loadSakila(database.url, size)
    return database
  } catch (error) {
    await database.dispose()
    throw error
  }
}

/** Runs the command of the example as its README says. */
export async function loadSakila(url: string, what: Size | 'row-versions'): Promise<void> {
  await run(process.execPath, [join(SAKILA_APP, 'load.js'), url, what])
}

/** By which `--among-tables-of` knows a database. */
export function nameOf(url: string): string {
  return url.startsWith('sqlite:') ? basename(url) : new URL(url).pathname.slice(1)
}

/** Runs the command of the package and answers what it printed. No `.env` reaches it. */
export async function uniformRest(args: readonly string[], url: string): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sakila-'))
  try {
    const env = { DATABASE_URL: url, DATA_DIR: dataDir }
    const { code, stdout, stderr } = await runCommand(args, { directory: dataDir, env })
    // `check` ends with 1 where it finds a mistake.
    if (code === 0 || args[0] === 'check') return stdout
    throw new Error(stderr)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}
