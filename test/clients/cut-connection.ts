import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '../harness/local-server.js'

/** A way to an HTTP server on which answers can be cut. */
export interface CutConnection extends AsyncDisposable {
  readonly url: string
  /** The next answer ends after its head and so many bytes of its body; `nothing` lets not even the head through. */
  cutNext(after: number | 'nothing'): void
  /** Answers that were cut. */
  readonly cuts: number
}

export async function cutConnectionTo(url: string): Promise<CutConnection> {
  const { hostname, port } = new URL(url)
  const sockets = new Set<Socket>()
  let next: number | 'nothing' | undefined
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect({ host: hostname, port: Number(port) })
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
    }
    client.on('data', (data) => upstream.write(data))
    let head = Buffer.alloc(0)
    upstream.on('data', (data) => {
      if (next === undefined) return void client.write(data)
      head = Buffer.concat([head, data])
      const end = head.indexOf('\r\n\r\n')
      if (next !== 'nothing' && (end < 0 || head.length < end + 4 + next)) return
      const whole = next === 'nothing' ? Buffer.alloc(0) : head.subarray(0, end + 4 + next)
      next = undefined
      cuts++
      client.end(whole, () => client.destroy())
    })
  })
  const way = new URL(url)
  way.port = String(await listenLocally(server))
  return {
    url: way.origin,
    cutNext(after) {
      next = after
    },
    get cuts() {
      return cuts
    },
    [Symbol.asyncDispose]: async () => {
      for (const one of sockets) one.destroy()
      server.close()
      await once(server, 'close')
    }
  }
}
