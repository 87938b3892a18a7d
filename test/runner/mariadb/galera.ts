import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Failure } from '../failure.js'
import type { GaleraMessage } from './galera-guard.js'
import { ensureGalera } from './programs.js'

/** A Galera cluster, each node of which takes writes. */
export interface Galera {
  /** `mysql://user:password@host:port` of each node, with all rights. */
  readonly urls: readonly string[]
  stop(): Promise<void>
}

/** Starts so many nodes on free loopback ports, with data folders of their own, in care of a guard process. */
export async function startGalera(size: number): Promise<Galera> {
  await ensureGalera()
  const guard = fork(fileURLToPath(new URL('galera-guard.js', import.meta.url)), [String(size)], { detached: true })
  const ended = once(guard, 'exit')
  const message = await new Promise<GaleraMessage>((resolve) => {
    guard.once('message', (received) => resolve(received as GaleraMessage)) // of galera-guard.ts, which alone has the channel
    guard.once('exit', () => resolve({ error: `the guard process ended with code ${guard.exitCode}` }))
  })
  if ('error' in message) {
    await ended
    throw new Failure(`A Galera cluster did not start: ${message.error}`)
  }
  return {
    urls: message.urls,
    stop: async () => {
      if (guard.connected) guard.disconnect()
      await ended
    }
  }
}
