import { once } from 'node:events'
import { createServer } from 'node:net'
import { Failure } from '../failure.mjs'

/**
 * Refuses to start on an address that another process holds, and names the setting that picks another.
 *
 * @param {{ host: string, port: number, setting: string }} address
 */
export async function checkFree({ host, port, setting }) {
  if (port === 0) return
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'EADDRINUSE') throw new Failure(`Cannot listen on ${host}:${port}: ${String(error)}. Set ${setting}.`)
    throw new Failure(`Port ${port} on ${host} is taken by another process. End that one, or set ${setting}.`)
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
}
