import Mocha from 'mocha'

const TIMEOUT_MS = 30_000
const JOBS = 2

/** How many tests ended how. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
}

/**
 * Runs test files, two at a time, each in a process that no other file shares at the same time. A skipped test is a
 * failed one. Rejects when the signal aborts.
 */
export async function runMocha(files: readonly string[], signal: AbortSignal): Promise<Outcome> {
  const mocha = new Mocha({ parallel: true, jobs: JOBS, timeout: TIMEOUT_MS, forbidOnly: true, forbidPending: true })
  for (const file of files) mocha.addFile(file)
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    signal.throwIfAborted()
    const runner = mocha.run((failures) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {}
      resolve({ passed: passes, failed: failures + pending })
    })
  })
}
