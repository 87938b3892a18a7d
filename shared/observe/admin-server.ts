import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorKind } from '../errors.js'
import { isLoopback } from '../ip-address.js'
import type { Logger } from '../logger.js'
import type { SettingsReader } from '../settings.js'
import { OWN_ANSWERS } from '../own-answers.js'
import { orStartError } from '../start-error.js'
import { requestIdOf } from '../transport/wire.js'
import { type MetricsText, openMetrics } from './prometheus.js'
import type { MetricFamily } from './tallies.js'

/** Where a process listens for health checks and metrics, apart from its public port. */
export interface AdminAddress {
  readonly host: string
  readonly port: number
}

/** A response of the admin port. */
interface AdminResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A request of the admin port. */
interface AdminRequest {
  /** Without the query. */
  readonly path: string
  readonly requestId: string
}

type AdminRoute = (request: AdminRequest) => AdminResponse | Promise<AdminResponse>

/** The pages of an admin port by their paths. */
type AdminPages = ReadonlyMap<string, AdminRoute>

export interface AdminServer {
  /** The port that it listens on, also when port 0 was asked for. */
  readonly port: number
  /** Stops listening and closes all connections. */
  close(): Promise<void>
}

/** Milliseconds and connections: limits for clients that open connections and send nothing. */
const TIMES = { headersTimeout: 5000, requestTimeout: 10_000, keepAliveTimeout: 5000 }
const MAX_ADMIN_CONNECTIONS = 100

/** ADMIN_HOST and ADMIN_PORT (contract.md section 1); undefined without a port. */
export function readAdminAddress(settings: SettingsReader): AdminAddress | undefined {
  const host = settings.text('ADMIN_HOST', '127.0.0.1')
  const port = settings.parsed('ADMIN_PORT', { fallback: '', parse: parsePort })
  return port === undefined ? undefined : { host, port }
}

/** The same for a data service, whose port may have a name of its own: both processes may have the same environment. */
export function readDataAdminAddress(settings: SettingsReader): AdminAddress | undefined {
  const common = readAdminAddress(settings)
  const port = settings.parsed('DATA_SERVICE_ADMIN_PORT', { fallback: '', parse: parsePort }) ?? common?.port
  return port === undefined ? undefined : { host: settings.text('ADMIN_HOST', '127.0.0.1'), port }
}

function parsePort(text: string): number | undefined | Error {
  if (text === '') return undefined
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? Number(text)
    : new Error('must be a whole number from 0 to 65535, or unset')
}

interface AdminOptions {
  readonly address: AdminAddress | undefined
  /** undefined without an address: nothing is counted then. */
  readonly metrics: { readonly families: readonly MetricFamily[] } | undefined
  /** Called for each request; it must answer from memory. */
  readonly isReady: () => boolean
  /** The resources that are out of service, with the reasons. */
  readonly isolated: () => ReadonlyMap<string, string>
  readonly log: Logger
}

/**
 * Health and metrics on a port of their own; undefined without an address. Throws a StartError that names the settings if it
 * cannot listen.
 */
export async function openAdmin(options: AdminOptions): Promise<AdminServer | undefined> {
  const { address, metrics, log } = options
  if (address === undefined || metrics === undefined) return undefined
  const { host, port } = address
  const pages = new Map([...healthPages(options), ...metricsPage(await openMetrics(metrics.families))])
  const admin = await orStartError(
    startAdminServer(address, pages, log),
    (why) => `cannot listen on ADMIN_HOST and ADMIN_PORT (${host}:${port}): ${why}.`
  )
  log.info({ port: admin.port }, 'health is told on the admin port')
  return admin
}

/** `/health/live` and `/health/ready`. */
function healthPages({ isReady, isolated }: AdminOptions): AdminPages {
  const ready: AdminRoute = (request) =>
    isReady()
      ? ok({ ...healthOf(isolated()), ...(isolated().size === 0 ? {} : { reasons: Object.fromEntries(isolated()) }) })
      : problem('upstream.unavailable', request)
  return new Map([
    ['/health', ready],
    ['/health/live', () => ok({ status: 'ok' })],
    ['/health/ready', ready]
  ])
}

/** `/metrics` in the text format of Prometheus. */
function metricsPage(metrics: MetricsText): AdminPages {
  const page = async (): Promise<AdminResponse> => ({
    status: 200,
    headers: { 'content-type': metrics.contentType },
    body: await metrics.write()
  })
  return new Map([['/metrics', page]])
}

/**
 * Serves GET, HEAD and OPTIONS of the pages, by path; anything else is a problem document. Rejects if it cannot listen. Where
 * it listens on the loopback alone, requests for other hosts are rejected: a page of a browser on this machine could
 * otherwise read the metrics through a name of its own that leads here (DNS rebinding).
 */
async function startAdminServer({ host, port }: AdminAddress, pages: AdminPages, log: Logger): Promise<AdminServer> {
  const server = createServer(TIMES, (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    const requestId = requestIdOf(request.headers['x-request-id'], randomUUID)
    const asked = { path, requestId }
    const page = pages.get(path)
    const { method = 'GET' } = request
    response.setHeaders(new Map([['x-request-id', requestId], ...Object.entries(SAFETY)]))
    // The body is read and dropped: an unread one would keep the connection busy.
    request.resume()
    if (isLoopback(host) && isForAnotherHost(request)) sendResponse(response, problem('request.malformed', asked))
    else if (page === undefined) sendResponse(response, problem('route.not-found', asked))
    else if (method === 'OPTIONS') response.writeHead(204, { allow: ALLOWED, 'cache-control': 'no-store' }).end()
    else if (method !== 'GET' && method !== 'HEAD') sendResponse(response, problem('method.not-allowed', asked))
    else void answer(response, { asked, page, log })
  })
  server.maxConnections = MAX_ADMIN_CONNECTIONS
  // Node removes its own error listener from the sockets of CONNECT and of upgrades.
  const rejectMethod = (_request: unknown, socket: Duplex): void => {
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 405 Method Not Allowed\r\nAllow: ${ALLOWED}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
  }
  server.on('connect', rejectMethod)
  server.on('upgrade', rejectMethod)
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

/** Whether `Host` names something else than the loopback. A browser always sends it; a probe of HTTP/1.0 need not. */
function isForAnotherHost({ headers: { host } }: IncomingMessage): boolean {
  return host !== undefined && !isLoopback(host.replace(/:\d*$/, '').toLowerCase())
}

async function answer(
  response: ServerResponse,
  { asked, page, log }: { readonly asked: AdminRequest; readonly page: AdminRoute; readonly log: Logger }
): Promise<void> {
  try {
    sendResponse(response, await page(asked))
  } catch (error) {
    const failure = problem('internal', asked)
    log.error({ ...asked, err: error }, 'a page of the admin port failed')
    sendResponse(response, failure)
  }
}

function sendResponse(response: ServerResponse, { status, headers, body }: AdminResponse): void {
  const length = String(Buffer.byteLength(body))
  response.writeHead(status, { 'cache-control': 'no-store', 'content-length': length, ...headers }).end(body)
}

function ok(body: object): AdminResponse {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** What health says to everybody: names of resources, and the reasons, are for operators. */
export function healthOf(isolated: ReadonlyMap<string, string>): {
  readonly status: 'ok'
  readonly isolatedResources?: number
} {
  return isolated.size === 0 ? { status: 'ok' } : { status: 'ok', isolatedResources: isolated.size }
}

const ALLOWED = 'GET, HEAD, OPTIONS'

/** Of every answer of the port, which browsers have no business with. */
const SAFETY = {
  'x-content-type-options': 'nosniff',
  ...OWN_ANSWERS
} as const

/**
 * The errors of this port. It has no public base URL and no pages that explain its errors, and a data service does not know
 * the gateway that has them, so `type` is `about:blank` (RFC 9457 section 4.2.1). `code` tells what it is.
 */
const PROBLEMS = {
  'request.malformed': {
    detail: 'The header Host must name this machine, as localhost or 127.0.0.1 do: ADMIN_HOST is a loopback address.',
    headers: {}
  },
  'route.not-found': { detail: 'There is nothing at this path.', headers: {} },
  'method.not-allowed': { detail: `Allowed: ${ALLOWED}.`, headers: { allow: ALLOWED } },
  'upstream.unavailable': {
    detail: 'This process is ending, or what its requests need cannot serve at the moment.',
    headers: { 'retry-after': '1' }
  },
  internal: { detail: 'Something went wrong. The log of this process says more.', headers: {} }
} as const

function problem(code: keyof typeof PROBLEMS, { path: instance, requestId }: AdminRequest): AdminResponse {
  const { http: status, title } = errorKind(code)
  const { detail, headers } = PROBLEMS[code]
  return {
    status,
    headers: { 'content-type': 'application/problem+json', ...headers },
    body: JSON.stringify({ type: 'about:blank', status, title, detail, instance, code, requestId })
  }
}
