import { Worker } from 'node:worker_threads'
import { type Cancellation, shareKeyOf } from '../../../../shared/transport/cancellation.js'
import { observed, rowsRead } from '../../../observe/call-scope.js'
import { AnswerTooLarge } from '../answer-bytes.js'
import { type Queued, ReadQueue } from './read-queue.js'
import { type BoundSelect, SqliteError, type SqliteValue, StatementStopped } from './sqlite-connection.js'

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
  | { readonly kind: 'close' }

/** What it answers. A failure is an error of the database by its members, `stopped`, `too large`, or a defect. */
export type ReadOutcome = { readonly id: number } & (
  | { readonly rows: SqliteValue[][]; readonly milliseconds: number }
  | { readonly failure: unknown }
)

export interface ReadThreadData {
  readonly file: string
  /** The id of the task that is to stop. */
  readonly stopped: Int32Array
}

/** Threads of reads. One more than one, so that a read that takes long does not hold up every other one. */
const READ_THREADS = 2
/** Reads that wait for a thread, of each thread. Each has a place of its caller's share, so this is never the bound of one caller. */
const MAX_WAITING_READS = 256
/** Milliseconds after which a thread without work ends: it keeps some 15 MiB. */
const IDLE_THREAD_MS = 30_000

interface ReadThreadsOptions {
  readonly file: string
  /** Called when a SELECT has answered, with the time that it took in its thread. */
  readonly took?: (sql: string, milliseconds: number) => void
}

/** The threads that read one file. A thread starts with the first work for it. */
export class ReadThreads {
  readonly #took: ReadThreadsOptions['took']
  readonly #queue = new ReadQueue<Waiting>(READ_THREADS * MAX_WAITING_READS)
  readonly #reads: readonly ReadThread[]
  readonly #snapshots: ReadThread

  constructor({ file, took }: ReadThreadsOptions) {
    this.#took = took
    this.#reads = Array.from({ length: READ_THREADS }, () => new ReadThread(file, this.#queue))
    this.#snapshots = new ReadThread(file, new ReadQueue(MAX_WAITING_READS))
  }

  /** Runs a SELECT on the state that is committed now. */
  rows(select: BoundSelect, signal: Cancellation): Promise<SqliteValue[][]> {
    const connection = { id: 0, isSnapshot: false, hasRead: false, took: this.#took }
    return waitFor({ select, connection, signal }, { queue: this.#queue, threads: this.#reads })
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
  readonly took?: ReadThreadsOptions['took']
}

type Settled = { readonly rows: SqliteValue[][]; readonly milliseconds: number } | { readonly error: unknown }

interface Waiting extends Queued {
  readonly select: BoundSelect
  readonly connection: ReadConnection
  readonly settle: (outcome: Settled) => void
}

interface WaitedFor {
  readonly queue: ReadQueue<Waiting>
  /** Those that take their work from the queue. */
  readonly threads: readonly ReadThread[]
}

// Of all threads, so that a statement which has moved on is never taken for another one.
let lastId = 0

/** Runs a SELECT in the first of the threads that is free. */
function waitFor(
  { select, connection, signal }: Pick<Waiting, 'select' | 'connection'> & { readonly signal: Cancellation },
  { queue, threads }: WaitedFor
): Promise<SqliteValue[][]> {
  const { sql, parameters: values } = select
  return observed<SqliteValue[][]>({ sql, system: 'sqlite', values, rows: rowsRead }, () => {
    if (queue.isFull) return Promise.reject(busy())
    return new Promise<SqliteValue[][]>((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      lastId = (lastId % 2 ** 30) + 1
      const id = lastId
      const aborted = {
        handleEvent: () => {
          if (!queue.drop(id)) for (const thread of threads) thread.stop(id)
          reject(signal.reason)
        }
      }
      const settle: Waiting['settle'] = (outcome) => {
        signal.removeEventListener('abort', aborted)
        if ('rows' in outcome) resolve(outcome.rows)
        else reject(outcome.error)
      }
      signal.addEventListener('abort', aborted)
      queue.add({ id, shareKey: shareKeyOf(signal), select, connection, settle })
      threads.find((thread) => thread.isFree)?.next()
    })
  })
}

/** One thread, which runs one statement of its queue after the other. */
class ReadThread {
  readonly #file: string
  readonly #stopped = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  readonly #queue: ReadQueue<Waiting>
  #worker: Worker | undefined
  #running: Waiting | undefined
  #isPausing = false
  readonly #whenEnded: (() => void)[] = []
  #snapshots = 0
  #lastConnection = 0
  #ending: NodeJS.Timeout | undefined

  constructor(file: string, queue: ReadQueue<Waiting>) {
    this.#file = file
    this.#queue = queue
  }

  /** Whether it takes the next statement at once. */
  get isFree(): boolean {
    return this.#running === undefined && !this.#isPausing
  }

  snapshot(): SnapshotConnection {
    const connection = { id: ++this.#lastConnection, isSnapshot: true, hasRead: false }
    this.#snapshots += 1
    return {
      rows: (select, signal) => waitFor({ select, connection, signal }, { queue: this.#queue, threads: [this] }),
      end: () => {
        this.#snapshots -= 1
        this.#worker?.postMessage({ kind: 'end', connection: connection.id } satisfies ReadTask)
        this.#rest()
      }
    }
  }

  /** Ends the thread when the statement that runs has ended. */
  async close(): Promise<void> {
    for (const { settle } of this.#queue.clear()) settle({ error: new Error('The reader was closed') })
    clearTimeout(this.#ending)
    if (this.#running !== undefined) {
      this.stop(this.#running.id)
      await new Promise<void>((resolve) => this.#whenEnded.push(resolve))
    }
    await this.#closeWorker()
  }

  /** The thread ends by itself: the driver would end the whole process where a thread is ended amid any of its calls. */
  #closeWorker(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    if (worker === undefined) return Promise.resolve()
    worker.ref()
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
    worker.postMessage({ kind: 'close' } satisfies ReadTask)
    return exited
  }

  /** Stops this statement if it runs here. */
  stop(id: number): void {
    if (this.#running?.id === id) Atomics.store(this.#stopped, 0, id)
  }

  /** Begins with the next statement of the queue, unless one runs. */
  next(): void {
    if (!this.isFree) return
    this.#running = this.#queue.next()
    if (this.#running === undefined) return this.#rest()
    clearTimeout(this.#ending)
    try {
      this.#worker ??= this.#start()
      this.#worker.ref()
      const { id: task, select, connection } = this.#running
      // Whether it is the first is known only now: statements before it may have been rejected without an answer.
      const { id, isSnapshot, hasRead } = connection
      const posted: ReadTask = { kind: 'rows', ...select, id: task, connection: id, isSnapshot, isFirst: !hasRead }
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

  #end(outcome: Settled): void {
    const ended = this.#running
    this.#running = undefined
    if (ended !== undefined) {
      this.#queue.ended(ended)
      if ('rows' in outcome) {
        ended.connection.hasRead = true
        ended.connection.took?.(ended.select.sql, outcome.milliseconds)
      }
      ended.settle(outcome)
    }
    for (const listener of this.#whenEnded.splice(0)) listener()
    if (this.#isPausing) return
    // Answers that come while the main thread takes one would all be taken in the same turn of its event loop.
    this.#isPausing = true
    setImmediate(() => {
      this.#isPausing = false
      this.next()
    })
  }

  #lost(worker: Worker, error: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#end({ error })
  }

  /** A thread without work does not keep the process alive, and ends after a while unless it holds a snapshot. */
  #rest(): void {
    if (this.#worker === undefined || this.#running !== undefined || this.#queue.length > 0) return
    this.#worker.unref()
    clearTimeout(this.#ending)
    if (this.#snapshots > 0) return
    this.#ending = setTimeout(() => void this.#closeWorker(), IDLE_THREAD_MS).unref()
  }
}

function errorOf(failure: unknown): unknown {
  if (failure === 'stopped') return new StatementStopped('The statement was stopped')
  if (failure instanceof Error) return failure
  const told = failure as { held: number } | { code: string; errno: number; message: string } // of read-worker.ts
  if ('held' in told) return new AnswerTooLarge(told.held)
  const { code, errno, message } = told
  // It begins with the code, as that of every SqliteError.
  return new SqliteError(code, errno, new Error(message.slice(`${code}: `.length)))
}

/** The same error as for a lock of another process. */
export function busy(): SqliteError {
  return new SqliteError('SQLITE_BUSY', 5, new Error('the statements before take too long'))
}
