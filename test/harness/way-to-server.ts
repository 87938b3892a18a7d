import { once } from 'node:events'
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'
import { listenLocally } from './local-server.js'

/** A TCP connection to a server that can be blocked, as if the server hung, and cut, within a message too. */
export interface WayToServer extends AsyncDisposable {
  readonly url: string
  /** Bytes that clients have sent to the server so far. */
  readonly sent: number
  block(): void
  open(): void
  cut(): void
}

/**
 * `url` is that of the server; the one of the result leads to it. What the server sends arrives `latency` milliseconds
 * later.
 */
export async function wayTo(url: string, { latency = 0 } = {}): Promise<WayToServer> {
  const target = { host: new URL(url).hostname, port: Number(new URL(url).port) }
  const sockets = new Set<Socket>()
  let isBlocked = false
  let sent = 0
  const server: Server = createServer((client) => {
    const upstream = connectTo(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.on('data', (data) => {
        if (latency === 0 || from === client) to.write(data)
        else setTimeout(() => to.write(data), latency)
      })
      if (isBlocked) from.pause()
    }
    client.on('data', ({ length }) => (sent += length))
  })
  const through = new URL(url)
  through.port = String(await listenLocally(server))
  const cut = (): void => {
    for (const one of sockets) one.destroy()
    sockets.clear()
  }
  return {
    url: through.href,
    get sent() {
      return sent
    },
    block: () => {
      isBlocked = true
      for (const one of sockets) one.pause()
    },
    open: () => {
      isBlocked = false
      for (const one of sockets) one.resume()
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      cut()
      server.close()
      await once(server, 'close')
    }
  }
}
