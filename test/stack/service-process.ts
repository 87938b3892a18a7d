import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Server, ServerLog } from './server-log.js'

/** Milliseconds that a process has to end after SIGTERM. */
const STOP_MS = 60_000

/** The folder of the compiled code that this file is part of, and the one above it, which holds package.json. */
const outputRoot = new URL('../../', import.meta.url)
const packageRoot = new URL('../', outputRoot)

/** A server in a process of its own. */
export interface ServiceProcess extends Server {
  readonly pid: number
  /** Its exit code, null after a signal, once it has ended. */
  readonly ended: Promise<number | null>
  /** Asks it to stop as `npm start` does, unless it has ended. Rejects when it takes too long and has to be killed. */
  stop(): Promise<number | null>
  /** Ends it without a chance to react. */
  kill(): Promise<void>
}

/** To compile to the fastest code only what is hot for long spares a start a quarter of its processor time. */
const FAST_START = ['--interrupt-budget=400000']

/** What both processes are given, as `npm start` gives them one. Blank in a test's own settings: none. */
export const GATEWAY_SECRET = 'the-secret-that-tests-give-to-both'

/** The arguments of the command `uniform-rest` that run a gateway. */
export const GATEWAY = ['start', 'gateway'] as const

/**
 * Runs `uniform-rest` with arguments, or a compiled module, in a process with this environment and no other variables but
 * PATH and GATEWAY_SECRET. It ends with the process that started it, whatever becomes of that. `output` is the folder of the compiled code, with a slash at its end; that of this file without.
 */
export function startProcess(
  what: readonly string[] | string,
  env: Readonly<Record<string, string>>,
  cwd = fileURLToPath(packageRoot),
  output = fileURLToPath(outputRoot)
): ServiceProcess {
  const preload = new URL('cli/processes/end-with-parent.js', outputRoot).href
  const [module, args] = typeof what === 'string' ? [what, []] : ['cli/main.js', what]
  const name = typeof what === 'string' ? what : what.slice(0, 2).join(' ')
  const program = [...FAST_START, '--import', preload, join(output, module), ...args]
  const child = spawn(process.execPath, program, {
    cwd,
    env: { PATH: process.env['PATH'], GATEWAY_SECRET, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  const log = new ServerLog(name)
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) throw new TypeError('Both streams are pipes')
    createInterface({ input }).on('line', (line) => log.add(line))
  }
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    pid: child.pid ?? 0,
    logs: () => log.entries(),
    forget: () => log.forget(),
    logged: (condition) => log.logged(condition, ended),
    ended,
    async stop() {
      let forced = false
      child.kill('SIGTERM')
      const timer = setTimeout(() => (forced = child.kill('SIGKILL')), STOP_MS)
      const code = await ended
      clearTimeout(timer)
      if (forced) throw new Error(`${name} did not stop on SIGTERM.\n${log.tail()}`)
      return code
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    }
  }
}

/** The text under `member` of the line a process logs once it serves. */
export async function listening(service: Server, member: 'address' | 'url'): Promise<string> {
  const entry = await service.logged((one) => one['msg'] === 'listening' && typeof one[member] === 'string')
  return String(entry[member]).replace(/\/$/, '')
}
