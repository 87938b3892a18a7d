import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Report } from './report.js'
import type { FileToRun, TestMessage } from './test-process.js'

/** Files at a time that use the processors, one more than there are: each waits for a part of its time. Beside them runs one that waits. */
const BUSY_FILES = 3
/** For what a test file started, and left, to stop by itself: a private MariaDB writes its pages first. */
const STOP_MS = 15_000
const SHOWN_LINES = 40

/** A compiled test file. */
export interface TestFile {
  readonly path: string
  /** The path of its source, from the project's root, and what is special about the run of it. */
  readonly name: string
  /** Whether its tests wait most of the time, for intervals and restarts, and leave the processors to others. */
  readonly waits: boolean
  /** Variables of its process beside those of this one. Files that share them are the same object. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Runs test files, three at a time and beside them one that waits, each in a process that no other file shares at the same
 * time. They begin in the order of `files`. A skipped test is a failed one. Resolves when all have ended, or, after the
 * signal has aborted, when no process is left.
 */
export async function runFiles(files: readonly TestFile[], report: Report, signal: AbortSignal): Promise<void> {
  const busy = files.filter(({ waits }) => !waits)
  const waiting = files.filter(({ waits }) => waits)
  const lanes = [
    ...Array.from({ length: BUSY_FILES }, () => () => busy.shift() ?? waiting.shift()),
    () => waiting.shift()
  ]
  await Promise.all(lanes.map((next) => runInTurn(next, report, signal)))
}

/** Runs one file after the other until `next` has none. */
async function runInTurn(next: () => TestFile | undefined, report: Report, signal: AbortSignal): Promise<void> {
  let tests: TestProcess | undefined
  try {
    for (let file = next(); file !== undefined && !signal.aborted; file = next()) {
      if (tests?.env !== file.env) {
        await tests?.stop()
        tests = new TestProcess(file.env)
      }
      await tests.run(file, report, signal)
      // What a failed test left open must not make the tests of other files fail.
      if (report.hasFailed(file.name)) {
        await tests.stop()
        tests = undefined
      }
    }
  } finally {
    await tests?.stop()
  }
}

/** The parent's side of test-process.ts. */
class TestProcess {
  readonly env: TestFile['env']
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  #output = ''

  constructor(env: TestFile['env']) {
    this.env = env
    // In a process group of its own: Ctrl-C in the terminal must reach the tests and what they start through us alone,
    // or else they fail because of it. And the group tells whether anything that they started is left.
    this.#child = fork(fileURLToPath(new URL('test-process.js', import.meta.url)), {
      detached: true,
      env: { ...process.env, ...env },
      execArgv: ['--enable-source-maps'],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    })
    this.#exited = once(this.#child, 'exit')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    }
  }

  /** Resolves when the file has ended, the process has, or the signal has aborted. */
  async run({ path, name }: TestFile, report: Report, signal: AbortSignal): Promise<void> {
    report.started(name)
    const listening = new AbortController()
    const ended = new Promise<'file' | 'process' | 'run'>((resolve) => {
      this.#child.on('message', (received) => {
        if (listening.signal.aborted) return
        const message = received as TestMessage // of test-process.ts, which alone has the channel
        if (message.event === 'passed') report.passed(name)
        else if (message.event === 'failed') report.failed(name, message.titles, message.report)
        else resolve('file')
      })
      this.#exited.then(
        () => resolve('process'),
        () => resolve('process')
      )
      signal.addEventListener('abort', () => resolve('run'), { once: true, signal: listening.signal })
      if (signal.aborted) resolve('run')
    })
    // Where the process has ended already, `#exited` tells it.
    this.#child.send({ file: path, colors: report.colors } satisfies FileToRun, () => undefined)
    const what = await ended
    listening.abort()
    this.#child.removeAllListeners('message')
    if (what === 'run') return
    // What was printed before the message has been written before it, and is read in the same turn at the latest.
    await new Promise(setImmediate)
    const output = this.#output
    this.#output = ''
    if (what === 'process') {
      const { exitCode, signalCode } = this.#child
      const last = output.split('\n').slice(-SHOWN_LINES).join('\n')
      report.failed(name, [`the process ended with ${signalCode ?? `code ${exitCode}`} while the file ran`], last)
    }
    report.ended(name, what === 'process' ? '' : output)
  }

  /** Ends the process and waits until all that its tests started has ended too. */
  async stop(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect()
    const group = -(this.#child.pid ?? 0)
    const end = performance.now() + STOP_MS
    while (exists(group) && performance.now() < end) await pause(20)
    if (exists(group)) process.kill(group, 'SIGKILL')
    await this.#exited
  }
}

/** Whether a process group has a member. */
function exists(group: number): boolean {
  try {
    return process.kill(group, 0)
  } catch {
    return false
  }
}
