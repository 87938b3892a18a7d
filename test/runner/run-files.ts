import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { processorTime } from './processor-time.js'
import type { FileResult, Report } from './report.js'
import type { FileToRun, WorkerMessage } from './worker.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
/** For a worker to end when it is asked to, and for the kernel to end what its tests left. */
const STOP_MS = 5_000
const SHOWN_LINES = 40
/**
 * A worker runs much code a few times. To collect its short-lived objects less often, and to compile to the fastest code only
 * what is hot for long, spares a fourth of its processor time. Processes that tests start have the second one.
 */
const WORKER_FLAGS = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--interrupt-budget=1000000']

/**
 * Runs test files (`test/api/paged.test.ts`), as many at a time as there are `jobs`. Each job has a process, which runs one
 * file after the other and is replaced after a failure. Resolves when all files have ended, or, after the signal has
 * aborted, when no process is left.
 *
 * Mocha's own parallel mode does not do it: each worker that dies takes one of its jobs with it, and when the last one is
 * gone mocha exits with 0 and has not run the files that waited.
 */
export async function runFiles(
  files: readonly string[],
  jobs: number,
  report: Report,
  signal: AbortSignal
): Promise<void> {
  const queue = [...files]
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  const job = async (): Promise<void> => {
    let worker: Worker | undefined
    for (let file = queue.shift(); file !== undefined && !signal.aborted; file = queue.shift()) {
      worker ??= new Worker()
      const result = report.begin(file)
      await Promise.race([worker.run(result, report, signal), aborted])
      // What a failed test left open must not make the tests of other files fail.
      if (result.failures.length > 0) worker = await worker.stop()
    }
    await worker?.stop()
  }
  await Promise.all(Array.from({ length: jobs }, job))
}

/** A process that runs worker.ts. */
class Worker {
  // In a process group of its own: Ctrl-C in the terminal must reach the tests and what they start through us alone, or
  // else they fail because of it. And what they leave is ended with the group.
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('worker.js', import.meta.url)), {
    detached: true,
    execArgv: WORKER_FLAGS,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  readonly #exited = once(this.#child, 'exit')
  #output = ''

  constructor() {
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    }
  }

  /** Resolves when the file has ended, or the process while it ran. Reports nothing of it after the signal has aborted. */
  async run(result: FileResult, report: Report, signal: AbortSignal): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      this.#child.on('message', (received) => {
        const message = received as WorkerMessage // worker.ts alone has the channel
        if (message === 'ended') resolve()
        else if (message === 'passed') result.passed++
        else report.failed(result, message)
      })
    })
    const before = processorTime(this.#child.pid)
    const path = `${root}${result.file.replace(/\.ts$/, '.js')}`
    // Where the process has ended already, `#exited` tells it.
    this.#child.send({ path, colors: report.colors } satisfies FileToRun, () => undefined)
    await Promise.race([ended, this.#exited])
    this.#child.removeAllListeners('message')
    const after = processorTime(this.#child.pid)
    if (before !== undefined && after !== undefined) result.processors = after - before
    // The process has been stopped: the report says that the file is unfinished.
    if (signal.aborted) return
    // What was printed before the message has been written before it, and is read in the same turn at the latest.
    await new Promise(setImmediate)
    result.output = this.#output
    this.#output = ''
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) {
      const last = result.output.split('\n').slice(-SHOWN_LINES).join('\n')
      result.output = ''
      const title = `the process ended with ${signalCode ?? `code ${exitCode}`} while the file ran`
      report.failed(result, { titles: [title], report: last })
    }
    report.ended(result)
  }

  /** Ends the process and all that its tests have left. */
  async stop(): Promise<undefined> {
    if (this.#child.connected) this.#child.disconnect()
    await Promise.race([this.#exited, pause(STOP_MS, undefined, { ref: false })])
    const group = -(this.#child.pid ?? 0)
    for (let waited = 0; isKilled(group) && waited < STOP_MS; waited += 10) await pause(10)
  }
}

/** Kills the members of a process group. false where it has none any more. */
function isKilled(group: number): boolean {
  try {
    return process.kill(group, 'SIGKILL')
  } catch {
    return false
  }
}
