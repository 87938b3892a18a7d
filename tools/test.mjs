import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runChecks } from './check/run-checks.mjs'
import { describe, Failure, runCommand } from './failure.mjs'
import { interruption } from './interruption.mjs'
import { prepare } from './prepare/prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `npm test` runs all there is; `npm test -- <part of a path>…` the checks aside, the test files named so.
await runCommand(async () => {
  const started = performance.now()
  const { passed, failed } = await runEverything().catch(notRun)
  process.stdout.write(`\nDone in ${Math.round((performance.now() - started) / 1000)} s.\n`)
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
})

async function runEverything() {
  await prepare()
  const filters = process.argv.slice(2)
  const checks = filters.length === 0 ? await runChecks() : { passed: 0, failed: 0 }
  const runner = pathToFileURL(join(projectRoot, 'dist/test/runner/run-tests.js')).href
  const { runTests } = /** @type {typeof import('../test/runner/run-tests.js')} */ (await import(runner))
  const interrupted = new AbortController()
  void interruption().then(() => interrupted.abort(new Failure('Interrupted.')))
  const tests = await runTests(filters, interrupted.signal)
  return { passed: checks.passed + tests.passed, failed: checks.failed + tests.failed }
}

/** @param {unknown} error */
function notRun(error) {
  process.stderr.write(`${describe(error)}\n`)
  return { passed: 0, failed: 1 }
}
