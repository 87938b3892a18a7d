import { spawn } from 'node:child_process'
import { projectRoot } from '../project-root.mjs'

/**
 * Runs a program in the project root to its end. What it prints goes to stderr, so that a command's own answer stays
 * alone on stdout. Killed by a signal counts as 1.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<number>} its exit code
 */
export function runProgram(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: projectRoot, stdio: ['ignore', process.stderr, process.stderr] })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
