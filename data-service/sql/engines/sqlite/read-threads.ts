import { Worker } from 'node:worker_threads'
import type { Cancellation } from '../../../../shared/transport/cancellation.js'
import { observed } from '../../../observe/call-scope.js'
import { type BoundSelect, rowsRead, SqliteError, type SqliteValue, StatementStopped } from './sqlite-connection.js'

// The driver is synchronous, so a SELECT that takes long runs in a thread: on the main one it would hold up every call.

/** What a thread is asked for. */
export type ReadTask =
  | (BoundSelect & {
      readonly kind: 'rows'
      /** Not the one of another task of the thread. */
      readonly id: number
      readonly connection: number
      /** Whether all statements of the connection see the same state of the database. */
      readonly isSnapshot: boolean
      readonly isFirst: boolean
    })
  | { readonly kind: 'end'; readonly connection: number }

/** What it answers. A failure is an error of the database by its members, `stopped`, or a defect. */
export type ReadOutcome = { readonly id: number } & ({ readonly rows: SqliteValue[][] } | { readonly failure: unknown })

export interface ReadThreadData {
  readonly file: string
  /** The id of the task that is to stop. */
  readonly stopped: Int32Array
}

/** Threads of reads. One more than one, so that a read that takes long does not hold up every other one. */
const READ_THREADS = 2
/** Reads of one thread that wait for it. Each has a place of its caller's share, so this is never the bound of one caller. */
const MAX_WAITING = 256
/** Milliseconds after which a thread without work ends: it keeps some 15 MiB. */
const IDLE_MS = 30_000

/** The threads that read one file. A thread starts with the first work for it. */
export class ReadThreads {
  readonly #reads: readonly ReadThread[]
  readonly #snapshots: ReadThread

  constructor(file: string) {
    this.#reads = Array.from({ length: READ_THREADS }, () => new ReadThread(file))
    this.#snapshots = new ReadThread(file)
  }

  /** Runs a SELECT on the state that is committed now. */
  rows(select: BoundSelect, signal: Cancellation): Promise<SqliteValue[][]> {
    const [first, ...others] = this.#reads
    const thread = others.reduce((least, one) => (one.load < (least?.load ?? 0) ? one : least), first)
    return thread?.rows(select, { id: 0, isSnapshot: false, hasRead: false }, signal) ?? Promise.reject(busy())
  }

  /** A connection on which every SELECT sees the state that the first one has seen. */
  snapshot(): SnapshotConnection {
    return this.#snapshots.snapshot()
  }

  async close(): Promise<void> {
    for (const thread of [...this.#reads, this.#snapshots]) await thread.close()
  }
}

export interface SnapshotConnection {
  rows(select: BoundSelect, signal: Cancellation): Promise<SqliteValue[][]>
  end(): void
}

interface ReadConnection {
  readonly id: number
  readonly isSnapshot: boolean
  /** Whether a statement of it has answered rows, so that all further ones must see the same state. */
  hasRead: boolean
}

interface Waiting {
  readonly task: BoundSelect & { readonly id: number }
  readonly connection: ReadConnection
  readonly settle: (outcome: { readonly rows: SqliteValue[][] } | { readonly error: unknown }) => void
}

/** One thread, which runs one statement after the other. */
class ReadThread {
  readonly #file: string
  readonly #stopped = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #running: Waiting | undefined
  #isPausing = false
  #snapshots = 0
  #lastId = 0
  #lastConnection = 0
  #ending: NodeJS.Timeout | undefined

  constructor(file: string) {
    this.#file = file
  }

  /** Statements that run or wait. */
  get load(): number {
    return this.#waiting.length + (this.#running === undefined ? 0 : 1)
  }

  rows(select: BoundSelect, connection: ReadConnection, signal: Cancellation): Promise<SqliteValue[][]> {
    const { sql, parameters, exact } = select
    return observed<SqliteValue[][]>({ sql, system: 'sqlite', values: parameters, rows: rowsRead }, () => {
      if (this.#waiting.length >= MAX_WAITING) return Promise.reject(busy())
      return new Promise<SqliteValue[][]>((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason)
        this.#lastId = (this.#lastId % 2 ** 30) + 1
        const task = { id: this.#lastId, sql, parameters, exact }
        const aborted = {
          handleEvent: () => {
            this.#drop(task.id)
            reject(signal.reason)
          }
        }
        const settle: Waiting['settle'] = (outcome) => {
          signal.removeEventListener('abort', aborted)
          if ('rows' in outcome) resolve(outcome.rows)
          else reject(outcome.error)
        }
        signal.addEventListener('abort', aborted)
        this.#waiting.push({ task, connection, settle })
        this.#next()
      })
    })
  }

  snapshot(): SnapshotConnection {
    const connection = { id: ++this.#lastConnection, isSnapshot: true, hasRead: false }
    this.#snapshots += 1
    return {
      rows: (select, signal) => this.rows(select, connection, signal),
      end: () => {
        this.#snapshots -= 1
        this.#worker?.postMessage({ kind: 'end', connection: connection.id } satisfies ReadTask)
        this.#rest()
      }
    }
  }

  /** Ends the thread when the statement that runs has ended. */
  async close(): Promise<void> {
    for (const { settle } of this.#waiting.splice(0)) settle({ error: new Error('The reader was closed') })
    if (this.#running !== undefined) Atomics.store(this.#stopped, 0, this.#running.task.id)
    clearTimeout(this.#ending)
    await this.#worker?.terminate()
  }

  /** Takes a statement out of the queue, or stops it. */
  #drop(id: number): void {
    const at = this.#waiting.findIndex(({ task }) => task.id === id)
    if (at >= 0) this.#waiting.splice(at, 1)
    else Atomics.store(this.#stopped, 0, id)
  }

  #next(): void {
    if (this.#running !== undefined || this.#isPausing) return
    this.#running = this.#waiting.shift()
    if (this.#running === undefined) return this.#rest()
    clearTimeout(this.#ending)
    try {
      this.#worker ??= this.#start()
      this.#worker.ref()
      const { task, connection } = this.#running
      // Whether it is the first is known only now: statements before it may have been rejected without an answer.
      const { id, isSnapshot, hasRead } = connection
      const posted: ReadTask = { kind: 'rows', ...task, connection: id, isSnapshot, isFirst: !hasRead }
      this.#worker.postMessage(posted)
    } catch (error) {
      // There may be no memory for a thread, or no room among those of the container.
      this.#end({ error })
    }
  }

  #start(): Worker {
    const data: ReadThreadData = { file: this.#file, stopped: this.#stopped }
    const worker = new Worker(new URL('./read-worker.js', import.meta.url), { workerData: data })
    worker.on('message', (outcome: ReadOutcome) => {
      this.#end('rows' in outcome ? outcome : { error: errorOf(outcome.failure) })
    })
    worker.on('error', (error) => this.#lost(worker, error))
    worker.on('exit', (code) => this.#lost(worker, new Error(`A thread that reads ended with ${code}`)))
    return worker
  }

  #end(outcome: Parameters<Waiting['settle']>[0]): void {
    const ended = this.#running
    this.#running = undefined
    if (ended !== undefined && 'rows' in outcome) ended.connection.hasRead = true
    ended?.settle(outcome)
    if (this.#isPausing) return
    // Answers that come while the main thread takes one would all be taken in the same turn of its event loop.
    this.#isPausing = true
    setImmediate(() => {
      this.#isPausing = false
      this.#next()
    })
  }

  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#end({ error })
  }

  /** A thread without work does not keep the process alive, and ends after a while unless it holds a snapshot. */
  #rest(): void {
    if (this.#worker === undefined || this.load > 0) return
    this.#worker.unref()
    clearTimeout(this.#ending)
    if (this.#snapshots > 0) return
    this.#ending = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      void worker?.terminate()
    }, IDLE_MS).unref()
  }
}

function errorOf(failure: unknown): unknown {
  if (failure === 'stopped') return new StatementStopped('The statement was stopped')
  if (failure instanceof Error) return failure
  const { code, errno, message } = failure as { code: string; errno: number; message: string } // of read-worker.ts
  // It begins with the code, as that of every SqliteError.
  return new SqliteError(code, errno, new Error(message.slice(`${code}: `.length)))
}

/** The same error as for a lock of another process. */
export function busy(): SqliteError {
  return new SqliteError('SQLITE_BUSY', 5, new Error('the statements before take too long'))
}
