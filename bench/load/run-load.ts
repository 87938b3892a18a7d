import { connect } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Load, LoadResult } from './load.js'
import { ResponseReader } from './response-reader.js'

/** Sends one round over keep-alive connections: a closed loop, so latencies hold no queueing in front of the server. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const { hostname, port, host } = new URL(load.origin)
  const requests = load.paths.map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`))
  const latenciesMs: number[] = []
  const totals = { bodyBytes: 0, refused: 0, next: 0 }
  const cpu = process.cpuUsage()
  const started = performance.now()
  const deadline = started + load.seconds * 1000

  const runConnection = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      const reader = new ResponseReader()
      let sent = 0
      const send = (): void => {
        const request = requests[totals.next++ % requests.length]
        if (request === undefined) throw new Error('A load without paths.')
        sent = performance.now()
        socket.write(request)
      }
      const receive = (data: Buffer): void => {
        if (!reader.push(data)) return
        const now = performance.now()
        latenciesMs.push(now - sent)
        totals.bodyBytes += reader.bodyBytes
        if (reader.status !== 200) totals.refused++
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

  await Promise.all(Array.from({ length: load.connections }, runConnection))
  const elapsedSeconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return {
    elapsedSeconds,
    latenciesMs,
    bodyBytes: totals.bodyBytes,
    refused: totals.refused,
    generatorCpuSeconds: (user + system) / 1e6
  }
}
