import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `node tools/store.mjs <command> [argument…]`: the command `uniform-rest` on the reference store, from whatever state
// the checkout is in.
await runCommand(async () => {
  await prepare()
  process.chdir(projectRoot)
  process.setSourceMapsEnabled(true)
  // Of a checkout, where the first of these commands may come before the first start.
  process.env['MIGRATE_AT_START'] ??= 'true'
  // What `npm start` chooses is what it looks at.
  if (process.argv[2] === 'doctor') process.env['OWNER_BYPASS_ROLE'] ??= 'Admin'
  // Migrations and the proto of typed services are written beside the sources.
  const folder = ['migrate', 'proto'].includes(process.argv[2] ?? '')
    ? ['examples', 'store']
    : ['dist', 'examples', 'store']
  process.argv.push('--app', join(...folder))
  await import(pathToFileURL(join(projectRoot, 'dist/cli/main.js')).href)
  return Number(process.exitCode ?? 0)
})
