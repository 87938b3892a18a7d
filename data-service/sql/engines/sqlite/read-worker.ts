import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { AnswerTooLarge } from '../answer-bytes.js'
import type { ReadOutcome, ReadTask, ReadThreadData } from './read-threads.js'
import { SqliteConnection, SqliteError, type SqliteValue, StatementStopped } from './sqlite-connection.js'

/** As for nice(1): calls that the main thread serves come first. */
const READ_NICENESS = 5

// On Linux setpriority(2) changes the calling thread only; on other systems it would change the whole process.
if (process.platform === 'linux') setPriority(0, READ_NICENESS)

const { file, stopped } = workerData as ReadThreadData // read-threads.ts gives it
const connections = new Map<number, SqliteConnection>()
/** Of ended snapshots, for reuse: the driver closes a file only when the connection is garbage-collected. */
const idle: SqliteConnection[] = []

parentPort?.on('message', (task: ReadTask) => {
  if (task.kind === 'end') end(task.connection)
  else if (task.kind === 'close') parentPort?.close()
  else parentPort?.postMessage({ id: task.id, ...readOutcome(task) } satisfies ReadOutcome)
})

function readOutcome(
  task: ReadTask & { readonly kind: 'rows' }
): { rows: SqliteValue[][]; milliseconds: number } | { failure: unknown } {
  const began = performance.now()
  try {
    const rows = connectionFor(task).rowsUntil(() => Atomics.load(stopped, 0) === task.id, task)
    return { rows, milliseconds: performance.now() - began }
  } catch (error) {
    if (error instanceof StatementStopped) return { failure: 'stopped' }
    if (error instanceof AnswerTooLarge) return { failure: { held: error.held } }
    if (!(error instanceof SqliteError)) return { failure: error }
    const { code, errno, message } = error
    // A copy of an error keeps neither its class nor its members.
    return { failure: { code, errno, message } }
  }
}

function connectionFor({ connection, isSnapshot, isFirst }: ReadTask & { readonly kind: 'rows' }): SqliteConnection {
  const known = connections.get(connection)
  if (known !== undefined) return known
  if (isSnapshot && !isFirst) throw new Error('The thread that held the snapshot has ended')
  const opened = idle.pop() ?? SqliteConnection.openReadOnly(file)
  // A deferred transaction: the first SELECT determines the state that all statements see, and no writer waits for it.
  if (isSnapshot) opened.execute('BEGIN')
  connections.set(connection, opened)
  return opened
}

function end(name: number): void {
  const connection = connections.get(name)
  connections.delete(name)
  try {
    connection?.reset()
    if (connection !== undefined) idle.push(connection)
  } catch {
    connection?.close()
  }
}
