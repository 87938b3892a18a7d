import { element } from './element.js'

/** `placed`, `paid`, `shipped`, `delivered` or `cancelled`, as a tag. */
export function orderStatus(status: string): HTMLElement {
  return element('span', { class: 'status', 'data-status': status }, status)
}
