import { once } from 'node:events'
import { createServer, connect, type Server, type Socket } from 'node:net'
import { listenLocally } from '../../../harness/local-server.js'

/**
 * What happens to the next COMMIT: it is lost on its way, or its answer is, or the answer waits until `letThrough`.
 */
type CommitFate = 'passes' | 'is lost' | 'answer is lost' | 'answer waits'

/** Stands between the service and its MySQL server and cuts connections exactly at a COMMIT. */
export class CommitProxy {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #fate: CommitFate = 'passes'
  #letThrough = (): void => undefined
  readonly #opened = new Promise<void>((resolve) => {
    this.#letThrough = resolve
  })
  #commits = 0

  private constructor(server: Server) {
    this.#server = server
  }

  /** Listens on a free port, which takes the place of the one in the URL. */
  static async before(url: string): Promise<{ readonly proxy: CommitProxy; readonly url: string }> {
    const through = new URL(url)
    const target = { host: through.hostname, port: Number(through.port) }
    const server = createServer()
    const proxy = new CommitProxy(server)
    server.on('connection', (client: Socket) => proxy.#connected(client, connect(target)))
    through.port = String(await listenLocally(server))
    return { proxy, url: through.href }
  }

  /** COMMITs that reached the server. */
  get commits(): number {
    return this.#commits
  }

  /** For the next COMMIT alone. */
  next(fate: CommitFate): void {
    this.#fate = fate
  }

  letThrough(): void {
    this.#letThrough()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #connected(client: Socket, server: Socket): void {
    let held: CommitFate = 'passes'
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
    client.on('data', (data) => {
      if (data.subarray(5).toString() === 'COMMIT') {
        held = this.#fate
        this.#fate = 'passes'
        if (held === 'is lost') {
          client.destroy()
          return
        }
        this.#commits += 1
      }
      server.write(data)
    })
    server.on('data', (data) => {
      const fate = held
      held = 'passes'
      if (fate === 'answer is lost') client.destroy()
      else if (fate === 'answer waits') void this.#opened.then(() => client.write(data))
      else client.write(data)
    })
  }
}
