import type { Navigation } from '../data-calls.js'

export function isChildren({ kind }: Navigation): boolean {
  return kind === 'NAVIGATION_KIND_CHILDREN'
}
