import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isAbsolute } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** How to start a server process. */
interface ServerProgram {
  /** Compiled module, from the output folder: `gateway/main.js`. An absolute path for one of somebody else. */
  readonly module: string
  /** Another node than the one that runs the bench. */
  readonly node?: string
  readonly args?: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly nodeOptions: readonly string[]
}

export interface ServerProcess {
  readonly name: string
  readonly pid: number
  hasEnded(): boolean
  /** SIGTERM, and the end of the process. */
  stop(): Promise<void>
}

const TIMEOUT_MS = 30_000
const POLL_MS = 50

/** Starts a server; what it says goes to stderr. */
export function startServer({
  module,
  node = process.execPath,
  args = [],
  env,
  nodeOptions
}: ServerProgram): ServerProcess {
  const path = isAbsolute(module) ? module : fileURLToPath(new URL(`../../${module}`, import.meta.url))
  // Ends with us, however we end.
  const preload = new URL('../../cli/processes/end-with-parent.js', import.meta.url).href
  const child = spawn(node, [...nodeOptions, '--import', preload, path, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', process.stderr, process.stderr, 'ipc']
  })
  const ended = once(child, 'close')
  if (child.pid === undefined) throw new Error(`${module} did not start.`)
  return {
    name: module,
    pid: child.pid,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill('SIGTERM')
      await ended
    }
  }
}

/** Resolves when `GET /products/1` is 200. Rejects when a process ends before that, or it takes too long. */
export async function untilServing(origin: string, processes: readonly ServerProcess[]): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    const answer = await fetch(`${origin}/products/1`).catch(() => undefined)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    const ended = processes.find((one) => one.hasEnded())
    if (ended !== undefined) throw new Error(`${ended.name} ended before it served.`)
    if (performance.now() > deadline) throw new Error(`${origin} answers ${answer?.status ?? 'nothing'}.`)
    await pause(POLL_MS)
  }
}
