import { spawn } from 'node:child_process'

/** Runs a program to its end with its output on stderr. Resolves with its exit code, 1 when a signal ended it. */
export function runVisibly(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', process.stderr, process.stderr]
    })
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
