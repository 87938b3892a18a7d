import { AsyncLocalStorage } from 'node:async_hooks'
import type { SpanContext } from '@opentelemetry/api'
import type { CallTimes } from '../../shared/transport/call-frames.js'
import type { RunningSpan, Tracing } from '../../shared/observe/tracing.js'

// Which calls a statement is run for. It is known only where traces are exported, and of calls that ask for their times:
// nothing is kept of a call otherwise. One statement may be run for several calls, so the scope is a list.

/** A call that is observed. */
export interface ObservedCall {
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

const NONE: Calls = []

/** The calls that are being worked for. */
export function currentCalls(): Calls {
  return scope.getStore() ?? NONE
}

/** Does work for other calls than those that it is begun by, as where the reads of several become one statement. */
export function forCalls<Result>(calls: Calls, work: () => Result): Result {
  return calls.length === 0 && scope.getStore() === undefined ? work() : scope.run(calls, work)
}

export interface ObservedStatement {
  /** The text, with a `?` for each value. */
  readonly sql: string
  /** The kind of database, as OpenTelemetry names it in `db.system.name`. */
  readonly system: string
}

// As the tracer of OpenTelemetry itself: one for the process, since every connection of it would be given the same.
let tracer: Tracing | undefined

/** From now on each statement of a call is a span; of none with undefined. */
export function traceStatements(tracing: Tracing | undefined): void {
  tracer = tracing
}

/** Runs a statement. `running` sends it, and settles when its answer is there. */
export function observed<Result>(statement: ObservedStatement, running: () => Promise<Result>): Promise<Result> {
  const calls = currentCalls()
  if (calls.length === 0) return running()
  const ended = begin(statement, calls)
  const result = running()
  result.then(() => ended(undefined), ended)
  return result
}

/** The same for a database whose driver is synchronous. */
export function observedAtOnce<Result>(statement: ObservedStatement, run: () => Result): Result {
  const calls = currentCalls()
  if (calls.length === 0) return run()
  const ended = begin(statement, calls)
  try {
    const result = run()
    ended(undefined)
    return result
  } catch (error) {
    ended(error)
    throw error
  }
}

/** Answers what to call when the statement has ended. */
function begin(statement: ObservedStatement, calls: Calls): (error: unknown) => void {
  const endSpan = tracer && beginSpan(tracer, statement, calls)
  const begun = performance.now()
  return (error) => {
    for (const { stopwatch } of calls) stopwatch?.statementEnded(begun)
    endSpan?.(error)
  }
}

const OPERATION = /^\w+/

/** The first table that the text names. */
const TABLE = /\b(?:FROM|INTO|UPDATE) `?(\w+)/

/** A child of the first call's span, with links to those of the others. */
function beginSpan(tracing: Tracing, { sql, system }: ObservedStatement, calls: Calls): (error: unknown) => void {
  const contexts = calls.flatMap(({ span }): SpanContext[] => (span === undefined ? [] : [span.context]))
  const [parent, ...links] = contexts
  const [operation = 'SQL'] = OPERATION.exec(sql) ?? []
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
  return (error) => span.end({}, error === undefined ? undefined : codeOf(error))
}

/** The driver's code. Its message may hold values. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '_OTHER'
}
