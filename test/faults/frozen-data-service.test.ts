import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { storeDatabase } from '../harness/store-database.js'
import { request } from '../harness/http.js'
import { adminOf, scrape } from '../harness/metrics.js'
import { startProcesses } from '../harness/stack.js'

/** Reads of one client, each with a few kilobytes: far more than HTTP/2 takes on for a reader that is away. */
const READS = 100
/** Milliseconds between two looks, each of which the gateway answers. */
const LOOK_AGAIN = 250
const QUERY = `search=${'x'.repeat(5000)}`

describe('a data service that is frozen', () => {
  it('makes the gateway not ready, and never sees what was given up before it was sent', async () => {
    const database = await storeDatabase('sqlite', 'none')
    const env = { SAMPLE_DATA: 'false', ADMIN_PORT: '0', LOG_LEVEL: 'info' }
    const stack = await startProcesses({ database, env })
    const { gateway, dataService, url } = stack
    const sockets: Socket[] = []
    try {
      const admin = await adminOf(gateway)
      const ready = async (status: number): Promise<void> => {
        for (const base of [admin, url])
          while ((await request(`${base}/health/ready`)).status !== status) await sleep(LOOK_AGAIN)
      }
      const inFlight = async (): Promise<number> => {
        const values = Array.from(await scrape(admin))
        const [, calls = NaN] =
          values.find(([name]) => name.startsWith('uniform_rest_data_service_calls_in_flight')) ?? []
        return calls
      }
      // Calls go by their unary methods until the stream is open.
      const hasStream = async (): Promise<boolean> =>
        Array.from(await scrape(admin)).some(([name, value]) => /stream/.test(name) && value === 1)
      while (!(await hasStream())) await sleep(LOOK_AGAIN)
      expect((await request(`${url}/products/paged`)).status).to.equal(200)
      await ready(200)

      process.kill(dataService.pid, 'SIGSTOP')
      let answers = 0
      for (let n = 0; n < READS; n++) {
        const socket = connect(Number(new URL(url).port), '127.0.0.1')
        socket.on('error', () => undefined)
        socket.on('data', () => (answers += 1))
        sockets.push(socket)
        await once(socket, 'connect')
        socket.write(`GET /products/paged?${QUERY} HTTP/1.1\r\nHost: x\r\n\r\n`)
      }
      // A gateway whose keepalive has found the connection dead answers instead.
      while ((await inFlight()) < READS && answers === 0) await sleep(LOOK_AGAIN)
      for (const socket of sockets) socket.destroy()
      while ((await inFlight()) > 0) await sleep(LOOK_AGAIN)
      await ready(503)

      process.kill(dataService.pid, 'SIGCONT')
      await ready(200)
      // Frames that were sent before this call's are read before it.
      expect((await request(`${url}/products/paged`)).status).to.equal(200)
      const seen = dataService.logs().filter(({ msg, rpc }) => msg === 'call' && rpc === 'Page')
      expect(seen.length).to.be.within(1, READS / 2)
    } finally {
      for (const socket of sockets) socket.destroy()
      process.kill(dataService.pid, 'SIGCONT')
      await stack.stop()
      await database.dispose()
    }
  })
})
