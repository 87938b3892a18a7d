import { randomInt } from 'node:crypto'
import { ensureChromium } from './chromium.js'
import { Failure } from './failure.js'
import { runMocha, type Outcome } from './run-mocha.js'
import { shuffled } from './shuffle.js'
import { startDatabaseServer } from './start-database-server.js'
import { testFiles } from './test-files.js'

/**
 * Runs the test files whose path holds one of the filters, all without filters, on SQLite and on MariaDB. TEST_SEED
 * repeats an order. Rejects where there is no database or no browser to be had, and when the signal aborts.
 */
export async function runTests(filters: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const files = testFiles(filters)
  if (files.length === 0) throw new Failure(`No test file's path holds ${filters.join(' or ')}.`)
  const seed = seedOf(process.env['TEST_SEED'])
  if (files.some((file) => /[/\\]test[/\\]browser[/\\]/.test(file))) await ensureChromium()
  const server = await startDatabaseServer()
  try {
    process.stdout.write(`\n${files.length} test files on SQLite and ${server.description}\n`)
    process.stdout.write(`Order by TEST_SEED=${seed}\n`)
    // The files run in processes of their own, which inherit these.
    Object.assign(process.env, { TEST_MYSQL_URL: server.url, TEST_SEED: String(seed) })
    return await runMocha(shuffled(files, seed), signal)
  } finally {
    await server.stop()
  }
}

function seedOf(text: string | undefined): number {
  if (text === undefined || text === '') return randomInt(2 ** 31)
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new Failure(`TEST_SEED is a whole number, not ${text}.`)
}
