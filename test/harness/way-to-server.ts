import { once } from 'node:events'
import { connect as connectTo, createServer, type Server, type Socket } from 'node:net'
import { listenLocally } from './local-server.js'

/** A TCP connection to a server that can be blocked, as if the server hung, and cut, within a message too. */
export interface WayToServer extends AsyncDisposable {
  readonly url: string
  /** Bytes that clients have sent to the server so far. */
  readonly sent: number
  /** Whether a client is connected. */
  readonly isConnected: boolean
  /** Resolves when another client has connected. */
  connected(): Promise<void>
  block(): void
  /**
   * Keeps what one side sends from now on, until the way is opened or cut. `onBytes` is called with all that is kept, after
   * each addition.
   */
  hold(from: 'client' | 'server', onBytes: (held: Buffer) => void): void
  /** Ends `block` and `hold`. What was kept goes on. */
  open(): void
  /** Ends all connections. Of what is kept only the first `delivered` bytes go on before that; default: none. */
  cut(delivered?: number): void
}

/** What is kept of one side. */
interface Hold {
  readonly from: 'client' | 'server'
  readonly onBytes: (held: Buffer) => void
  readonly chunks: { readonly to: Socket; readonly data: Buffer }[]
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
  let held: Hold | undefined
  let connecting: (() => void)[] = []
  const server: Server = createServer((client) => {
    const upstream = connectTo(target)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => {
        sockets.delete(from)
        to.destroy()
      })
      from.on('data', (data) => {
        if (held?.from === (from === client ? 'client' : 'server')) {
          held.chunks.push({ to, data })
          held.onBytes(Buffer.concat(held.chunks.map((chunk) => chunk.data)))
        } else if (latency === 0 || from === client) to.write(data)
        else setTimeout(() => to.write(data), latency)
      })
      if (isBlocked) from.pause()
    }
    client.on('data', ({ length }) => (sent += length))
    upstream.on('connect', () => {
      for (const tell of connecting) tell()
      connecting = []
    })
  })
  const through = new URL(url)
  through.port = String(await listenLocally(server))
  const release = (limit: number): void => {
    const kept = held?.chunks ?? []
    held = undefined
    let left = limit
    for (const { to, data } of kept) {
      if (left > 0) to.write(data.subarray(0, left))
      left -= data.length
    }
  }
  const cut = (delivered = 0): void => {
    release(delivered)
    for (const one of sockets) {
      one.removeAllListeners('data')
      if (delivered > 0) one.destroySoon()
      else one.destroy()
    }
    sockets.clear()
  }
  return {
    url: through.href,
    get sent() {
      return sent
    },
    get isConnected() {
      return sockets.size > 0
    },
    connected: () => new Promise((resolve) => connecting.push(resolve)),
    hold: (from, onBytes) => {
      held = { from, onBytes, chunks: [] }
    },
    block: () => {
      isBlocked = true
      for (const one of sockets) one.pause()
    },
    open: () => {
      isBlocked = false
      release(Infinity)
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
