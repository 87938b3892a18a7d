import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runChecks } from './check/run-checks.mjs'
import { describe, Failure, runCommand } from './failure.mjs'
import { interruption } from './interruption.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

const TIERS = /** @type {const} */ (['quick', 'full', 'soak', 'compose'])
const NONE = { passed: 0, failed: 0, failures: [] }

// `npm test` runs the test files of the tiers quick and full (test/tiers.ts); `--tier <name>` those of one tier, `quick` with
// the checks; `npm test -- <part of a path>…` only the test files of any tier whose path holds a part.
await runCommand(async () => {
  const started = performance.now()
  const { passed, failed, interrupted } = await runEverything().catch(notRun)
  process.stdout.write(`\nDone in ${Math.round((performance.now() - started) / 1000)} s.\n`)
  process.stdout.write(`${passed} passed, ${failed} failed${interrupted ? ', interrupted' : ''}\n`)
  return failed === 0 && !interrupted ? 0 : 1
})

async function runEverything() {
  const { tier, filters } = argumentsOf(process.argv.slice(2))
  // Files of both tiers do more in the soak (LONGER_IN_SOAK of test/tiers.ts). The processes that run them inherit this.
  if (tier === 'soak') process.env['IN_SOAK'] = 'true'
  await prepare()
  const { packagesFor, testFiles } = /** @type {typeof import('../dist/test/tiers.js')} */ (
    await import(compiled('tiers.js'))
  )
  const { ensurePackages } = /** @type {typeof import('../dist/test/runner/programs.js')} */ (
    await import(compiled('runner/programs.js'))
  )
  const files = testFiles(tier === undefined ? ['quick', 'full'] : [tier], filters)
  // What one runs before each commit. `.ci/run` runs them by themselves.
  const checks = tier === 'quick' && filters.length === 0 ? runChecks() : NONE
  await ensurePackages(...packagesFor(files))
  const { runTests } = /** @type {typeof import('../dist/test/runner/run-tests.js')} */ (
    await import(compiled('runner/run-tests.js'))
  )
  const interrupting = new AbortController()
  void interruption().then(() => interrupting.abort())
  const tests = await runTests(files, interrupting.signal)
  const { passed, failed, failures } = await checks
  if (failed > 0) process.stdout.write(`\nFailed checks, shown above: ${failures.join(', ')}\n`)
  return {
    passed: passed + tests.passed,
    failed: failed + tests.failed,
    interrupted: interrupting.signal.aborted
  }
}

/** @param {string} file in test/ */
function compiled(file) {
  return pathToFileURL(join(projectRoot, 'dist/test', file)).href
}

/**
 * @param {readonly string[]} args
 * @returns {{ tier: import('../dist/test/tiers.js').Tier | undefined, filters: readonly string[] }}
 */
function argumentsOf([first, name, ...rest]) {
  if (first !== '--tier') return { tier: undefined, filters: [first, name, ...rest].filter((one) => one !== undefined) }
  const tier = TIERS.find((one) => one === name)
  if (tier === undefined) throw new Failure(`--tier must be followed by ${TIERS.join(', ')}, not ${name}.`)
  return { tier, filters: rest }
}

/** @param {unknown} error */
function notRun(error) {
  process.stderr.write(`${describe(error)}\n`)
  return { passed: 0, failed: 1, interrupted: false }
}
