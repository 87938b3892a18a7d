import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '../../../harness/local-server.js'

/** Stands between the service and its MySQL server. What passes, and how, is said by each kind of it. */
export abstract class MysqlProxy {
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()

  /** Passes on what comes from either side. */
  protected abstract connected(client: Socket, server: Socket): void

  /** Listens on a free port, which takes the place of the one in the URL. Returns that URL. */
  async before(url: string): Promise<string> {
    const through = new URL(url)
    const target = { host: through.hostname, port: Number(through.port) }
    this.#server.on('connection', (client: Socket) => {
      const server = connect(target)
      for (const [socket, peer] of [
        [client, server],
        [server, client]
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => peer.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          peer.destroy()
        })
      }
      this.connected(client, server)
    })
    through.port = String(await listenLocally(this.#server))
    return through.href
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }
}
