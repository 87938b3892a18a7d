import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `npm run messages` writes the lists of docs/messages anew.
await runCommand(async () => {
  await prepare()
  const module = pathToFileURL(join(projectRoot, 'dist/test/fitness/messages.js')).href
  const { messageLists } = /** @type {typeof import('../dist/test/fitness/messages.js')} */ (await import(module))
  mkdirSync(join(projectRoot, 'docs/messages'), { recursive: true })
  for (const [path, text] of await messageLists()) writeFileSync(join(projectRoot, path), text)
  return 0
})
