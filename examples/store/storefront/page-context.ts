import type { Visitor } from './visitor.js'

/** What every page knows of the request that it answers. */
export interface PageContext {
  /** undefined for somebody who is not signed in. */
  readonly visitor: Visitor | undefined
  /** Path and query of the page, to mark its link and to come back to after signing in. */
  readonly path: string
  /** What prefixes the API's paths for the browser: empty, or `/api`. */
  readonly apiPath: string
}
