import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorKind } from './errors.js'
import type { SettingsReader } from './settings.js'

/** Where a process listens apart from its public port. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
}

/** What a page of the admin port answers with. */
export interface AdminPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a path of the admin port answers with; `path` is without the query. */
export type AdminRoute = (path: string) => AdminPage

export interface AdminServer {
  /** The port taken, which matters for port 0. */
  readonly port: number
  /** Ends connections too. */
  close(): Promise<void>
}

/** Bounds for whoever opens connections and sends nothing, in milliseconds and in connections. */
const TIMES = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 5000 }
const MAX_CONNECTIONS = 100

/** ADMIN_HOST and ADMIN_PORT (contract.md section 1); undefined without a port. */
export function readAdminAddress(settings: SettingsReader): AdminAddress | undefined {
  const host = settings.text('ADMIN_HOST', '127.0.0.1')
  const port = settings.parsed('ADMIN_PORT', { fallback: '', parse: parsePort })
  return port === undefined ? undefined : { host, port }
}

function parsePort(text: string): number | undefined | Error {
  if (text === '') return undefined
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? Number(text)
    : new Error('must be a whole number from 0 to 65535, or unset')
}

/** `/health/live` and `/health/ready`; `isReady` is asked at each request and answers from memory. */
export function healthPages(isReady: () => boolean): ReadonlyMap<string, AdminRoute> {
  const ready: AdminRoute = (path) => (isReady() ? ok() : problem('upstream.unavailable', path))
  return new Map([
    ['/health', ready],
    ['/health/live', ok],
    ['/health/ready', ready]
  ])
}

/** Serves GET and HEAD of the pages, by path; anything else is a problem document. Rejects where it cannot listen. */
export async function startAdminServer(
  { host, port }: AdminAddress,
  pages: ReadonlyMap<string, AdminRoute>
): Promise<AdminServer> {
  const server = createServer(TIMES, (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const page = pages.get(path)
    const { method = 'GET' } = request
    // A body is of no interest; unread, it would hold the connection.
    request.resume()
    if (page === undefined) send(response, problem('route.not-found', path))
    else if (method !== 'GET' && method !== 'HEAD') send(response, problem('method.not-allowed', path))
    else send(response, page(path))
  })
  server.maxConnections = MAX_CONNECTIONS
  // Node hands the sockets of CONNECT and of upgrades over without a listener for their errors.
  const refuse = (_request: unknown, socket: Duplex): void => {
    socket.on('error', () => {})
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, HEAD\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
  }
  server.on('connect', refuse)
  server.on('upgrade', refuse)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, resolve)
  })
  const address = server.address()
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}

function send(response: ServerResponse, { status, headers, body }: AdminPage): void {
  const length = String(Buffer.byteLength(body))
  response.writeHead(status, { 'cache-control': 'no-store', 'content-length': length, ...headers }).end(body)
}

function ok(): AdminPage {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' }
}

/**
 * The errors of this port. It has no public base URL and no pages that explain its errors, so `type` is `about:blank`
 * (RFC 9457 section 4.2.1).
 */
const PROBLEMS = {
  'route.not-found': { detail: 'There is nothing at this path.', headers: {} },
  'method.not-allowed': { detail: 'Allowed: GET, HEAD.', headers: { allow: 'GET, HEAD' } },
  'upstream.unavailable': {
    detail: 'This process is ending, or what its requests need cannot serve at the moment.',
    headers: { 'retry-after': '1' }
  }
} as const

function problem(code: keyof typeof PROBLEMS, instance: string): AdminPage {
  const { http: status, title } = errorKind(code)
  const { detail, headers } = PROBLEMS[code]
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ type: 'about:blank', status, title, detail, instance, code, requestId: randomUUID() })
  }
}
