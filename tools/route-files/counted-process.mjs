import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { Failure } from '../failure.mjs'
import { projectRoot } from '../project-root.mjs'

const START_MS = 60_000

/**
 * `called` answers the compiled modules, as paths from the project's folder, of which a function was called since it was
 * last asked. `logged` answers a member of the log line with which the process says that it listens.
 *
 * @typedef {{ called: () => Promise<string[]>, logged: (member: string) => Promise<string>, stop: () => Promise<void> }} CountedProcess
 */

/**
 * Starts a compiled module that counts the calls of its functions (count-calls.mjs).
 *
 * @param {string} module arguments of `uniform-rest`, with spaces between
 * @param {Record<string, string>} env
 * @returns {CountedProcess}
 */
export function startCountedProcess(module, env) {
  const preload = pathToFileURL(join(projectRoot, 'tools/route-files/count-calls.mjs')).href
  const child = spawn(
    process.execPath,
    ['--import', preload, join(projectRoot, 'dist/cli/main.js'), ...module.split(' ')],
    {
      cwd: projectRoot,
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc']
    }
  )
  const ended = once(child, 'close')
  const lines = createInterface({ input: /** @type {import('node:stream').Readable} */ (child.stdout) })
  return {
    async called() {
      const answer = once(child, 'message')
      child.send('take')
      const messages = /** @type {unknown[]} */ (await Promise.race([answer, ended]))
      if (!Array.isArray(messages[0])) throw new Failure(`${module} ended.`)
      return messages[0].map(String)
    },
    logged: (member) =>
      new Promise((resolve, reject) => {
        const late = new Failure(`${module} does not say that it listens.`)
        setTimeout(() => reject(late), START_MS).unref()
        void ended.then(() => reject(late))
        lines.on('line', (line) => {
          const entry = /** @type {Record<string, unknown>} */ (line.startsWith('{') ? JSON.parse(line) : {})
          if (entry['msg'] === 'listening') resolve(String(entry[member]))
        })
      }),
    async stop() {
      child.kill('SIGTERM')
      await ended
    }
  }
}
