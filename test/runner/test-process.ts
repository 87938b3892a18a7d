import { format } from 'node:util'
import fc from 'fast-check'
import Mocha from 'mocha'

// The process that runs test files, one after the other, as its parent (run-files.ts) names them. It sends the end of
// each test at once, so that an interrupted run loses nothing.

/** What the parent sends: the path of the next compiled test file. */
export interface FileToRun {
  readonly file: string
  /** Whether reports of failures have the colours of a terminal. */
  readonly colors: boolean
}

/** What the parent receives. */
export type TestMessage =
  | { readonly event: 'passed' }
  | {
      readonly event: 'failed'
      /** Of the suites from the outside in, and of the test. */
      readonly titles: readonly string[]
      /** The error with its difference, its causes and its stack, as mocha shows them. */
      readonly report: string
    }
  | { readonly event: 'ended' }

const TIMEOUT_MS = 30_000
/** In a run with cuts a test waits for as many reconnections as it has requests, in the worst case. */
const TIMES_WITH_CUTS = 5
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

/** Sends what mocha's own reporters print. */
class SendingReporter extends Mocha.reporters.Base {
  constructor(runner: Mocha.Runner, options?: Mocha.MochaOptions) {
    super(runner, options)
    runner.on('pass', () => send({ event: 'passed' }))
    if (process.env['TEST_CUTS'] !== undefined) {
      const prolonged = new Set<Mocha.Runnable>()
      const prolong = (one: Mocha.Runnable): void => {
        if (!prolonged.has(one)) one.timeout(one.timeout() * TIMES_WITH_CUTS)
        prolonged.add(one)
      }
      runner.on('test', prolong)
      runner.on('hook', prolong)
    }
    const failed = new Set<Mocha.Test>()
    runner.on('fail', (test, error: unknown) => {
      // After an error from outside its function a test fails a second time when the function ends.
      if (failed.has(test) && isMultipleDone(error)) return
      failed.add(test)
      send({ event: 'failed', titles: test.titlePath(), report: reportOf(error) })
    })
  }
}

async function runFile({ file, colors }: FileToRun): Promise<void> {
  Mocha.reporters.Base.useColors = colors
  Object.assign(Mocha.reporters.Base, { maxDiffSize: MAX_DIFF_CHARACTERS })
  const mocha = new Mocha({ reporter: SendingReporter, timeout: TIMEOUT_MS, forbidOnly: true, forbidPending: true })
  mocha.addFile(file)
  try {
    await mocha.loadFilesAsync()
    if (mocha.suite.total() === 0) throw new Error('The file holds no test.')
    // Mocha's runner drops a rejection that nobody handles; thrown from here it fails the test that runs.
    process.on('unhandledRejection', (reason) => {
      throw reason
    })
    await new Promise((resolve) => mocha.run(resolve))
  } catch (error) {
    send({ event: 'failed', titles: ['loading the file'], report: reportOf(error) })
  }
  // Each run of mocha adds listeners and leaves them.
  process.removeAllListeners('uncaughtException')
  process.removeAllListeners('unhandledRejection')
  // An error that comes after the last test ends the process now, while the parent knows which file it comes from.
  setImmediate(() => send({ event: 'ended' }))
}

function isMultipleDone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_MOCHA_MULTIPLE_DONE'
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
  return text.slice(text.indexOf(':\n') + 2).replace(/^\n+|\s+$/g, '')
}

function send(message: TestMessage): void {
  if (process.connected) process.send?.(message)
}
