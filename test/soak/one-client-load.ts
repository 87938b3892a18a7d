import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { setTimeout as wait } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * A worker that is one client which asks for as much as it can, from one address, in a thread of its own so that it delays
 * nothing that is timed. It posts how many answers had which status, 0 for what failed.
 */
export interface OneClient {
  readonly url: string
  /** Of the authority that signed the certificate of `https:`. */
  readonly ca: string
  readonly seconds: number
  /** Connections, of HTTP/2 each with as many streams as the gateway takes. */
  readonly connections: number
  /** HTTP/1.1 without TLS, HTTP/2 with it. */
  readonly protocol: 'http/1.1' | 'h2'
  readonly reads: boolean
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const client = workerData as OneClient // one-client.test.ts gives it
const end = performance.now() + client.seconds * 1000
const statuses = new Map<number, number>()
/** Milliseconds before who was answered asks again: a flood of requests is another matter. */
const RETURN_MS = 20
const STREAMS = 100

const count = (status: number): void => void statuses.set(status, (statuses.get(status) ?? 0) + 1)
const isOver = (): boolean => performance.now() > end

/** A connection of HTTP/1.1, with one request after the other. */
async function overHttp1(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  while (!isOver()) {
    const outgoing = request(`${client.url}${client.path}`, { agent, method: client.method, headers: client.headers })
    outgoing.on('error', () => undefined).end(client.body)
    try {
      const [incoming] = (await once(outgoing, 'response', { signal: left() })) as [IncomingMessage]
      count(incoming.statusCode ?? 0)
      incoming.on('error', () => undefined)
      if (client.reads || incoming.statusCode !== 200) incoming.resume()
      if (!incoming.closed) await once(incoming, 'close', { signal: left() })
    } catch {
      count(0)
    }
    outgoing.destroy()
    await wait(RETURN_MS)
  }
  agent.destroy()
}

/** Connections of HTTP/2, one after the other, each with as many streams as it may have. */
async function overHttp2(): Promise<void> {
  while (!isOver()) {
    const session = connectHttp2(client.url, { ca: client.ca, checkServerIdentity: () => undefined })
    session.on('error', () => undefined)
    for (let n = 0; n < STREAMS; n++) {
      const stream = session.request({ ':method': client.method, ':path': client.path, ...client.headers })
      stream.on('error', () => undefined).on('response', (head) => count(Number(head[':status'])))
      stream.end(client.body)
      if (client.reads) stream.resume()
    }
    await once(session, 'close', { signal: left() }).catch(() => undefined)
    session.destroy()
    await wait(RETURN_MS)
  }
}

function left(): AbortSignal {
  return AbortSignal.timeout(Math.max(1, Math.ceil(end - performance.now())))
}

const run = client.protocol === 'h2' ? overHttp2 : overHttp1
await Promise.all(Array.from({ length: client.connections }, run))
parentPort?.postMessage(statuses)
