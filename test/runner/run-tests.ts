import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startDatabaseServer } from './database-server.js'
import { ensureChromium, Failure } from './programs.js'
import { shuffled } from './random.js'
import { type Outcome, Report } from './report.js'
import { runFiles, type TestFile, type TestRun } from './run-files.js'

/**
 * Runs the test files whose path holds one of the filters, all without filters, on SQLite and on MariaDB, and prints
 * the course and the result. Without filters those of test/api/ run once more, over unary calls. TEST_SEED repeats an order. When the signal aborts, the run stops and prints the failures
 * that it has seen. Rejects with a Failure where no database, no browser or no such test file is found.
 */
export async function runTests(filters: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const files = testFiles(filters)
  if (files.length === 0) throw new Failure(`No test file's path holds ${filters.join(' or ')}.`)
  const seed = seedOf(process.env['TEST_SEED'])
  if (files.some(({ name }) => name.startsWith('test/browser/'))) await ensureChromium()
  // One folder for all temporary files of the run, so that none is left of tests that could not remove theirs. Others
  // may pass through it, since the nodes of a Galera cluster run as the user mysql.
  const folder = await mkdtemp(join(tmpdir(), 'uniform-rest-test-'))
  await chmod(folder, 0o711)
  process.env['TMPDIR'] = folder
  try {
    const server = await startDatabaseServer()
    try {
      process.stdout.write(`\n${files.length} test files on SQLite and ${server.description}\n`)
      process.stdout.write(`Order by TEST_SEED=${seed}\n\n`)
      // The processes that run the files inherit these.
      Object.assign(process.env, { TEST_MYSQL_URL: server.url, TEST_SEED: String(seed) })
      const runs = filters.length === 0 ? [{ files, env: {} }, unaryCalls(files)] : [{ files, env: {} }]
      const report = new Report(runs.flatMap((run) => run.files).length, process.stdout)
      for (const run of runs) await runFiles({ ...run, files: shuffled(run.files, seed) }, report, signal)
      if (signal.aborted) report.interrupted()
      report.summary()
      return report.outcome
    } finally {
      await server.stop()
    }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const root = fileURLToPath(new URL('..', import.meta.url))
/** Files with which the runner itself is tested. They fail, so they run only when a filter names their folder. */
const SAMPLES = 'test/runner/samples/'

/** They take minutes and a Docker engine: `npm run test:compose` runs them, and `npm test` without filters does not. */
const CONTAINERS = 'test/compose/'

/** The compiled test files whose path holds one of the filters; all without filters. A filter may be a source's path. */
function testFiles(filters: readonly string[]): TestFile[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .map((path) => ({ path: join(root, path), name: `test/${path.replace(/\.js$/, '.ts')}` }))
    .filter(({ name }) =>
      name.startsWith(SAMPLES)
        ? filters.some((filter) => filter.includes(SAMPLES) && name.includes(relative(filter)))
        : name.endsWith('.test.ts') &&
          (filters.length === 0 ? !name.startsWith(CONTAINERS) : filters.some((one) => name.includes(relative(one))))
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** These need a server of MariaDB, whose statements and connections they count, or take minutes with no call of ours. */
const NOT_OVER_UNARY = /\/(statement-texts|pool-size|random-queries)\.test\.ts$/

/**
 * Calls between the processes by their unary methods, and not in frames, must be answered alike. One kind of database is
 * enough for that; `npm run soak` takes both.
 */
function unaryCalls(files: readonly TestFile[]): TestRun {
  return {
    files: files.flatMap(({ path, name }) =>
      name.startsWith('test/api/') && !NOT_OVER_UNARY.test(name) ? [{ path, name: `${name} over unary calls` }] : []
    ),
    env: { DATA_SERVICE_CALLS: 'unary', TEST_DATABASE: 'sqlite' }
  }
}

function relative(filter: string): string {
  return filter.replace(/^\.\//, '').replace(/\.js$/, '.ts')
}

function seedOf(text: string | undefined): number {
  if (text === undefined || text === '') return randomInt(2 ** 31)
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new Failure(`TEST_SEED is a whole number, not ${text}.`)
}
