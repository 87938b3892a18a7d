import { runChecks } from './check/run-checks.mjs'
import { runCommand } from './failure.mjs'
import { CompileFailure, prepare } from './prepare.mjs'

await runCommand(async () => {
  const compiles = await prepare().then(
    () => true,
    // The other checks need no compiled code, and what they find is told as well.
    /** @param {unknown} error */
    (error) => {
      if (error instanceof CompileFailure) return false
      throw error
    }
  )
  process.stdout.write(compiles ? '  ✔ types\n' : '  ✘ types\n')
  const { failed } = await runChecks()
  return compiles && failed === 0 ? 0 : 1
})
