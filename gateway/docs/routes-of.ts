import type { Resource } from '../data-calls.js'
import { operationsOf } from '../openapi/paths.js'

export interface Route {
  readonly method: string
  readonly path: string
  readonly summary: string
}

/** The routes of a resource but for its actions, as the OpenAPI document has them. */
export function routesOf(resource: Resource): Route[] {
  return operationsOf({ ...resource, actions: [] }).map(({ method, path, document }) => ({
    method: method.toUpperCase(),
    path,
    summary: document.summary
  }))
}
