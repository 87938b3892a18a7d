import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runChecks } from './check/run-checks.mjs'
import { describe, runCommand } from './failure.mjs'
import { interruption } from './interruption.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `npm test` runs the checks and all test files; `npm test -- <part of a path>…` only the test files whose path holds it.
await runCommand(async () => {
  const started = performance.now()
  const { passed, failed, interrupted } = await runEverything().catch(notRun)
  process.stdout.write(`\nDone in ${Math.round((performance.now() - started) / 1000)} s.\n`)
  process.stdout.write(`${passed} passed, ${failed} failed${interrupted ? ', interrupted' : ''}\n`)
  return failed === 0 && !interrupted ? 0 : 1
})

async function runEverything() {
  await prepare()
  const filters = process.argv.slice(2)
  const compiled = (/** @type {string} */ file) => pathToFileURL(join(projectRoot, 'dist/test/runner', file)).href
  const { runTests } = /** @type {typeof import('../test/runner/run-tests.js')} */ (
    await import(compiled('run-tests.js'))
  )
  const { installPrograms } = /** @type {typeof import('../test/runner/programs.js')} */ (
    await import(compiled('programs.js'))
  )
  // The checks use the processors while packages are fetched and unpacked.
  const [checks] =
    filters.length === 0 ? await Promise.all([runChecks(), installPrograms()]) : [{ passed: 0, failed: 0 }]
  const interrupting = new AbortController()
  void interruption().then(() => interrupting.abort())
  const tests = await runTests(filters, interrupting.signal)
  return {
    passed: checks.passed + tests.passed,
    failed: checks.failed + tests.failed,
    interrupted: interrupting.signal.aborted
  }
}

/** @param {unknown} error */
function notRun(error) {
  process.stderr.write(`${describe(error)}\n`)
  return { passed: 0, failed: 1, interrupted: false }
}
