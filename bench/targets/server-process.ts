import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** How to start a server that says on stdout, as one JSON line, where it listens. */
export interface ServerProgram {
  /** Compiled module, from the output folder: `gateway/main.js`. */
  readonly module: string
  readonly env: Readonly<Record<string, string>>
  readonly nodeOptions: readonly string[]
}

export interface ServerProcess {
  readonly pid: number
  /** What it said it listens on: an URL or `host:port`. */
  readonly address: string
  /** SIGTERM, and the end of the process. */
  stop(): Promise<void>
}

/** Rejects with what the server wrote when it ends before it listens. */
export async function startServer(program: ServerProgram): Promise<ServerProcess> {
  const path = fileURLToPath(new URL(`../../${program.module}`, import.meta.url))
  const child = spawn(process.execPath, [...program.nodeOptions, path], {
    env: { ...process.env, ...program.env },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(child, 'close')
  const { address, pid } = await listening(child, program.module)
  return {
    address,
    pid,
    async stop() {
      child.kill('SIGTERM')
      await ended
    }
  }
}

async function listening(child: ChildProcess, name: string): Promise<{ address: string; pid: number }> {
  if (child.stdout === null || child.pid === undefined) throw new Error(`${name} did not start.`)
  const said: string[] = []
  // Read to the end of the process, or it would block on a full pipe.
  const lines = createInterface({ input: child.stdout })
  const found = new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const address = listeningAddress(line)
      if (address !== undefined) resolve(address)
      else if (said.length < 50) said.push(line)
    })
    child.once('close', () => reject(new Error(`${name} ended before it listened.\n${said.join('\n')}`)))
  })
  return { address: await found, pid: child.pid }
}

function listeningAddress(line: string): string | undefined {
  if (!line.includes('"listening"')) return undefined
  const { msg, url, address } = JSON.parse(line) as Record<string, unknown> // a pino line is an object
  const where = url ?? address
  return msg === 'listening' && typeof where === 'string' ? where : undefined
}
