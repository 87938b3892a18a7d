import { randomBytes, randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LONGEST, needsServer } from '../tiers.js'
import { dropDatabasesOf, startDatabaseServer } from './database-server.js'
import { processorTime } from './processor-time.js'
import { Failure } from './programs.js'
import { shuffled } from './random.js'
import { type Outcome, Report } from './report.js'
import { runFiles } from './run-files.js'

/** Three times as many as two processors, since a file waits for two thirds of its time. TEST_JOBS changes it. */
const JOBS = 6
/** Where more files failed, something is broken, and nothing is flaky. */
const MOST_FLAKY = 10

/**
 * Runs test files on SQLite and on MariaDB, and prints the course and the result. What has failed runs once more, alone.
 * TEST_SEED repeats an order. When the signal aborts, the run stops and prints the failures that it has seen.
 */
export async function runTests(files: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const seed = numberOf('TEST_SEED') ?? randomInt(2 ** 31)
  const run = `${randomBytes(4).toString('hex')}_`
  // One folder for all temporary files of the run, so that none is left of tests that could not remove theirs. Others
  // may pass through it, since the nodes of a Galera cluster run as the user mysql.
  const folder = await mkdtemp(join(await temporaryFolder(), `uniform-rest-test-${process.pid}-`))
  await chmod(folder, 0o711)
  // The processes that run the files inherit these.
  Object.assign(process.env, {
    TMPDIR: folder,
    TEST_SEED: String(seed),
    TEST_RUN: run
  })
  try {
    const server = files.some(needsServer) ? await startDatabaseServer({ isForgetful: true }) : undefined
    if (server !== undefined) process.env['TEST_MYSQL_URL'] = server.url
    try {
      process.stdout.write(`\n${files.length} test files on SQLite${server ? ` and ${server.description}` : ''}\n`)
      process.stdout.write(`Order by TEST_SEED=${seed}\n\n`)
      const report = new Report(files.length, seed, process.stdout)
      const isLong = (file: string): number => Number(LONGEST.has(file))
      // One of the longest that began last would end alone.
      const inOrder = shuffled(files, seed).toSorted((a, b) => isLong(b) - isLong(a))
      await runFiles(inOrder, numberOf('TEST_JOBS') ?? JOBS, report, signal)
      const failed = report.failedFiles()
      for (const file of failed.length > MOST_FLAKY ? [] : failed) await runFiles([file], 1, report, signal)
      if (signal.aborted) report.interrupted()
      return report.summary(processorTime(server?.pid))
    } finally {
      if (server !== undefined) {
        await dropDatabasesOf(run, server.url)
        await server.stop()
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const MEMORY = '/dev/shm'
/** More than a run of all tests writes. */
const ENOUGH_BYTES = 6 * 2 ** 30

/** Memory where there is enough of it and programs may run from it: databases are made many times faster than on a disk. */
async function temporaryFolder(): Promise<string> {
  if (process.env['TMPDIR'] !== undefined) return tmpdir()
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const options = mounts
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY)
    ?.split(' ')[3]
  if (options === undefined || options.split(',').includes('noexec')) return tmpdir()
  for (const name of await readdir(MEMORY)) {
    // A run that was killed keeps memory until its folder is removed.
    const [, pid] = /^uniform-rest-test-(\d+)-/.exec(name) ?? []
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    await rm(join(MEMORY, name), { recursive: true, force: true })
  }
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize < ENOUGH_BYTES ? tmpdir() : MEMORY
}

/** A whole number in the environment; undefined where there is none. */
function numberOf(variable: string): number | undefined {
  const text = process.env[variable] ?? ''
  if (text !== '' && !/^\d{1,10}$/.test(text)) throw new Failure(`${variable} is a whole number, not ${text}.`)
  return text === '' ? undefined : Number(text)
}
