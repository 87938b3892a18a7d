import type { Source } from './navigations.js'
import type { Reader } from './reader.js'

/** One of the service's two databases. */
export interface Store extends Source {
  readonly reader: Reader
}
