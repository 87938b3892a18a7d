import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DatabaseServer } from '../database-server.js'
import { Failure } from '../failure.js'
import type { GuardMessage } from './guard.js'

/** Starts a MariaDB of our own on a free loopback port with a data folder of its own, in care of a guard process. */
export async function startPrivateServer(): Promise<DatabaseServer> {
  // Detached: Ctrl-C in the terminal must not reach the guard or the server before we are done with them.
  const guard = fork(fileURLToPath(new URL('guard.js', import.meta.url)), { detached: true })
  // Not `close`, which does not come after a disconnect from this side.
  const ended = once(guard, 'exit')
  const message = await new Promise<GuardMessage>((resolve) => {
    guard.once('message', (received) => resolve(received as GuardMessage)) // from guard.ts, nobody else has the channel
    guard.once('exit', () => resolve({ error: `the guard process ended with code ${guard.exitCode}` }))
  })
  if ('error' in message) {
    await ended
    throw new Failure(`A private MariaDB did not start: ${message.error}`)
  }
  return {
    url: message.url,
    description: `private MariaDB ${message.version}`,
    stop: async () => {
      if (guard.connected) guard.disconnect()
      await ended
    }
  }
}
