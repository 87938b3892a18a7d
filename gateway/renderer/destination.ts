import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import { acceptsHtml } from '../http/negotiation.js'
import { pathOf, percentDecode } from '../http/query-string.js'
import type { AntiforgeryCheck } from '../session/antiforgery.js'
import type { HtmlRefresh } from '../session/html-refresh.js'

/** What a request says of itself before any of it is judged. */
export interface Asked {
  readonly method: string
  /** Request target in origin form. */
  readonly target: string
  readonly accept: string | undefined
}

/** What the gateway serves itself. */
export interface OwnPaths {
  /** The path that prefixes every route of the gateway, empty or `/api`. */
  readonly prefix: string
  readonly isResource: (segment: string) => boolean
  /** Reads of a resource below its segment that are no row: `paged`, and its own reads. */
  readonly isRead: (resource: string, segment: string) => boolean
}

/** First path segments of the gateway besides its resources (contract.md section 8, renderer). */
const OWN_SEGMENTS: ReadonlySet<string> = new Set(['auth', 'problems', '.well-known', 'health', 'openapi.json', 'docs'])

/**
 * Who answers: the renderer whatever the gateway does not serve, and navigations to a resource's list and rows; the
 * gateway everything else. `both` tells that another `Accept` would have gone to the other one.
 */
export function destinationOf(asked: Asked, own: OwnPaths): { readonly renderer: boolean; readonly both: boolean } {
  const below = belowPrefix(pathOf(asked.target), own.prefix)
  if (below === undefined) return { renderer: true, both: false }
  const [first = '', ...rest] = below
  if (OWN_SEGMENTS.has(first)) return { renderer: false, both: false }
  if (!own.isResource(first)) return { renderer: true, both: false }
  const [id, ...deeper] = rest
  const isPage = id === undefined || (id !== '' && deeper.length === 0 && !own.isRead(first, id))
  const both = isPage && (asked.method === 'GET' || asked.method === 'HEAD')
  return { renderer: both && asked.method === 'GET' && acceptsHtml(asked.accept), both }
}

/** The segments that matter below the prefix, decoded; undefined for a path that is not below it. */
function belowPrefix(path: string, prefix: string): string[] | undefined {
  if (!path.startsWith(`${prefix}/`)) return undefined
  return (
    path
      .slice(prefix.length + 1)
      // A resource, an id and whether more follows: no third segment is decoded for its own sake.
      .split('/', 3)
      // What does not decode is no segment of ours.
      .map((segment) => percentDecode(segment) ?? segment)
  )
}

/**
 * The renderer's path for a request target in origin form. What a URL parser would take for another path than the one
 * that was judged is refused with `request.malformed`: it might become one of the gateway's own.
 */
export function rendererPath(target: string, base: URL): string {
  const path = pathOf(target)
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
 * A path in two, its last segment relative to the URL of what stands before it: @fastify/reply-from refuses `../` in
 * what it is given, `/a../b` too. A last segment that holds it, `a..%2Fb`, is nobody's path.
 */
export function splitPath(path: string, base: URL): { readonly before: string; readonly last: string } {
  const at = path.lastIndexOf('/') + 1
  const last = `./${path.slice(at)}`
  if (percentDecode(last)?.includes('../') !== false) {
    throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
  }
  return { before: base.origin + path.slice(0, at), last }
}

/** What the browser session does for a page. */
export interface PageSession {
  /** Refreshes what has expired before the page is rendered, and sets the fresh cookies on the reply; never rejects. */
  refresh(request: FastifyRequest, reply: FastifyReply): Promise<void>
  /** The `Cookie` header as it is after that. */
  cookiesOf(request: FastifyRequest): string | undefined
  /** Throws `antiforgery.invalid` for an unsafe request without its token. It may read a form, and leaves its bytes. */
  checkAntiforgery(request: FastifyRequest): Promise<void>
}

export function pageSession(refresh: HtmlRefresh, antiforgery: AntiforgeryCheck): PageSession {
  return {
    refresh: (request, reply) => refresh.refresh(request, reply),
    cookiesOf: (request) => refresh.cookiesOf(request),
    checkAntiforgery: (request) => antiforgery.check(request)
  }
}
