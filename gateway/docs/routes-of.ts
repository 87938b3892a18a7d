import type { Resource } from '../data-calls.js'
import { readOperations } from '../openapi/read-operations.js'
import { writeOperations } from '../openapi/write-operations.js'

export interface Route {
  readonly method: string
  readonly path: string
  readonly summary: string
}

/** The routes of a resource but for its actions, as the OpenAPI document has them. */
export function routesOf(resource: Resource): Route[] {
  return [...readOperations(resource), ...writeOperations({ ...resource, actions: [] })].map(
    ({ method, path, document }) => ({ method: method.toUpperCase(), path, summary: document.summary })
  )
}
