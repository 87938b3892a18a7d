import { buildGateway } from '../../../gateway/app.js'
import { readGatewayConfig } from '../../../gateway/config.js'
import { LiveCatalogue } from '../../../gateway/data/catalogue.js'
import type { KeyEncryption } from '../../../gateway/key-ring/ring-document.js'
import type { RingStore } from '../../../gateway/key-ring/ring-stores.js'
import { FakeDataClient } from '../../gateway/fake-data-client.js'
import { ManualClock } from '../../gateway/key-ring/manual-clock.js'
import { type Replica, startReplica } from '../../gateway/key-ring/replica.js'
import { FakeAuthClient } from '../../gateway/session/fake-auth-client.js'
import { type HttpAnswer, request } from '../../harness/http.js'
import { memoryLog } from '../../harness/memory-log.js'

/** A token and its cookie, as a browser keeps them. */
export interface Antiforgery {
  readonly token: string
  readonly cookie: string
}

/** A gateway before a renderer, with one replica of a key ring whose time a test moves. */
export interface ReplicaGateway {
  readonly replica: Replica
  /** What the gateway logged; the ring's own lines are the replica's. */
  readonly lines: Record<string, unknown>[]
  /** Throws unless it hands one out. */
  antiforgery(): Promise<Antiforgery>
  /** Posts a form to the renderer. */
  post(antiforgery: Antiforgery): Promise<HttpAnswer>
  /** The statuses of a page, a login and a refresh. */
  others(): Promise<readonly number[]>
  close(): Promise<void>
}

export async function startReplicaGateway(parts: {
  readonly rendererUrl: string
  readonly store: RingStore
  readonly encryption?: KeyEncryption
}): Promise<ReplicaGateway> {
  const { rendererUrl, ...ring } = parts
  const clock = new ManualClock(new Date().toISOString())
  const replica = await startReplica({ ...ring, clock })
  const { config } = readGatewayConfig({ GATEWAY_PORT: '0', MAX_EVENT_LOOP_DELAY: '0s', RENDERER_URL: rendererUrl })
  const { log, lines } = memoryLog()
  const data = new FakeDataClient()
  const auth = new FakeAuthClient(clock.now)
  const stopping = new AbortController()
  const catalogue = await LiveCatalogue.open(data, log, { signal: stopping.signal, isPublic: false })
  const app = await buildGateway({ config, data, auth, catalogue, log, keyRing: replica.ring, now: clock.now })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = app.listeningOrigin
  const json = { 'content-type': 'application/json' }
  return {
    replica,
    lines,
    async antiforgery() {
      const answer = await request(`${url}/auth/antiforgery`)
      // Its shape is what GET /auth/antiforgery's own test looks at.
      const { token } = answer.json() as { token: string }
      return { token, cookie: String(answer.header('set-cookie')).split(';')[0] ?? '' }
    },
    post: ({ token, cookie }) =>
      request(`${url}/cart`, {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
        body: `product=1&_csrf=${token}`
      }),
    async others() {
      const page = await request(`${url}/`, { headers: { accept: 'text/html' } })
      const body = JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })
      const login = await request(`${url}/auth/login`, { method: 'POST', headers: json, body })
      const cookies = login.headers.filter(([name]) => name.toLowerCase() === 'set-cookie')
      const refresh = cookies.map(([, value]) => value.split(';')[0]).find((pair) => pair?.includes('refresh')) ?? ''
      const token = await request(`${url}/auth/session/token`, { method: 'POST', headers: { cookie: refresh } })
      return [page.status, login.status, token.status]
    },
    async close() {
      stopping.abort()
      replica.upkeep.close()
      app.server.closeAllConnections()
      await app.close()
    }
  }
}
