import cors, { type FastifyCorsOptions } from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { isPreflight } from '../http/cross-site.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** false: scripts of other origins have no part in the route. */
    cors?: false
  }
}

/** Request headers of the contract that a script of another origin may send. Those of the CORS safelist need no mention. */
const ALLOWED_HEADERS = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'Idempotency-Key',
  'Prefer',
  'api-version',
  'X-Request-Id',
  'traceparent',
  'tracestate',
  // Of agents (Model Context Protocol, "Streamable HTTP").
  'Mcp-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name'
]

/** Seconds for which a browser keeps the answer to a preflight. Chromium keeps none for longer than two hours. */
const PREFLIGHT_MAX_AGE = 7200

/**
 * Lets scripts of the given origins call the API with a bearer token, and read every response header of the contract
 * (Fetch Standard, "CORS protocol"). Credentials are never allowed, and the routes under `/auth`, which read and set cookies, and pages of
 * the renderer have no part in it.
 */
export const crossOrigin = fp<{
  origins: readonly string[]
  exposedHeaders: readonly string[]
  /** The path under which all routes are; `''` for none. */
  prefix: string
}>(
  async (app, { origins, exposedHeaders, prefix }) => {
    const allowed = new Set(origins)
    const shared = { methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], exposedHeaders: [...exposedHeaders] }
    const refused: FastifyCorsOptions = { origin: false }
    const actual: FastifyCorsOptions = { ...shared, origin: [...origins], preflight: false }
    const preflight: FastifyCorsOptions = {
      ...shared,
      origin: [...origins],
      allowedHeaders: ALLOWED_HEADERS,
      maxAge: PREFLIGHT_MAX_AGE,
      // The route of OPTIONS answers it, with `Allow`, or 404.
      preflightContinue: true
    }
    app.addHook('onRoute', (route) => {
      const isCookies = route.url.startsWith(`${prefix}/auth/`) || route.config?.streamsBody === true
      if (isCookies) route.config = { ...route.config, cors: false }
      // The route that the package adds for preflights: all paths that are served have one of their own.
      if (route.method === 'OPTIONS' && route.url === '*') {
        route.config = { ...route.config, routeLabel: 'none' }
        route.onRequest = () => {
          throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
        }
      }
    })
    await app.register(cors, {
      delegator: ({ method, headers }: FastifyRequest, use: (error: null, options: FastifyCorsOptions) => void) => {
        if (headers.origin === undefined || !allowed.has(headers.origin)) use(null, refused)
        else use(null, isPreflight(method, headers) ? preflight : actual)
      }
    })
  },
  { name: 'cross-origin', dependencies: ['request-identity', 'problem-responses'], fastify: '5.x' }
)

/** Origins (RFC 6454 section 6.2) with commas between, as browsers send them in `Origin`. */
export function parseOrigins(text: string): readonly string[] | Error {
  const origins = text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const isOrigin = (one: string): boolean => /^https?:/.test(one) && URL.canParse(one) && new URL(one).origin === one
  return origins.every(isOrigin)
    ? [...new Set(origins)]
    : new Error(
        'must be origins as browsers send them, with commas between: https://app.example.com, without a path or a slash at the end'
      )
}
