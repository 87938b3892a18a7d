import { runChecks } from './check/run-checks.mjs'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'

await runCommand(async () => {
  await prepare()
  process.stdout.write('  ✔ types\n')
  const { failed } = await runChecks()
  return failed === 0 ? 0 : 1
})
