import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'

await runCommand(async () => {
  await prepare()
  return 0
})
