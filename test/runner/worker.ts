import { format } from 'node:util'
import fc from 'fast-check'
import Mocha from 'mocha'
import { withSourcePlaces } from './source-places.js'

// The process that runs test files, one after the other, as run-files.ts names them. It sends the end of each test at
// once, so that an interrupted run loses nothing.

export interface TestFailure {
  /** Of the suites from the outside in, and of the test. */
  readonly titles: readonly string[]
  /** The error with its difference, its causes and its stack, as mocha shows them. */
  readonly report: string
}

/** What the parent receives. */
export type WorkerMessage = 'passed' | TestFailure | 'ended'

/** What the parent sends. */
export interface FileToRun {
  /** The path of the compiled test file. */
  readonly path: string
  /** Whether reports of failures have the colours of a terminal. */
  readonly colors: boolean
}

/** It ends a test that waits for ever. A slow machine must not meet it: how quick something is, a test counts and says itself. */
const TIMEOUT_MS = 300_000
const MAX_DIFF_CHARACTERS = 65_536

// The parent has ended, or wants this process to end. What a test file has open must not keep it alive.
process.once('disconnect', () => process.exit(1))
process.on('message', (message) => void runFile(message as FileToRun)) // run-files.ts alone has the channel

// fast-check throws an error of its own with the property's error as its cause. Mocha shows values and difference of the
// error itself alone, so this makes one error of both: counterexample and seed of fast-check; message, values and stack
// of the assertion.
fc.configureGlobal({
  reporter(details) {
    if (!details.failed) return
    const report = fc.defaultReportMessage(details)?.replace(/\n\nHint: Enable verbose mode[^\n]*/, '') ?? ''
    const error: unknown = details.errorInstance
    if (!(error instanceof Error)) throw new Error(report)
    const message = `${report}\n\n${error.message}`.replaceAll('\n', '\n      ')
    const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line) && !line.includes('/fast-check/'))
    const stack = [message, ...(frames ?? [])].join('\n')
    throw Object.assign(new Error(message), error, { message, stack })
  }
})

class SendingReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    runner.on('pass', () => send('passed'))
    const failed = new Set<Mocha.Test>()
    runner.on('fail', (test, error: unknown) => {
      // After an error from outside its function a test fails a second time when the function ends.
      if (failed.has(test) && error instanceof Error && 'code' in error && error.code === 'ERR_MOCHA_MULTIPLE_DONE')
        return
      failed.add(test)
      send({ titles: test.titlePath(), report: reportOf(error) })
    })
  }
}

async function runFile({ path, colors }: FileToRun): Promise<void> {
  Object.assign(Mocha.reporters.Base, { useColors: colors, maxDiffSize: MAX_DIFF_CHARACTERS })
  const mocha = new Mocha({ reporter: SendingReporter, timeout: TIMEOUT_MS, forbidOnly: true, forbidPending: true })
  mocha.addFile(path)
  try {
    await mocha.loadFilesAsync()
    if (mocha.suite.total() === 0) throw new Error('The file holds no test.')
    // Mocha's runner drops a rejection that nobody handles; thrown from here it fails the test that runs.
    process.on('unhandledRejection', (reason) => {
      throw reason
    })
    await new Promise((resolve) => mocha.run(resolve))
  } catch (error) {
    send({ titles: ['loading the file'], report: reportOf(error) })
  }
  // Each run of mocha adds listeners and leaves them.
  process.removeAllListeners('uncaughtException')
  process.removeAllListeners('unhandledRejection')
  // An error that comes after the last test ends the process now, while the parent knows which file it comes from.
  setImmediate(() => send('ended'))
}

/** What mocha prints of an error. */
function reportOf(error: unknown): string {
  const lines: string[] = []
  const print = Mocha.reporters.Base.consoleLog
  Mocha.reporters.Base.consoleLog = (...values: unknown[]) => void lines.push(format(...values))
  try {
    const failure = { err: error instanceof Error ? error : new Error(String(error)), titlePath: () => [] }
    Mocha.reporters.Base.list([failure as unknown as Mocha.Test]) // of a test, `list` reads these two alone
  } finally {
    Mocha.reporters.Base.consoleLog = print
  }
  const text = lines.join('\n')
  // Its number and its title, which is empty here.
  return withSourcePlaces(text.slice(text.indexOf(':\n') + 2).replace(/^\n+|\s+$/g, ''))
}

function send(message: WorkerMessage): void {
  if (process.connected) process.send?.(message)
}
