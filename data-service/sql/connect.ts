import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as afterSockets, setTimeout as wait } from 'node:timers/promises'
import { BaseError, ConnectionError } from 'sequelize'
import { Deadlines, type Timed } from '../../shared/transport/call-stream.js'
import { type AbortListener, type Cancellation, CancellationSource } from '../../shared/transport/cancellation.js'
import { DomainError } from '../../shared/errors.js'
import { redactUrl } from '../../shared/settings.js'
import { messageOf, StartError } from '../../shared/start-error.js'
import type { Database, Probe } from './engines/engine.js'
import { type Reader, upstreamUnavailable } from './engines/sessions.js'
import { engineOf, locateDatabase } from './engines.js'

/** A database as the settings name it. */
export interface ConfiguredDatabase {
  /** The name of the setting that holds the URL. */
  readonly setting: string
  readonly url: string
}

/** Makes what the database needs before it can be opened, such as the folder of its file, and opens it as `connect` does. */
export async function openDatabase(url: string, poolSize: number): Promise<Database> {
  const location = locateDatabase(url)
  await location.prepare()
  return location.open(poolSize)
}

/**
 * Runs `work` on the database of a URL, and closes it. One that is not there is made; where `ifMissing` says so, `work` gets an
 * empty one in its place, of which nothing is left.
 */
export async function withDatabase<Result>(
  url: string,
  { poolSize, ifMissing }: { readonly poolSize: number; readonly ifMissing: 'make' | 'stand-in' },
  work: (database: Database) => Promise<Result>
): Promise<Result> {
  const location = locateDatabase(url)
  if (ifMissing === 'make') await location.prepare()
  const needsStandIn = ifMissing === 'stand-in' && !(await location.exists())
  const folder = needsStandIn ? await mkdtemp(join(tmpdir(), 'database-')) : undefined
  const database = (folder === undefined ? location : location.standIn(folder)).open(poolSize)
  try {
    return await work(database)
  } finally {
    await database.sequelize.close()
    if (folder !== undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Opens a database that is there, and makes nothing. undefined where there is none. */
export async function openExisting(url: string, poolSize?: number): Promise<Database | undefined> {
  const location = locateDatabase(url)
  return (await location.exists()) ? location.open(poolSize) : undefined
}

/** Opens the database of a URL as `DatabaseLocation.open` says. */
export function connect(url: string, poolSize?: number): Database {
  return locateDatabase(url).open(poolSize)
}

/**
 * A StartError for a database that could not be opened, or that rejected a statement: it names the setting, the reason and
 * the remedy. An error that is none of a database is returned unchanged.
 */
export function openFailure(error: unknown, configured: ConfiguredDatabase): unknown {
  const { setting, url } = configured
  if (error instanceof StartError) {
    return new StartError(`${setting}, ${redactUrl(url)}: ${error.message}`, { cause: error })
  }
  // What callers see of it names neither the database nor the reason.
  if (error instanceof DomainError && isOfDatabase(error.cause)) return openFailure(error.cause, configured)
  if (error instanceof MigrationFailure) return migrationFailure(error, configured) ?? error
  const code = driverCodeOf(error)
  const advice = code === undefined ? undefined : engineOf(url).openingAdvice[code]
  if (advice === undefined && !(error instanceof ConnectionError)) {
    return isOfDatabase(error) ? statementFailure(error, configured) : error
  }
  const { wrong, remedy } = advice ?? { wrong: messageOf(error), remedy: 'Correct that, or name another database.' }
  const codeNote = code === undefined ? '' : ` (${code})`
  return new StartError(`${setting}, ${redactUrl(url)}, cannot be opened: ${wrong}${codeNote}. ${remedy}`, {
    cause: error
  })
}

function statementFailure(error: unknown, { setting, url }: ConfiguredDatabase): StartError {
  return new StartError(`${setting}, ${redactUrl(url)}, rejects a statement: ${rejectionText(error, url)}`, {
    cause: error
  })
}

/** What a database says of a statement, what to do about it, and the statement. */
function rejectionText(error: unknown, url: string): string {
  const code = driverCodeOf(error)
  const { statementAdvice, openingAdvice } = engineOf(url)
  const advice = code === undefined ? undefined : (statementAdvice[code] ?? openingAdvice[code])
  const driverError = driverErrorOf(error)
  const said = `${messageOf(driverError).replace(/\.$/, '')}${code === undefined ? '' : ` (${code})`}`
  const what = advice === undefined ? said : `${advice.wrong}: ${said}. ${advice.remedy}`
  const sql = driverError instanceof Error && 'sql' in driverError ? driverError.sql : undefined
  const statement = typeof sql === 'string' && sql !== '' ? ` The statement: ${shortStatement(sql)}` : ''
  return `${what.replace(/\.$/, '')}.${statement}`
}

/** Characters of a statement that are told. */
const LONGEST_STATEMENT = 500

function shortStatement(sql: string): string {
  return sql.length > LONGEST_STATEMENT ? `${sql.slice(0, LONGEST_STATEMENT)}…` : sql
}

/** A step of a migration has failed. The cause is the error of the step. */
export class MigrationFailure extends Error {
  override readonly name = 'MigrationFailure'
  readonly migration: string

  constructor(migration: string, cause: unknown) {
    super(`the migration ${migration} failed: ${messageOf(cause)}`, { cause })
    this.migration = migration
  }
}

/** undefined for the failure of a step's own code, whose stack shows where it is. */
function migrationFailure(error: MigrationFailure, { setting, url }: ConfiguredDatabase): StartError | undefined {
  const { cause, migration } = error
  if (cause instanceof StartError)
    return new StartError(`${setting}, ${redactUrl(url)}: ${error.message}`, { cause: error })
  if (!isOfDatabase(cause)) return undefined
  const { afterFailedMigration } = engineOf(url)
  return new StartError(
    `${setting}, ${redactUrl(url)}: the migration ${migration} failed: ${rejectionText(cause, url)}\n${afterFailedMigration}`,
    { cause: error }
  )
}

/** Whether a driver made the error: Sequelize's own have one class, and the drivers' a number and a code of several words. */
function isOfDatabase(error: unknown): boolean {
  if (error instanceof BaseError) return true
  return error instanceof Error && 'errno' in error && /^(?!ERR_)[A-Z0-9]+_[A-Z0-9_]+$/.test(driverCodeOf(error) ?? '')
}

/** Runs `work`. If the database cannot be opened, the error says what is wrong with its setting. */
export async function opening<T>(database: ConfiguredDatabase, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw openFailure(error, database)
  }
}

/** As `opening`, for work whose own StartErrors name the setting. */
export function explaining<T>(database: ConfiguredDatabase, work: () => Promise<T>): Promise<T> {
  return work().catch((error: unknown) => {
    throw error instanceof StartError ? error : openFailure(error, database)
  })
}

/** What the driver has thrown. Sequelize wraps it, and says of a violated constraint no more than `Validation error`. */
function driverErrorOf(error: unknown): unknown {
  return error instanceof BaseError && 'parent' in error ? driverErrorOf(error.parent) : error
}

function driverCodeOf(wrapped: unknown): string | undefined {
  const error = driverErrorOf(wrapped)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether two URLs name the same database, as far as their texts show. */
export function sameUrl(one: string, other: string): boolean {
  return locateDatabase(one).spelling === locateDatabase(other).spelling
}

/**
 * Whether two databases are the same one under different names: two links to one file, two names of one server, or two
 * nodes of one cluster. Both have to be reachable.
 */
export async function sameDatabase(one: Database, other: Database): Promise<boolean> {
  const [first, second] = [await one.identity(), await other.identity()]
  return first.some((name) => second.includes(name))
}

/**
 * Milliseconds after which a read ends because its database hangs. They are well below the deadline of a call (10 s), so
 * that the answer is the 503 of a database that is down and not the 504 of a call that took too long.
 */
const HUNG_AFTER_MS = 5000

/** Milliseconds until a read that goes on because its database can serve is looked at again. */
const LOOK_AGAIN_MS = 1000

/**
 * The same database, whose reads end with `upstream.unavailable` when they have taken 5 seconds and `isHung` says that the
 * database does not answer: new connections to such a database fail after that time too. Snapshots are not limited.
 */
export function withoutHungReads(database: Database, isHung: () => boolean): Database {
  const { name, sequelize, kind, dialect, bulk } = database
  return {
    name,
    sequelize,
    kind,
    dialect,
    bulk,
    openReader: (what) => readerUnlessHung(database.openReader(what), { what, isHung }),
    openTransactions: () => database.openTransactions(),
    withOwnPool: (connections) => database.withOwnPool(connections),
    poolState: () => database.poolState(),
    classifyError: (error) => database.classifyError(error),
    openProbe: () => database.openProbe(),
    examine: () => database.examine(),
    identity: () => database.identity()
  }
}

function readerUnlessHung(
  reader: Reader,
  { what, isHung }: { readonly what: string; readonly isHung: () => boolean }
): Reader {
  // Not a Set: one whose entries come and go keeps them from early collection (CallTable in shared/transport/call-stream.ts).
  const running: WatchedRead[] = []
  const deadlines = new Deadlines(
    () => [...running],
    (read: WatchedRead) => {
      if (isHung()) {
        read.abort(upstreamUnavailable(`${what} does not answer. Try again.`, new Error('The database hangs')))
        return
      }
      read.deadline = Date.now() + LOOK_AGAIN_MS
      deadlines.add(read)
    }
  )
  return {
    read: async (signal, work) => {
      const read = new WatchedRead(signal)
      running.push(read)
      deadlines.add(read)
      try {
        return await reader.read(read, work)
      } finally {
        running.splice(running.indexOf(read), 1)
        read.end()
      }
    },
    isFull: (signal) => reader.isFull(signal),
    snapshot: (signal) => reader.snapshot(signal),
    close: async () => {
      await reader.close()
      deadlines.close()
    }
  }
}

/** A read that ends with its caller, or because its database hangs. Every read is one, so it makes neither timer nor signal. */
class WatchedRead extends CancellationSource implements Timed, AbortListener {
  deadline = Date.now() + HUNG_AFTER_MS
  readonly #caller: Cancellation

  constructor(caller: Cancellation) {
    super(caller)
    this.#caller = caller
    if (caller.aborted) this.abort(caller.reason)
    else caller.addEventListener('abort', this)
  }

  handleEvent(): void {
    this.abort(this.#caller.reason)
  }

  end(): void {
    this.#caller.removeEventListener('abort', this)
  }
}

/** Milliseconds between two probes, and for each half of one. All are below a second, in which a failure is noticed. */
const PROBE_INTERVAL_MS = 400
const HALF_PROBE_MS = 250

/** The last known health of a database. Reading it sends no statement. */
export interface DatabaseHealth {
  /** Not older than a second. */
  readonly isServing: boolean
  /** Calls the listener at each change, and not with the current state. */
  onChange(listener: (isServing: boolean) => void): void
  /** Ends the probes and their connection. */
  close(): Promise<void>
}

/**
 * Probes a database at regular intervals on a connection of its own. The engine's probe decides whether it can serve.
 * Resolves after the first probe.
 */
export async function watchDatabase(database: Pick<Database, 'openProbe'>): Promise<DatabaseHealth> {
  const probe = database.openProbe()
  const listeners = new Set<(isServing: boolean) => void>()
  const closing = new AbortController()
  let isServing = await canServe(probe, () => database.openProbe())
  const watching = (async () => {
    while (!closing.signal.aborted) {
      await wait(PROBE_INTERVAL_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      if (closing.signal.aborted) break
      const before = isServing
      isServing = await canServe(probe, () => database.openProbe())
      if (isServing !== before) for (const listener of listeners) listener(isServing)
    }
  })()
  return {
    get isServing() {
      return isServing
    },
    onChange: (listener) => void listeners.add(listener),
    close: async () => {
      closing.abort()
      probe.reset()
      await watching
      probe.reset()
    }
  }
}

/**
 * What an answer says counts at once. After half of the time without one, a new connection is asked too: it may be the
 * first connection alone that is lost.
 */
async function canServe(probe: Probe, openProbe: () => Probe): Promise<boolean> {
  const first = isAnswered(probe)
  const early = await answerInTime(first)
  if (early === true) return true
  const second = openProbe()
  const late = early ?? (await answerInTime(Promise.race([first, isAnswered(second)])))
  for (const asked of [probe, second]) asked.reset()
  return late ?? false
}

async function isAnswered(probe: Probe): Promise<boolean> {
  return await probe.look().then(
    () => true,
    () => false
  )
}

/** undefined for an answer that does not come. One that has come counts: a busy process sees its timers before its sockets. */
async function answerInTime(answer: Promise<boolean>): Promise<boolean | undefined> {
  const answered = new AbortController()
  const tooLate = wait(HALF_PROBE_MS, undefined, { signal: answered.signal, ref: false })
    .then(() => afterSockets(undefined))
    .catch(() => undefined)
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    answered.abort()
  }
}
