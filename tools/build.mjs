import { runCommand } from './failure.mjs'
import { prepare } from './prepare/prepare.mjs'

await runCommand(async () => {
  await prepare()
  return 0
})
