import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DatabaseServer } from '../database-server.js'
import { Failure } from '../failure.js'
import type { GuardMessage, GuardOrder } from './guard.js'

/** A server that a test may end as a crash would. */
export interface PrivateServer extends DatabaseServer {
  /** Ends it by SIGKILL. */
  kill(): Promise<void>
  /** Starts it again with its data, at its port. Resolves when it lets clients in. */
  restart(): Promise<void>
  /** Stops its process, connections and all, as a machine that hangs. */
  freeze(): Promise<void>
  /** Lets a frozen one go on. */
  thaw(): Promise<void>
}

/** Starts a MariaDB of our own on a free loopback port with a data folder of its own, in care of a guard process. */
export async function startPrivateServer(): Promise<PrivateServer> {
  // Detached: Ctrl-C in the terminal must not reach the guard or the server before we are done with them.
  const guard = fork(fileURLToPath(new URL('guard.js', import.meta.url)), { detached: true })
  // Not `close`, which does not come after a disconnect from this side.
  const ended = once(guard, 'exit')
  const told = (): Promise<GuardMessage> =>
    new Promise((resolve) => {
      guard.once('message', (received) => resolve(received as GuardMessage)) // from guard.ts, nobody else has the channel
      guard.once('exit', () => resolve({ error: `the guard process ended with code ${guard.exitCode}` }))
    })
  const order = async (what: GuardOrder): Promise<void> => {
    const answer = told()
    guard.send(what)
    const message = await answer
    if ('error' in message) throw new Failure(`A private MariaDB did not obey: ${message.error}`)
  }
  const message = await told()
  if (!('url' in message)) {
    await ended
    throw new Failure(`A private MariaDB did not start: ${'error' in message ? message.error : 'it says nothing'}`)
  }
  return {
    url: message.url,
    description: `private MariaDB ${message.version}`,
    kill: () => order('kill'),
    restart: () => order('restart'),
    freeze: () => order('freeze'),
    thaw: () => order('thaw'),
    stop: async () => {
      if (guard.connected) guard.disconnect()
      await ended
    }
  }
}
