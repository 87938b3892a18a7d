import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { demoEnvironment } from '../demo-environment.mjs'
import { projectRoot } from '../project-root.mjs'
import { parseLogLine, printable, readable } from './log-line.mjs'

/** The modules of the processes below dist/. The data service is started with what it serves. */
export const mains = { dataService: 'examples/store/main.js', gateway: 'gateway/main.js' }

const TIMEOUT_MS = 10_000

/**
 * One of the processes. Its log goes to stdout in readable lines. Nothing waits for a line: LOG_LEVEL may leave it out.
 *
 * @typedef {{ name: string, ended: Promise<string>, stop: () => Promise<void> }} Service `ended` says how
 * @param {string} name of its log lines
 * @param {{ main: string, env?: NodeJS.ProcessEnv }} how `main` is its module below dist/; `env` beside what `npm start` chooses
 * @returns {Service}
 */
export function startService(name, { main, env = {} }) {
  const preload = pathToFileURL(join(projectRoot, 'tools/end-with-parent.mjs')).href
  // Detached: Ctrl-C in the terminal reaches us alone, and we stop them in order.
  const child = spawn(
    process.execPath,
    ['--enable-source-maps', '--import', preload, join(projectRoot, 'dist', main)],
    {
      cwd: projectRoot,
      env: { ...demoEnvironment(), ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc']
    }
  )
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      const entry = parseLogLine(line)
      process.stdout.write(`${entry === null ? printable(line) : readable(name, entry)}\n`)
    })
  }
  /** @type {Promise<string>} */
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`)
    )
  })
  return {
    name,
    ended,
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS)
      await ended
      clearTimeout(timer)
    }
  }
}
