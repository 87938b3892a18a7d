import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { runStore } from './run-store.mjs'

// `node tools/store.mjs <command> [argument…]`: the command `uniform-rest` on the reference store, from whatever state
// the checkout is in.
await runCommand(async () => {
  await prepare()
  return await runStore()
})
