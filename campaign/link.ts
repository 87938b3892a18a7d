import { setMaxListeners } from 'node:events'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { listenLocally } from '../test/harness/local-server.js'

/** An end of a connection: who opened it, or who accepted it. */
export type Side = 'client' | 'server'

/** What goes over a link: HTTP/1.1, calls between gateway and data service (HTTP/2), or statements of MySQL. */
export type Protocol = 'http' | 'calls' | 'mysql'

export interface Address {
  readonly host: string
  readonly port: number
}

/** The way of bytes in one direction of one connection. */
export interface Passage {
  readonly from: Side
  /** Resolves when the other side takes more. */
  pass(bytes: Buffer): Promise<void>
  /** Ends the connection: the receiver of these bytes gets them and the end, the sender a reset. */
  cut(delivered: Buffer): void
}

/** Treats the bytes of one connection while a link is broken, each direction in its order. */
export type Treatment = (bytes: Buffer, passage: Passage) => Promise<void>

/** Makes the treatment of a connection. `mended` is aborted when the link is whole again: who waits goes on then. */
export type Breakage = (mended: AbortSignal) => Treatment

interface Connection {
  readonly client: Socket
  readonly server: Socket
  treatment: Treatment | undefined
}

/** A TCP server through which every connection between two parts of the system goes. */
export class Link {
  /** `clients to gateway-0`, `gateway-1 to data-service-0`, `data-service-0 to the database`. */
  readonly name: string
  readonly protocol: Protocol
  readonly #target: Address
  readonly #connections = new Set<Connection>()
  /** Sides that outlived the end of their connection, as those of half-open connections do. */
  readonly #orphans = new Set<Socket>()
  #server: Server | undefined
  #port = 0
  #broken: { readonly breakage: Breakage; readonly mended: AbortController } | undefined

  private constructor(name: string, protocol: Protocol, target: Address) {
    this.name = name
    this.protocol = protocol
    this.#target = target
  }

  static async to(target: Address, as: { readonly name: string; readonly protocol: Protocol }): Promise<Link> {
    const link = new Link(as.name, as.protocol, target)
    await link.#listen()
    return link
  }

  /** Where clients connect. It stays the same. */
  get address(): Address {
    return { host: '127.0.0.1', port: this.#port }
  }

  get connections(): number {
    return this.#connections.size
  }

  /** Treats all that passes, of new connections too, until the result is called. A link is broken in one way at a time. */
  break(breakage: Breakage): () => void {
    if (this.#broken !== undefined) throw new Error(`${this.name} is broken already`)
    const mended = new AbortController()
    // Each connection waits for it, and each chunk of one that is slow.
    setMaxListeners(0, mended.signal)
    this.#broken = { breakage, mended }
    for (const one of this.#connections) one.treatment = breakage(mended.signal)
    return () => {
      this.#broken = undefined
      for (const one of this.#connections) one.treatment = undefined
      mended.abort()
    }
  }

  /**
   * Tells one side, or both, that each connection is over, by a reset or by a FIN. A side that is not told goes on as if the
   * other were there, which the result ends.
   */
  end(told: readonly Side[], how: 'RST' | 'FIN'): () => void {
    for (const { client, server } of this.#connections) {
      for (const [side, socket] of [
        ['client', client],
        ['server', server]
      ] as const) {
        // What happens to one side is not told to the other any more.
        for (const event of ['data', 'end', 'close']) socket.removeAllListeners(event)
        socket.resume()
        if (!told.includes(side)) {
          this.#orphans.add(socket)
        } else if (how === 'RST') socket.resetAndDestroy()
        else {
          socket.end()
          this.#orphans.add(socket)
        }
      }
    }
    this.#connections.clear()
    return () => this.#endOrphans()
  }

  /** Ends all connections and takes none, as if the server had gone, until the result is called. */
  async refuse(): Promise<() => Promise<void>> {
    await this.close()
    return () => this.#listen()
  }

  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const closed = once(server, 'close')
    server.close()
    for (const { client, server: other } of this.#connections) {
      client.destroy()
      other.destroy()
    }
    this.#endOrphans()
    await closed
  }

  #endOrphans(): void {
    for (const one of this.#orphans) one.destroy()
    this.#orphans.clear()
  }

  async #listen(): Promise<void> {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client))
    this.#port = await listenLocally(this.#server, this.#port)
  }

  #accept(client: Socket): void {
    const server = connect({ ...this.#target, allowHalfOpen: true, noDelay: true })
    const broken = this.#broken
    const connection: Connection = { client, server, treatment: broken?.breakage(broken.mended.signal) }
    this.#connections.add(connection)
    this.#carry(connection, 'client')
    this.#carry(connection, 'server')
  }

  #carry(connection: Connection, side: Side): void {
    const [from, to] =
      side === 'client' ? [connection.client, connection.server] : [connection.server, connection.client]
    const passage: Passage = {
      from: side,
      pass: (bytes) => passOn(bytes, to),
      cut: (delivered) => {
        this.#connections.delete(connection)
        this.#orphans.add(to)
        to.once('close', () => this.#orphans.delete(to))
        to.end(delivered, () => to.destroy())
        from.removeAllListeners('close')
        from.resetAndDestroy()
      }
    }
    from.on('data', (bytes: Buffer) => {
      from.pause()
      const treated = connection.treatment?.(bytes, passage) ?? passage.pass(bytes)
      treated.then(
        () => from.resume(),
        () => from.destroy()
      )
    })
    from.on('end', () => to.end())
    from.on('error', () => undefined)
    from.on('close', () => {
      this.#connections.delete(connection)
      to.destroy()
    })
  }
}

/** Resolves when more may be written, or when there is nobody to write to. */
async function passOn(bytes: Buffer, to: Socket): Promise<void> {
  if (to.destroyed || to.writableEnded || to.write(bytes)) return
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      to.off('drain', settle)
      to.off('close', settle)
      resolve()
    }
    to.on('drain', settle)
    to.on('close', settle)
  })
}
