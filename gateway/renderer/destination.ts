import { acceptsHtml } from '../headers/accepts-html.js'
import { percentDecoded } from '../headers/percent-decoded.js'
import { pathOf } from '../headers/query-parameters.js'

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
      .map((segment) => percentDecoded(segment) ?? segment)
  )
}
