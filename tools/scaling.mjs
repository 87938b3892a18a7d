import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `npm run scaling -- [argument…]`
await runCommand(async () => {
  await prepare()
  await import(pathToFileURL(join(projectRoot, 'dist/bench/scaling/main.js')).href)
  return Number(process.exitCode ?? 0)
})
