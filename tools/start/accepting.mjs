import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

const INTERVAL_MS = 20

/**
 * Resolves when somebody accepts connections at the address. Rejects when the signal aborts.
 *
 * @param {{ host: string, port: number }} address
 * @param {AbortSignal} signal
 */
export async function accepting({ host, port }, signal) {
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
    await pause(INTERVAL_MS, undefined, { signal })
  }
}
