import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'
import { runProgram } from './run-program.mjs'

/** Installs what package-lock.json names, when nothing is installed or the lock file is newer than what is. */
export async function installDependencies() {
  if (installed()) return
  process.stderr.write('Installing dependencies …\n')
  const args = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const npm = process.env['npm_execpath']
  // Under `npm start` this is the very npm that runs us; `npm` from the path may be another one.
  const code = await (npm?.endsWith('npm-cli.js') === true
    ? runProgram(process.execPath, [npm, ...args])
    : runProgram('npm', args))
  if (code !== 0) throw new Failure('Installing the dependencies failed: see what npm says above.')
}

function installed() {
  const lock = statSync(join(projectRoot, 'package-lock.json'))
  const done = statSync(join(projectRoot, 'node_modules/.package-lock.json'), { throwIfNoEntry: false })
  return done !== undefined && done.mtimeMs >= lock.mtimeMs
}
