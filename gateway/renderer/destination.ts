import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import { acceptsHtml } from '../http/negotiation.js'
import { pathOfTarget, percentDecode, UNDECODABLE } from '../http/query-string.js'
import type { AntiforgeryCheck } from '../session/antiforgery.js'
import { withoutRefreshToken } from '../session/cookies.js'
import type { HtmlRefresh } from '../session/html-refresh.js'

/** The parts of a request that decide who answers it. */
export interface RoutedRequest {
  readonly method: string
  /** The request target in origin form (RFC 9112 section 3.2.1). */
  readonly target: string
  readonly accept: string | undefined
}

/** The paths that the gateway serves itself. */
export interface OwnPaths {
  /** The prefix of every route of the gateway: empty, or a path such as `/api`. */
  readonly prefix: string
  readonly isResource: (segment: string) => boolean
  /** Whether operations of the application are below the segment. */
  readonly isOperation: (segment: string) => boolean
  /** Whether a segment below a resource is a read and no id: `paged`, or a custom read of the resource. */
  readonly isRead: (resource: string, segment: string) => boolean
}

/**
 * The first path segments that belong to the gateway besides its resources and operations (contract.md section 8, renderer). Where it
 * serves nothing at one of them, the answer is 404.
 */
const OWN_SEGMENTS: ReadonlySet<string> = new Set([
  'auth',
  'problems',
  '.well-known',
  'health',
  'metrics',
  'admin',
  'openapi.json',
  'docs',
  'mcp'
])

/**
 * Who answers a request. The renderer answers all paths that the gateway does not serve, and browser navigations to the
 * list or a row of a resource; the gateway answers everything else. `both`: the path has an answer from each of them, and
 * `Accept` decides.
 */
export function destinationOf(
  head: RoutedRequest,
  own: OwnPaths
): { readonly renderer: boolean; readonly both: boolean } {
  // The gateway rejects it.
  if (head.target === UNDECODABLE) return { renderer: false, both: false }
  const below = belowPrefix(pathOfTarget(head.target), own.prefix)
  if (below === undefined) return { renderer: true, both: false }
  const [first = '', ...rest] = below
  if (OWN_SEGMENTS.has(first) || own.isOperation(first)) return { renderer: false, both: false }
  if (!own.isResource(first)) return { renderer: true, both: false }
  const [id, ...deeper] = rest
  const isPage = id === undefined || (id !== '' && deeper.length === 0 && !own.isRead(first, id))
  const both = isPage && (head.method === 'GET' || head.method === 'HEAD')
  return { renderer: both && head.method === 'GET' && acceptsHtml(head.accept), both }
}

/** The first three segments below the prefix, decoded; undefined for a path that is not below it. */
function belowPrefix(path: string, prefix: string): string[] | undefined {
  if (!path.startsWith(`${prefix}/`)) return undefined
  return (
    path
      .slice(prefix.length + 1)
      // The resource, the id, and whether more follows.
      .split('/', 3)
      // A segment that cannot be decoded stays as it is, and then matches no path of the gateway.
      .map((segment) => percentDecode(segment) ?? segment)
  )
}

/**
 * The renderer's path for a request target in origin form. Throws `request.malformed` for a path that a URL parser would
 * normalise to another one, because that could be a path of the gateway.
 */
export function rendererPath(target: string, base: URL): string {
  const path = pathOfTarget(target)
  const segments = percentDecode(path)?.split('/') ?? ['.']
  if (path.includes('\\') || segments.some((segment) => segment === '.' || /^\.\.|\\/.test(segment))) {
    throw new DomainError(
      'request.malformed',
      'The path must be percent-encoded UTF-8 without backslashes, without `.` segments and without segments that begin with two dots.'
    )
  }
  return base.pathname.replace(/\/$/, '') + path
}

/**
 * Splits a path into the URL up to its last segment and the last segment as a relative reference. @fastify/reply-from
 * rejects every path with `../` in it, even `/a../b`, so it gets the last segment only. Throws `route.not-found` if that has
 * `../` itself, as `a..%2Fb` does.
 */
export function splitPath(path: string, base: URL): { readonly before: string; readonly last: string } {
  const at = path.lastIndexOf('/') + 1
  const last = `./${path.slice(at)}`
  if (percentDecode(last)?.includes('../') !== false) {
    throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
  }
  return { before: base.origin + path.slice(0, at), last }
}

/** What the proxy needs of the browser session. */
export interface PageSession {
  /** Refreshes an expired session before the page is rendered, and sets the new cookies on the reply. Never rejects. */
  refresh(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** The `Cookie` header with the cookies of that refresh, and without the refresh token unless a setting says so. */
  cookiesOf(request: FastifyRequest): string | undefined
  /** Rejects with `antiforgery.invalid` for an unsafe request without its token. The body stays readable. */
  checkAntiforgery(request: FastifyRequest): Promise<void>
}

export function pageSession(
  refresh: HtmlRefresh,
  antiforgery: AntiforgeryCheck,
  { withRefreshToken }: { readonly withRefreshToken: boolean }
): PageSession {
  return {
    refresh: (request, reply) => refresh.refresh(request, reply),
    cookiesOf: (request) => {
      const cookies = refresh.cookiesOf(request)
      return withRefreshToken ? cookies : withoutRefreshToken(cookies)
    },
    checkAntiforgery: (request) => antiforgery.check(request)
  }
}
