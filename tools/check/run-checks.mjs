import { execFile } from 'node:child_process'
import { projectRoot } from '../project-root.mjs'
import { CHECKS } from './checks.mjs'

/**
 * Runs all checks side by side, and shows what the failing ones say.
 *
 * @returns {Promise<{ passed: number, failed: number, failures: readonly string[] }>} `failures`: names of checks
 */
export async function runChecks() {
  const results = await Promise.all(CHECKS.map(holds))
  const failures = CHECKS.filter((_, at) => !results[at]).map(({ name }) => name)
  return { passed: results.length - failures.length, failed: failures.length, failures }
}

/**
 * @param {(typeof CHECKS)[number]} check
 * @returns {Promise<boolean>}
 */
function holds({ name, args }) {
  return new Promise((resolve) => {
    // The type checkers are written in Go, and collect garbage a sixth of their time unless they may keep more of it.
    const env = { GOGC: '400', ...process.env }
    execFile(process.execPath, args, { cwd: projectRoot, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) => {
      process.stdout.write(error === null ? `  ✔ ${name}\n` : `  ✘ ${name}\n${stdout}${stderr}\n`)
      resolve(error === null)
    })
  })
}
