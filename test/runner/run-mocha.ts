import Mocha from 'mocha'

const TIMEOUT_MS = 30_000

/** How many tests ended how. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
}

/** Runs test files, two at a time, each in a process that has no other. A skipped test is a failed one. */
export async function runMocha(files: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const mocha = new Mocha({
    parallel: true,
    jobs: 2,
    timeout: TIMEOUT_MS,
    reporter: 'spec',
    forbidOnly: true,
    forbidPending: true
  })
  for (const file of files) mocha.addFile(file)
  return new Promise((resolve) => {
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {}
      resolve({ passed: passes, failed: failures + pending })
    })
    signal.addEventListener('abort', () => runner.abort(), { once: true })
  })
}
