import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '../../harness/local-server.js'

/** Connections to a port of this machine, which a test can cut and mend. */
export interface Relay {
  readonly port: number
  /** Ends every connection and rejects new ones. */
  cut(): Promise<void>
  /** Takes connections again, at the same port. */
  mend(): Promise<void>
}

export async function startRelay(target: number): Promise<Relay> {
  const open = new Set<Socket>()
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming]
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  const port = await listenLocally(server)
  return {
    port,
    async cut() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
    mend: async () => void (await listenLocally(server, port))
  }
}
