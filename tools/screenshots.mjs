import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `npm run screenshots` takes the pictures in docs/screenshots anew, of the shop on its sample data.
await runCommand(async () => {
  await prepare()
  const module = pathToFileURL(join(projectRoot, 'dist/test/browser/take-screenshots.js')).href
  const { takeScreenshots } = /** @type {typeof import('../dist/test/browser/take-screenshots.js')} */ (
    await import(module)
  )
  for (const file of await takeScreenshots()) process.stdout.write(`${file}\n`)
  return 0
})
