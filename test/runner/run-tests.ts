import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startDatabaseServer } from './database-server.js'
import { ensureChromium, ensureHaproxy, ensurePythonGrpc, Failure } from './programs.js'
import { shuffled } from './random.js'
import { type Outcome, Report } from './report.js'
import { runFiles, type TestFile } from './run-files.js'

/**
 * Runs the test files whose path holds one of the filters, all without filters, on SQLite and on MariaDB, and prints
 * the course and the result. Without filters some of test/api/ run once more over unary calls, with
 * cuts, and held against the OpenAPI document. TEST_SEED repeats an order. When the signal aborts, the run stops and
 * prints the failures that it has seen. Rejects with a Failure where no database, no browser or no such test file is found.
 */
export async function runTests(filters: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const files = testFiles(filters)
  if (files.length === 0) throw new Failure(`No test file's path holds ${filters.join(' or ')}.`)
  const seed = seedOf(process.env['TEST_SEED'])
  if (files.some(({ name }) => name.startsWith('test/browser/'))) await ensureChromium()
  if (files.some(({ name }) => name.startsWith('test/grpc-clients/'))) await ensurePythonGrpc()
  if (files.some(({ name }) => name.startsWith('test/rolling/'))) await ensureHaproxy()
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
      const again = [...overUnaryCalls(files), ...withCuts(files), ...againstDocument(files)]
      const all = filters.length === 0 ? [...files, ...again] : files
      const report = new Report(all.length, process.stdout)
      await runFiles(inOrder(all, seed), report, signal)
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

/** They repeat what another file does on MariaDB: `npm run soak` runs them, and `npm test` without filters does not. */
const IN_SOAK: ReadonlySet<string> = new Set(['test/examples/every-entity/sqlite.test.ts'])

const NO_VARIABLES = {}

/** They take more than a minute each. */
const LONGEST: ReadonlySet<string> = new Set([
  'test/examples/every-entity/adding-an-entity.test.ts',
  'test/examples/every-entity/deleted-rules.test.ts',
  'test/examples/every-entity/mariadb.test.ts',
  'test/examples/sakila/every-entity.test.ts',
  'test/library/every-entity.test.ts',
  'test/library/outbox.test.ts',
  'test/openapi/linters-and-clients.test.ts',
  'test/package/pack-and-install.test.ts'
])

/** They use a processor for less than half of their time. */
const WAITING: ReadonlySet<string> = new Set([
  'test/api/sessions/outside-keys.test.ts',
  'test/api/writes/in-flight.test.ts',
  'test/campaign/campaign.test.ts',
  'test/campaign/commands.test.ts',
  'test/data-service/sql/write/lost-connections.test.ts',
  'test/gateway/server/connections.test.ts',
  'test/library/outbox.test.ts',
  'test/soak/galera.test.ts'
])

/** The compiled test files whose path holds one of the filters; all without filters. A filter may be a source's path. */
function testFiles(filters: readonly string[]): TestFile[] {
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.js'))
    .map((path) => {
      const name = `test/${path.replace(/\.js$/, '.ts')}`
      return { path: join(root, path), name, waits: WAITING.has(name), env: NO_VARIABLES }
    })
  const unknown = [...LONGEST, ...WAITING, ...IN_SOAK].filter((listed) => !all.some(({ name }) => name === listed))
  if (unknown.length > 0) throw new Failure(`run-tests.ts lists ${unknown.join(', ')}, which is no test file.`)
  return all
    .filter(({ name }) =>
      name.startsWith(SAMPLES)
        ? filters.some((filter) => filter.includes(SAMPLES) && name.includes(relative(filter)))
        : name.endsWith('.test.ts') &&
          (filters.length === 0
            ? !name.startsWith(CONTAINERS) && !IN_SOAK.has(name)
            : filters.some((one) => name.includes(relative(one)))) &&
          (process.env['TEST_CUTS'] === undefined || canBeCut(name)) &&
          (process.env['TEST_DOCUMENT'] === undefined || canBeJudged(name))
    )
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Every operation, its errors, what a caller may not see, and how its writes, streams, deadlines and sessions behave. */
const OVER_UNARY =
  /\/(errors|by-id|list|paged|cursors|export|export-streaming|lookup|includes|search|stock-report|access|allowed-calls|column-permissions|log-lines|tokens|grpc-tls|ownership\/(shopping-carts|hidden-rows|owner-claims)|sessions\/sessions|auth\/login|writes\/(admission|batch|conflicts|create|idempotency|in-flight|patch|put|preconditions))\.test\.ts$/
const UNARY = { DATA_SERVICE_CALLS: 'unary', TEST_DATABASE: 'sqlite' }

/**
 * Calls between the processes by their unary methods, and not in frames, must be answered alike. One kind of database and
 * one file for each kind of call are enough for that; `npm run soak` takes all of test/api/ on both.
 */
function overUnaryCalls(files: readonly TestFile[]): TestFile[] {
  return files
    .filter(({ name }) => name.startsWith('test/api/') && OVER_UNARY.test(name))
    .map((file) => ({ ...file, name: `${file.name} over unary calls`, env: UNARY }))
}

/**
 * An order that depends on nothing but the seed, in which the longest begin first, since one that began last would end
 * alone, and those that run again come last, since they need processes of their own.
 */
function inOrder(files: readonly TestFile[], seed: number): TestFile[] {
  const rank = ({ name, env }: TestFile): number =>
    env === CUTS || env === DOCUMENT ? 3 : env === UNARY ? 2 : LONGEST.has(name) ? 0 : 1
  return shuffled(files, seed).toSorted((a, b) => rank(a) - rank(b))
}

/**
 * These count statements, connections, spans or lines of the log; read exports slowly, and by a client of their own, as the
 * next two do; send a key over gRPC or another gateway first; or hardly call a data service through a gateway.
 */
const NOT_WITH_CUTS =
  /\/(statement-texts|pool-size|metrics|traces|tokens|outside-keys|export-streaming|bounded-echo|grpc-tls|replayed-location|grpc|openapi|column-permissions|malformed-keys|provider-down|auth\/(gateway-peer|keys|login|sessions|surface))\.test\.ts$/

/** The most varied reads, creates and sessions. `npm run soak` takes all of test/api/. */
const ALWAYS_WITH_CUTS = /\/(paged|includes|export|writes\/create|idempotency|sessions\/sessions)\.test\.ts$/

function canBeCut(name: string): boolean {
  return name.startsWith('test/api/') && !NOT_WITH_CUTS.test(name)
}

const CUTS = { TEST_CUTS: 'true', TEST_DATABASE: 'sqlite' }

/** The connection between the processes is cut at random moments (test/harness/connection-cuts.ts). */
function withCuts(files: readonly TestFile[]): TestFile[] {
  return files
    .filter(({ name }) => canBeCut(name) && ALWAYS_WITH_CUTS.test(name))
    .map((file) => ({ ...file, name: `${file.name} with cuts`, env: CUTS }))
}

/**
 * These have no gateway, or only clients of their own; have a renderer, whose answers the document does not know; or count
 * calls, statements, spans or lines of the log, of which requests for the document would be some.
 */
const NOT_AGAINST_DOCUMENT =
  /\/(bounded-echo|engine-schema|grpc|grpc-tls|sample-data|pages|metrics|traces|statement-texts|pool-size)\.test\.ts$/

/** The most varied requests. `npm run soak` takes all of test/api/. */
const ALWAYS_AGAINST_DOCUMENT = /\/(paged|errors|invalid-bodies|sessions\/sessions)\.test\.ts$/

function canBeJudged(name: string): boolean {
  return name.startsWith('test/api/') && !NOT_AGAINST_DOCUMENT.test(name)
}

const DOCUMENT = { TEST_DOCUMENT: 'true', TEST_DATABASE: 'sqlite' }

/** Each request and its response are held against the OpenAPI document of their caller (test/harness/document-check.ts). */
function againstDocument(files: readonly TestFile[]): TestFile[] {
  return files
    .filter(({ name }) => canBeJudged(name) && ALWAYS_AGAINST_DOCUMENT.test(name))
    .map((file) => ({ ...file, name: `${file.name} against the document`, env: DOCUMENT }))
}

function relative(filter: string): string {
  return filter.replace(/^\.\//, '').replace(/\.js$/, '.ts')
}

function seedOf(text: string | undefined): number {
  if (text === undefined || text === '') return randomInt(2 ** 31)
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new Failure(`TEST_SEED is a whole number, not ${text}.`)
}
