import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** Milliseconds that a process has to end after SIGTERM. */
const STOP_MS = 15_000

/** The folder of the compiled code that this file is part of, and the one above it, which holds package.json. */
const outputRoot = new URL('../../', import.meta.url)
const packageRoot = new URL('../', outputRoot)

/** A line of a process's log; what was no JSON comes as `{ text }`. */
export type LogEntry = Readonly<Record<string, unknown>>

/** A running process of the service. */
export interface ServiceProcess {
  readonly pid: number
  /** All it logged so far, in order. */
  logs(): readonly LogEntry[]
  /** As `logs`, of which nothing is kept from then on: for runs that go on for long. */
  forget(): readonly LogEntry[]
  /** The first entry, past or to come, that meets the condition. Rejects, with the log, when the process ends first. */
  logged(condition: (entry: LogEntry) => boolean): Promise<LogEntry>
  /** Its exit code, null after a signal, once it has ended. */
  readonly ended: Promise<number | null>
  /** Asks it to stop as `npm start` does, unless it has ended. Rejects when it takes too long and has to be killed. */
  stop(): Promise<number | null>
  /** Ends it without a chance to react. */
  kill(): Promise<void>
}

/** What both processes are given, as `npm start` gives them one. Blank in a test's own settings: none. */
export const GATEWAY_SECRET = 'the-secret-that-tests-give-to-both'

/** The arguments of the command `uniform-rest` that run a gateway. */
export const GATEWAY = ['start', 'gateway'] as const

/**
 * Runs `uniform-rest` with arguments, or a compiled module, in a process with this environment and no other variables but
 * PATH, GATEWAY_SECRET and, where this process has it, DATA_SERVICE_CALLS. It ends with the process that started it,
 * whatever becomes of that. `output` is the folder of the compiled code, with a slash at its end; that of this file without.
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
  const program = ['--enable-source-maps', '--import', preload, join(output, module), ...args]
  const child = spawn(process.execPath, program, {
    cwd,
    env: { PATH: process.env['PATH'], GATEWAY_SECRET, ...callsOfThisRun(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  const entries: LogEntry[] = []
  const watchers = new Set<() => void>()
  for (const input of [child.stdout, child.stderr]) {
    if (input === null) throw new TypeError('Both streams are pipes')
    createInterface({ input }).on('line', (line) => {
      entries.push(parse(line))
      for (const watch of watchers) watch()
    })
  }
  const ended = once(child, 'close').then(() => child.exitCode)

  const logged: ServiceProcess['logged'] = (condition) =>
    new Promise((resolve, reject) => {
      const watch = (): void => {
        const found = entries.find(condition)
        if (found === undefined) return
        watchers.delete(watch)
        resolve(found)
      }
      watchers.add(watch)
      watch()
      const tooLate = (): void => reject(new Error(`${name} ended before it logged that.\n${tail(entries)}`))
      ended.then(tooLate, reject)
    })

  return {
    pid: child.pid ?? 0,
    logs: () => entries,
    forget: () => entries.splice(0),
    logged,
    ended,
    async stop() {
      let forced = false
      child.kill('SIGTERM')
      const timer = setTimeout(() => (forced = child.kill('SIGKILL')), STOP_MS)
      const code = await ended
      clearTimeout(timer)
      if (forced) throw new Error(`${name} did not stop on SIGTERM.\n${tail(entries)}`)
      return code
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    }
  }
}

/** A run of tests may say for all that it starts how calls go between the processes (docs/settings.md). */
function callsOfThisRun(): Readonly<Record<string, string>> {
  const calls = process.env['DATA_SERVICE_CALLS']
  return calls === undefined ? {} : { DATA_SERVICE_CALLS: calls }
}

/** The text under `member` of the line a process logs once it serves. */
export async function listening(service: ServiceProcess, member: 'address' | 'url'): Promise<string> {
  const entry = await service.logged((one) => one['msg'] === 'listening' && typeof one[member] === 'string')
  return String(entry[member]).replace(/\/$/, '')
}

function parse(line: string): LogEntry {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : { text: line }
  } catch {
    return { text: line }
  }
}

function tail(entries: readonly LogEntry[]): string {
  return entries
    .slice(-20)
    .map((entry) => JSON.stringify(entry))
    .join('\n')
}
