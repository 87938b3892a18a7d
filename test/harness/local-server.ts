import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { connect, type Server } from 'node:net'

/** Listens on a port of 127.0.0.1, a free one unless one is given. Resolves with the port. */
export async function listenLocally(server: Server, wanted = 0): Promise<number> {
  await once(server.listen(wanted, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('A TCP server has a port')
  return address.port
}

/** Closes a server with all its connections, idle or not. */
export async function closeLocally(server: HttpServer): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/** Whether somebody takes connections at `host:port`. */
export async function accepts(address: string): Promise<boolean> {
  const [host = '', port = ''] = address.split(':')
  const socket = connect({ host, port: Number(port) })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
