import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { demoEnvironment } from './demo-environment.mjs'
import { Failure, runCommand } from './failure.mjs'
import { prepare } from './prepare.mjs'
import { projectRoot } from './project-root.mjs'

// `node tools/run.mjs <module> [argument…]`: runs a compiled command with the settings of `npm start`.
await runCommand(async () => {
  const [module, ...args] = process.argv.slice(2)
  if (module === undefined) throw new Failure('Name the compiled module to run, from dist/.')
  await prepare()
  const path = join(projectRoot, 'dist', module)
  const child = spawn(process.execPath, ['--enable-source-maps', path, ...args], {
    cwd: projectRoot,
    env: demoEnvironment(),
    stdio: 'inherit'
  })
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => child.kill(signal))
  await once(child, 'close')
  return child.exitCode ?? 1
})
