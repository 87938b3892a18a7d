import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ensurePackages, Failure } from '../runner/programs.js'

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 2 ** 26

/** A Docker engine that answers. */
export interface Engine {
  /** For people: which one it is. */
  readonly description: string
  /** The environment of commands that use it. */
  readonly env: NodeJS.ProcessEnv
  /** Ends the engine if it is a private one. */
  stop(): Promise<void>
}

/** What the guard process says: where the engine listens, or why there is none. */
export type EngineMessage = { readonly host: string } | { readonly error: string }

/**
 * The engine that the machine has; else a private dockerd, whose packages are installed where they are missing and we may
 * install them. Throws a Failure where neither is to be had.
 */
export async function startEngine(): Promise<Engine> {
  await ensurePackages('docker.io', 'docker-compose', 'mmdebstrap')
  if (await answers(process.env)) {
    return { description: `the machine's Docker engine`, env: process.env, stop: () => Promise.resolve() }
  }
  // In a process group of its own: it takes everything down when it ends, and must not be ended with the tests.
  const guard = fork(fileURLToPath(new URL('engine-guard.js', import.meta.url)), [], { detached: true })
  const ended = once(guard, 'exit')
  const message = await Promise.race([
    once(guard, 'message').then(([received]) => received as EngineMessage), // engine-guard.ts alone has the channel
    ended.then((): EngineMessage => ({ error: `the guard process ended with code ${guard.exitCode}` }))
  ])
  if ('error' in message) throw new Failure(`A private dockerd did not start: ${message.error}`)
  return {
    description: 'a private dockerd',
    env: { ...process.env, DOCKER_HOST: message.host },
    async stop() {
      if (guard.connected) guard.disconnect()
      await ended
    }
  }
}

function answers(env: NodeJS.ProcessEnv): Promise<boolean> {
  return run('docker', ['info', '--format', '{{.ServerVersion}}'], { env }).then(
    ({ stdout }) => stdout.trim() !== '',
    () => false
  )
}

/** Runs `docker` to its end. Resolves with what it prints on standard output; rejects with all that it prints. */
export async function docker({ env }: Engine, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run('docker', args, { env, maxBuffer: MAX_OUTPUT_BYTES })
  return stdout.trim()
}
