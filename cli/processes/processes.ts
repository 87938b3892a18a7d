import { spawn } from 'node:child_process'
import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import { connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../shared/settings.js'
import { Failure, printable } from '../application/command.js'

/** Milliseconds that a process has to end after SIGTERM. */
const STOP_TIMEOUT = 10_000

/** A process that a command runs. */
export interface Service {
  readonly name: string
  /** Resolves when it has ended; the text says how. */
  readonly ended: Promise<string>
  /** Tells one that stands by to go on. */
  proceed(): void
  stop(): Promise<void>
}

/**
 * Runs a module as a process of its own, which ends when this process does, whatever becomes of it. Its log goes to
 * standard output: in lines for people with `readable`, else as it is.
 */
export function startService(
  name: string,
  how: {
    readonly module: string
    readonly args?: readonly string[]
    readonly environment: Environment
    readonly readable: boolean
  }
): Service {
  const preload = new URL('./end-with-parent.js', import.meta.url).href
  // Detached: Ctrl-C in the terminal reaches this process alone, which stops the others in order.
  const child = spawn(process.execPath, ['--import', preload, how.module, ...(how.args ?? [])], {
    env: withSmallHeap(how.environment),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc']
  })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      const entry = how.readable ? parseLogLine(line) : null
      const text = entry === null ? (how.readable ? printable(line) : line) : readableLine(name, entry)
      process.stdout.write(`${text}\n`)
    })
  }
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`))
    child.once('close', (code, signal) =>
      resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`)
    )
  })
  return {
    name,
    ended,
    proceed: () => {
      // Where it has ended already, `ended` tells it.
      if (child.connected) child.send('proceed')
    },
    stop: async () => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT)
      await ended
      clearTimeout(timer)
    }
  }
}

/**
 * Bounds the young generation and the threads of V8 (docs/decisions/036-memory-under-load.md). The options of Node of
 * somebody else come last, so they win.
 */
function withSmallHeap(environment: Environment): NodeJS.ProcessEnv {
  const options = ['--max-semi-space-size=4', '--v8-pool-size=1', environment['NODE_OPTIONS'] ?? '']
  return { ...environment, NODE_OPTIONS: options.join(' ').trim() }
}

/** The module of this command, for processes that run another part of it. */
export const COMMAND_MODULE = fileURLToPath(new URL('../main.js', import.meta.url))

/** What this command says to a data service that it runs itself. */
export const DATA_SERVICE_FLAGS = {
  /** It waits until somebody else has run the migrations that have not run. */
  awaitMigrations: '--await-migrations',
  /** No other data service serves the same gateway. */
  single: '--single',
  /** It loads its own code, and waits for a message of its parent before it loads the application. */
  standby: '--standby'
} as const

const INTERRUPTION_INTERVAL = 500

/**
 * Resolves when this command is to end: on Ctrl-C, on SIGTERM or SIGHUP, or when the npm that runs it is gone, killed
 * without a chance to tell. Later signals change nothing: stopping is under way.
 */
export function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
    if (process.env['npm_lifecycle_event'] === undefined) return
    const npm = process.ppid
    const timer = setInterval(() => {
      if (process.ppid !== npm) resolve()
    }, INTERRUPTION_INTERVAL)
    timer.unref()
  })
}

/** Where a process listens, and the setting that says so. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly setting: string
}

/** Throws a Failure for an address that another process holds; it names the setting that picks another. */
export async function checkFree({ host, port, setting }: Address): Promise<void> {
  if (port === 0) return
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EADDRINUSE') throw new Failure(`Cannot listen on ${host}:${port}: ${String(error)}. Set ${setting}.`)
    throw new Failure(`Port ${port} on ${host} is taken by another process. End that one, or set ${setting}.`)
  } finally {
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
}

/** A port of the host that nobody listens on at the moment. */
export async function freePort(host: string): Promise<number> {
  const server = createServer()
  server.listen({ host, port: 0, exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => {
    server.close(resolve)
  })
  if (address === null || typeof address === 'string') throw new Failure(`No port of ${host} is free.`)
  return address.port
}

const ACCEPTING_INTERVAL = 20

/** Resolves when somebody accepts connections at the address. Rejects when the signal aborts. */
export async function accepting({ host, port }: Address, signal: AbortSignal): Promise<void> {
  for (;;) {
    const socket = connect({ host, port })
    try {
      await once(socket, 'connect', { signal })
      return
    } catch {
      signal.throwIfAborted()
    } finally {
      socket.destroy()
    }
    await pause(ACCEPTING_INTERVAL, undefined, { signal })
  }
}

const HEALTHY_INTERVAL = 50

/** Resolves when `GET <base>/health` answers 200, which the gateway does once it serves. Rejects when the signal aborts. */
export async function healthy(base: string, signal: AbortSignal, interval = HEALTHY_INTERVAL): Promise<void> {
  while (!(await answers(`${base}/health`, signal))) await pause(interval, undefined, { signal })
}

async function answers(url: string, signal: AbortSignal): Promise<boolean> {
  try {
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      // Nothing secret is asked or told here, and the certificate may be for another name.
      const sent = url.startsWith('https:')
        ? https.get(url, { signal, rejectUnauthorized: false }, resolve)
        : http.get(url, { signal }, resolve)
      sent.once('error', reject)
    })
    response.resume()
    return response.statusCode === 200
  } catch {
    signal.throwIfAborted()
    return false
  }
}

const SHOWN_ELSEWHERE = new Set(['level', 'time', 'pid', 'hostname', 'name', 'msg', 'v', 'err', 'changes'])

/** A line of pino's JSON; null for any other line. */
function parseLogLine(line: string): Readonly<Record<string, unknown>> | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line) as Record<string, unknown> // pino writes objects
  } catch {
    return null
  }
}

/** `12:00:01 gateway       info  listening url=http://127.0.0.1:3000`, with the stack of an error below it. */
export function readableLine(source: string, entry: Readonly<Record<string, unknown>>): string {
  const { time: logged } = entry
  const time = typeof logged === 'number' || typeof logged === 'string' ? new Date(logged) : new Date()
  const level = printableText(entry['level'])
  const details = Object.entries(entry)
    .filter(([key]) => !SHOWN_ELSEWHERE.has(key))
    .map(([key, value]) => ` ${printable(key)}=${printableText(value)}`)
  const head = `${time.toTimeString().slice(0, 8)} ${source.padEnd(12)} ${level.padEnd(5)} ${printableText(entry['msg'])}`
  return head + details.join('') + changesOf(entry['changes']) + stackOf(entry['err'])
}

/** A line for each change of the catalogue. */
function changesOf(changes: unknown): string {
  return Array.isArray(changes) ? changes.map((one) => `\n  ${printableText(one)}`).join('') : ''
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return ''
  const told = 'stack' in error ? error.stack : 'message' in error ? error.message : undefined
  return typeof told === 'string' ? `\n${told.split('\n').map(printable).join('\n')}` : `\n${printableText(told)}`
}

function printableText(value: unknown): string {
  return printable(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}
