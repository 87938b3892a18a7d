import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { join } from 'node:path'
import { demoEnvironment } from '../demo-environment.mjs'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'
import { mains } from './service.mjs'

/** Throws one Failure with every fault in the settings of both processes, before either of them is started. */
export async function checkSettings() {
  const violations = await Promise.all(Object.values(mains).map(violationsOf))
  const told = violations.filter((violation) => violation !== '')
  if (told.length > 0) throw new Failure(told.join('\n'))
}

/**
 * What a process says of its settings; empty where they are all right.
 *
 * @param {string} main
 */
async function violationsOf(main) {
  const child = spawn(process.execPath, [join(projectRoot, 'dist', main), '--print-config'], {
    cwd: projectRoot,
    env: demoEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe']
  })
  /** @type {Promise<number | null>} */
  const code = new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const said = child.stderr === null ? '' : await text(child.stderr)
  return (await code) === 0 ? '' : said.trim()
}
