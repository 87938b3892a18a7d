import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Load, LoadResult } from './load.js'
import { type RequestStream, requestStreams } from './request-stream.js'
import { ResponseReader } from './response-reader.js'

/** Sends one round over keep-alive connections: a closed loop, so latencies hold no queueing in front of the server. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const servers = load.origins.map((origin) => new URL(origin))
  const serverOf = (connection: number): URL => {
    const server = servers[connection % servers.length]
    if (server === undefined) throw new Error('A load without a server.')
    return server
  }
  const streams = requestStreams(
    load.requests,
    Array.from({ length: load.connections }, (_, connection) => serverOf(connection).host)
  )
  const latenciesMs: number[] = []
  const totals = { bodyBytes: 0, writes: 0, rejected: 0, rejection: '' }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const deadline = started + load.seconds * 1000

  const runConnection = (requests: RequestStream, connection: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const server = serverOf(connection)
      const socket = connect({ host: server.hostname, port: Number(server.port), noDelay: true })
      const reader = new ResponseReader()
      let sent = 0
      const send = (): void => {
        const request = requests.next()
        sent = performance.now()
        socket.write(request)
      }
      const receive = (data: Buffer): void => {
        if (!reader.push(data)) return
        const now = performance.now()
        latenciesMs.push(now - sent)
        totals.bodyBytes += reader.bodyBytes
        if (requests.writing) totals.writes++
        if (reader.status !== requests.status) {
          totals.rejected++
          totals.rejection ||= reader.head.split('\r\n', 1).join()
        }
        requests.answered(reader.head)
        if (now < deadline) return send()
        socket.destroy()
        resolve()
      }
      socket.on('connect', send)
      socket.on('data', (data) => {
        try {
          receive(data)
        } catch (error) {
          reject(error)
          socket.destroy()
        }
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('The server closed a connection under load.')))
    })

  await Promise.all(streams.map((requests, connection) => runConnection(requests, connection)))
  const elapsedSeconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return {
    elapsedSeconds,
    latenciesMs,
    ...totals,
    generatorCpuSeconds: (user + system) / 1e6
  }
}
