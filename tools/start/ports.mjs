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

/**
 * A port of the host that nobody listens on at the moment.
 *
 * @param {string} host
 * @returns {Promise<number>}
 */
export async function freePort(host) {
  const server = createServer()
  server.listen({ host, port: 0, exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Failure(`No port of ${host} is free.`)
  return address.port
}
