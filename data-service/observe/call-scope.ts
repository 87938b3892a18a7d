import { AsyncLocalStorage } from 'node:async_hooks'
import type { SpanContext } from '@opentelemetry/api'
import type { CallTimes } from '../../shared/transport/call-frames.js'
import type { RunningSpan, Tracing } from '../../shared/observe/tracing.js'
import type { StatementLog, StatementValues } from './statement-log.js'

// Which calls a statement is run for. It is known only where traces are exported or statements are logged, and of calls that
// ask for their times: nothing is kept of a call otherwise. One statement may be run for several calls, so the scope is a list.

/** A call that is observed. */
export interface ObservedCall {
  readonly requestId: string
  readonly span: RunningSpan | undefined
  readonly stopwatch: Stopwatch | undefined
}

/** Measures a call that asks for its times, from now on. */
export class Stopwatch {
  readonly #begun = performance.now()
  #statements = 0

  /** A statement that began at this time, by `performance.now()`, has ended. */
  statementEnded(begun: number): void {
    this.#statements += performance.now() - begun
  }

  times(): CallTimes {
    return { data: microseconds(performance.now() - this.#begun), sql: microseconds(this.#statements) }
  }
}

/** A frame has 32 bits for them, which is more than an hour. */
function microseconds(milliseconds: number): number {
  return Math.min(2 ** 32 - 1, Math.round(milliseconds * 1000))
}

type Calls = readonly ObservedCall[]

const scope = new AsyncLocalStorage<Calls>()

const NO_CALLS: Calls = []

/** The calls that are being worked for. */
export function currentCalls(): Calls {
  return scope.getStore() ?? NO_CALLS
}

/** Does work for other calls than those that it is begun by, as where the reads of several become one statement. */
export function forCalls<Result>(calls: Calls, work: () => Result): Result {
  return calls.length === 0 && scope.getStore() === undefined ? work() : scope.run(calls, work)
}

/** A statement of no call, such as the first ones of a connection, which may be opened while a call is worked for. */
export function forNoCall<Result>(work: () => Result): Result {
  return forCalls(NO_CALLS, work)
}

export interface ObservedStatement<Result> {
  /** The text, with a placeholder for each value. */
  readonly sql: string
  /** The kind of database, as OpenTelemetry names it in `db.system.name`. */
  readonly system: string
  /** Absent for a statement that takes none. */
  readonly values?: StatementValues
  /** How many rows were read or changed. Absent for a statement that does neither. */
  readonly rows?: (answer: Result, sql: string) => number | undefined
  /** Whether it was stopped to run again elsewhere, where it is observed: both are one statement. */
  readonly isMoved?: () => boolean
}

/** `ObservedStatement.rows` of a SELECT. */
export function rowsRead(rows: readonly unknown[]): number {
  return rows.length
}

// As the tracer of OpenTelemetry itself: one for the process, since every connection of it would be given the same.
let tracer: Tracing | undefined

/** From now on each statement of a call is a span; of none with undefined. */
export function traceStatements(tracing: Tracing | undefined): void {
  tracer = tracing
}

// One for the process too.
let log: StatementLog | undefined

/** Sets the log of statements. undefined ends logging. */
export function logStatements(to: StatementLog | undefined): void {
  log = to
}

/** Whether statements are logged, so that every call has to be observed. */
export function areStatementsLogged(): boolean {
  return log !== undefined
}

/** Runs a statement. `running` sends it, and settles when its answer is there. */
export function observed<Result>(
  statement: ObservedStatement<Result>,
  running: () => Promise<Result>
): Promise<Result> {
  const calls = currentCalls()
  if (calls.length === 0 && log === undefined) return running()
  const ended = begin(statement, calls)
  const result = running()
  result.then(
    (answer) => ended({ answer }),
    (error: unknown) => ended({ error })
  )
  return result
}

/** The same for a database whose driver is synchronous. */
export function observedAtOnce<Result>(statement: ObservedStatement<Result>, run: () => Result): Result {
  const calls = currentCalls()
  if (calls.length === 0 && log === undefined) return run()
  const ended = begin(statement, calls)
  try {
    const answer = run()
    ended({ answer })
    return answer
  } catch (error) {
    if (statement.isMoved?.() !== true) ended({ error })
    throw error
  }
}

type StatementEnd<Result> = { readonly answer: Result } | { readonly error: unknown }

/** Answers what to call when the statement has ended. */
function begin<Result>(statement: ObservedStatement<Result>, calls: Calls): (outcome: StatementEnd<Result>) => void {
  const endSpan = tracer && calls.length > 0 ? beginSpan(tracer, statement, calls) : undefined
  const begun = performance.now()
  return (outcome) => {
    const code = 'error' in outcome ? errorType(outcome.error) : undefined
    for (const { stopwatch } of calls) stopwatch?.statementEnded(begun)
    endSpan?.(code)
    const { sql, values, rows } = statement
    log?.({
      sql,
      values,
      rows: 'answer' in outcome ? rows?.(outcome.answer, sql) : undefined,
      durationMs: performance.now() - begun,
      requestIds: calls.map(({ requestId }) => requestId),
      code
    })
  }
}

const FIRST_WORD = /^\w+/

/** The first table that the text names. */
const TABLE = /\b(?:FROM|INTO|UPDATE) `?(\w+)/

/** A child of the first call's span, with links to those of the others. */
function beginSpan(
  tracing: Tracing,
  { sql, system }: Pick<ObservedStatement<never>, 'sql' | 'system'>,
  calls: Calls
): (code: string | undefined) => void {
  const contexts = calls.flatMap(({ span }): SpanContext[] => (span === undefined ? [] : [span.context]))
  const [parent, ...links] = contexts
  const [operation = 'SQL'] = FIRST_WORD.exec(sql) ?? []
  const [, table] = TABLE.exec(sql) ?? []
  const span = tracing.start({
    name: table === undefined ? operation : `${operation} ${table}`,
    kind: 'client',
    parent,
    links,
    attributes: {
      'db.system.name': system,
      'db.operation.name': operation,
      'db.query.text': sql,
      ...(table === undefined ? {} : { 'db.collection.name': table })
    }
  })
  return (code) => span.end({}, code)
}

/** The driver's code, also of an error that Sequelize has wrapped. The message may hold values. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER'
  if ('code' in error && typeof error.code === 'string') return error.code
  return 'parent' in error && error.parent !== error ? errorType(error.parent) : '_OTHER'
}
