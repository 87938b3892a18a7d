import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from '../harness/local-server.js'

/** A listener of 127.0.0.1 that passes bytes on to another port, and keeps all of them. */
export interface WireTap extends AsyncDisposable {
  readonly port: number
  /** All that went towards whoever connects, of every connection, as Latin-1. */
  answers(): string
}

export async function startWireTap(target: number): Promise<WireTap> {
  const connections: Buffer[][] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const received: Buffer[] = []
    connections.push(received)
    upstream.on('data', (chunk) => received.push(chunk))
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        open.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  return {
    port: await listenLocally(server),
    answers: () => connections.map((chunks) => Buffer.concat(chunks).toString('latin1')).join('\n'),
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    }
  }
}
