import type { Resource } from '../data-calls.js'
import { customReadOperations } from './custom-read-operations.js'
import type { DocumentedOperation } from './operation.js'
import { readOperations } from './read-operations.js'
import { writeOperations } from './write-operations.js'

/** The paths of a resource with the operations that it serves there. */
export function resourcePaths(resource: Resource): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operationsOf(resource)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(resource, operation) }
  }
  return paths
}

/** Every operation of a resource: the uniform reads, its own, its writes. */
export function operationsOf(resource: Resource): DocumentedOperation[] {
  return [...readOperations(resource), ...customReadOperations(resource), ...writeOperations(resource)]
}

function operationObject(resource: Resource, { method, document }: DocumentedOperation): object {
  const { id, ...rest } = document
  return {
    tags: [resource.name],
    operationId: camelCase(id),
    ...rest,
    // An empty requirement: the token may be left out.
    security: method === 'get' && resource.publicReads ? [{}, { bearer: [] }] : [{ bearer: [] }]
  }
}

/** Of words with spaces or hyphens between them. */
function camelCase(words: string): string {
  return words
    .split(/[ -]/)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}
